//! The crate as its users meet it.

mod headless;
