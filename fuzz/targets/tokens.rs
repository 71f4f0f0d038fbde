//! Gives any bytes to the target `tokens` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("tokens"), |data: &[u8]| fuzz::run("tokens", data));
