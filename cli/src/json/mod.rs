//! What `--json` prints beside messages, where commands share it. Keys are added over time; none is removed.

pub(crate) mod brain;
pub(crate) mod escape;
pub(crate) mod event;
pub(crate) mod loss;
