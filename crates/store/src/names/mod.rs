//! The files of a folder of brains, by name: ours, those that become ours, and those that stay somebody's.

pub mod adoption;
pub mod create;
pub mod folder;
pub mod incoming;
pub mod quarantine;
pub(crate) mod temporary;
