//! The plugin in apps without a window.

mod clock;
mod lifecycle;
mod support;
mod world;
