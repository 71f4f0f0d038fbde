//! Gives any bytes to the target `replies` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("replies"), |data: &[u8]| fuzz::run("replies", data));
