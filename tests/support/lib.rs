//! The harness of the tests in `tests/`: a simulated disk, crash states, models, helper processes. tests/README.md maps
//! it.

#![forbid(unsafe_code)]
#![expect(
    missing_docs,
    reason = "no facade: a comment stands where the signature leaves something unsaid"
)]

pub mod agents;
pub mod board;
pub mod crash;
pub mod daemon;
pub mod damaged;
pub mod disk;
pub mod fuzz;
pub mod graphs;
pub mod house;
pub mod ledger;
pub mod machine;
pub mod model;
pub mod mounts;
pub mod power;
pub mod process;
pub mod programs;
pub mod random;
pub mod scenarios;
pub mod shared;
pub mod staleness;
