//! Gives any bytes to the target `cursors` of `tests/support/fuzz`.

#![no_main]

use amem_tests::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::plant("cursors"), |data: &[u8]| fuzz::run("cursors", data));
