//! Gives any bytes to the target `journal` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("journal"), |data: &[u8]| fuzz::run("journal", data));
