//! The `amem.v1` interface.
