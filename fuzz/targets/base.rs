//! Gives any bytes to the target `base` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("base"), |data: &[u8]| fuzz::run("base", data));
