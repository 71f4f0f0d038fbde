//! Power cuts: what a writer was about to do and was told, a disk that has a boot of its own, and what fails the power.
//!
//! `amem-committer` writes a brain on a file system that is shut down under it (`Cutter`). Each request is noted
//! before it is begun (`Ask`) and each answer after it was given, on stdout, which is a pipe and outlives the file
//! system. The next writer begins with what was not answered, under the same ids. Not here: the file system
//! (`mounts`), and what must hold afterwards (`tests/power`).

mod ask;
mod booted;
mod cutter;

pub use ask::{Ask, Said, What, told};
pub use booted::{Booted, Flaw};
pub use cutter::{Cutter, How};
