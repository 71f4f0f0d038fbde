//! Gives any bytes to the target `questions` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("questions"), |data: &[u8]| fuzz::run("questions", data));
