//! Follow a brain file directly, or talk to amemd.

#![forbid(unsafe_code)]
