//! `amemctl demo-follow`, hidden: the other process of the demo.

use std::path::PathBuf;

use clap::Args;

use crate::demo;
use crate::exit::Exit;
use crate::failure::Failure;

/// Options.
#[derive(Debug, Args)]
pub(crate) struct DemoFollow {
    /// The brain to follow.
    file: PathBuf,
    /// The socket of its daemon.
    socket: PathBuf,
    /// Its name there.
    brain: String,
}

impl DemoFollow {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        demo::follow(&self.file, &self.socket, &self.brain)?;
        Ok(Exit::Ok)
    }
}
