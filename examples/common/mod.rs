//! What the examples share.
#![allow(dead_code, reason = "each example uses its own part of this module")]

pub mod headless;
pub mod keys;
pub mod probe;
