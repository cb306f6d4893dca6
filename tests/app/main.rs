//! The plugin in apps without a window, and the programs as their users meet them.

mod boundary_mesh;
mod clock;
mod cloth;
mod headless;
#[cfg(feature = "inspector")]
mod inspector;
mod lifecycle;
mod readme;
mod scenes;
mod smoke;
mod sources_and_fans;
mod support;
mod world;
