//! Gives any bytes to the target `settings` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("settings"), |data: &[u8]| fuzz::run("settings", data));
