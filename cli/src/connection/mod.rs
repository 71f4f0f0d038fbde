//! The connection to amemd: which daemon, as whom; starts one if none runs.

pub(crate) mod autostart;
pub(crate) mod flags;
pub(crate) mod own_program;
pub(crate) mod refusal;
pub(crate) mod remote;
pub(crate) mod settings;
pub(crate) mod silence;
