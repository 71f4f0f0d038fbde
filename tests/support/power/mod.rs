//! Power cuts: a writer's requests and answers, a disk that has a boot of its own, and what fails the power.
//!
//! `amem-committer` writes a brain on a file system that is shut down under it (`Cutter`). Each request is noted
//! before it is begun (`Ask`) and each answer after it was given, on stdout, which is a pipe and outlives the file
//! system. The next writer begins with what was not answered, under the same ids. Not here: the file system
//! (`mounts`), and what must hold afterwards (`tests/power`).

mod ask;
mod booted;
mod cutter;

pub use ask::{Ask, What, WriterLine, told};
pub use booted::{BootDisk, Flaw};
pub use cutter::{CutMode, Cutter};
