//! A folder of brains in memory that records what was done to it.
//!
//! `SimDisk` is a `Disk` that behaves as the page cache does while the machine runs, and keeps a `Log` from
//! which `crash` works out everything a power cut may leave. `Fault` makes a chosen operation fail.
//!
//! Promises: the same seed and the same calls give the same answers, inode numbers and log.

mod chance;
mod content;
mod disordered;
mod fault;
mod file;
mod forward;
mod hooked;
mod image;
mod log;
mod sim;
mod thin;

pub use chance::Chance;
pub use content::Content;
pub use disordered::{DisorderedDisk, Flaw};
pub use fault::{Among, EDQUOT, EFBIG, EIO, ENOSPC, EROFS, Effect, Fault, Kind};
pub(crate) use forward::forward;
pub use hooked::{About, HookedDisk};
pub use image::{Entry, Image, folder_of};
pub use log::{AnsweredBounds, Log, Op};
pub use sim::SimDisk;
pub use thin::{LONG, Thin};
