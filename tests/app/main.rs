//! The plugin in apps without a window, and the programs as their users meet them.

mod clock;
mod headless;
mod lifecycle;
mod support;
mod world;
