//! What `--json` prints, where commands share it.

pub(crate) mod event;
