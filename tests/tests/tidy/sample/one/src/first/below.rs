//! Is needed.

pub(crate) struct Twice;
