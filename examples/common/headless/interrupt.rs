//! Ctrl-C ends a run between two steps.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is noted; a second one ends the process at once.
pub fn listen() {
    // Where a handler is installed already, or none can be, Ctrl-C does what it did before.
    let _ = ctrlc::try_set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
