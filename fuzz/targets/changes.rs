//! Gives any bytes to the target `changes` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("changes"), |data: &[u8]| fuzz::run("changes", data));
