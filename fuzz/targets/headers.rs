//! Gives any bytes to the target `headers` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("headers"), |data: &[u8]| fuzz::run("headers", data));
