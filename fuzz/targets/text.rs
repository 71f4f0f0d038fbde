//! Gives any bytes to the target `text` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("text"), |data: &[u8]| fuzz::run("text", data));
