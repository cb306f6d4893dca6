//! Smoke on its grid.

mod reproduction;
mod support;
