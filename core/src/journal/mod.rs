//! The journal: frames accepted since the base was made.
