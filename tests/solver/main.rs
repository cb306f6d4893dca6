//! The solvers on their own: against the reference, and in users' hands.

mod reproduction;
