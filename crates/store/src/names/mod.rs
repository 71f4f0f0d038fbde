//! The files of a folder of brains, by name: ours, those that become ours, and those that stay another's.
//!
//! `ownership` has the states of a file and what leads from one to the next.

pub(crate) mod adoption;
pub(crate) mod cleanup;
pub(crate) mod create;
pub(crate) mod displaced;
pub mod folder;
pub(crate) mod in_place;
pub(crate) mod incoming;
pub(crate) mod ownership;
pub(crate) mod quarantine;
pub(crate) mod restore;
pub(crate) mod temporary;
pub(crate) mod untracked;
