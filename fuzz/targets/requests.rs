//! Gives any bytes to the target `requests` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("requests"), |data: &[u8]| fuzz::run("requests", data));
