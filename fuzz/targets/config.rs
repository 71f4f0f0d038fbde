//! Gives any bytes to the target `config` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("config"), |data: &[u8]| fuzz::run("config", data));
