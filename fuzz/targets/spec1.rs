//! Gives any bytes to the target `spec1` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("spec1"), |data: &[u8]| fuzz::run("spec1", data));
