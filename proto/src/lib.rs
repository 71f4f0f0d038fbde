//! The `amem.v1` interface.

#![forbid(unsafe_code)]
