//! Follow a brain file directly, or talk to amemd.
