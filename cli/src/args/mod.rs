//! Arguments that commands share.

pub(crate) mod event_id;
pub(crate) mod literal;
pub(crate) mod scope;
pub(crate) mod selection;
pub(crate) mod text;
