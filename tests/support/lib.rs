//! What crosses crates: helpers of the tests in `tests/`.

pub mod graphs;
pub mod random;
pub mod shared;
