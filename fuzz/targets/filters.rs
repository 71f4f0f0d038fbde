//! Gives any bytes to the target `filters` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("filters"), |data: &[u8]| fuzz::run("filters", data));
