//! The brain of a command: at the daemon or in a file; read, written, created.

pub(crate) mod convert;
pub(crate) mod every_event;
pub(crate) mod new_file;
pub(crate) mod opened;
pub(crate) mod source;
pub(crate) mod subset;
pub(crate) mod target;
pub(crate) mod upload;
pub(crate) mod writable;
