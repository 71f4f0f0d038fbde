//! Gives any bytes to the target `foreign` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("foreign"), |data: &[u8]| fuzz::run("foreign", data));
