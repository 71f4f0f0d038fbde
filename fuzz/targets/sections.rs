//! Gives any bytes to the target `sections` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("sections"), |data: &[u8]| fuzz::run("sections", data));
