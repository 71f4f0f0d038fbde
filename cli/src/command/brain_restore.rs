//! `amemctl brain restore`: a copy in the place of a brain of amemd.
//!
//! The daemon verifies the file before it changes anything, and quarantines what stands there. A copy that `cp` writes
//! over the file of a brain in use destroys the brain instead.

use std::path::PathBuf;

use amem_format::mapping::Map;
use amem_interop::{Layout, detect};
use clap::Args;

use super::send::Transfer;
use crate::brain::source::{check_file, check_not_cut};
use crate::brain::target::BrainTarget;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::layout_name;
use crate::named_file;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cp ~/.local/share/amem/brains/work.amem work-backup.amem
  amemctl brain restore work work-backup.amem
  amemctl conflicts                           lists what stood there before

The daemon verifies the file, closes the brain, and makes the file the brain of that name, with an instance of its own.
What stood there, whole or damaged, is quarantined first, under the name that is printed; without a brain of that name
the file becomes one. Never write a copy over the file of a brain with `cp`: what the brain had is lost then.")]
pub(crate) struct RestoreArgs {
    /// The name of the brain.
    name: String,
    /// The copy: a brain of amemd, or a file of another layout that `amemctl import` reads.
    file: PathBuf,
    /// Do not embed the texts of a file without vectors.
    #[arg(long)]
    no_embed: bool,
}

impl RestoreArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        if matches!(self.name.parse(), Ok(BrainTarget::Path(_))) {
            return Err(Failure::refused(
                "brain_name",
                format!("{:?} is a path; the brain is named first", self.name),
                "write `amemctl brain restore NAME FILE`; `cp` copies a file to a path",
            ));
        }
        let transfer = Transfer {
            file: &self.file,
            format: layout_name(self.layout()?),
            brain: &self.name,
            no_embed: self.no_embed,
            replaces: true,
        };
        transfer.run(cx)
    }

    fn layout(&self) -> Result<Layout, Failure> {
        check_file(&self.file)?;
        let failed = |e: std::io::Error| Failure::io("read", &self.file, &e);
        let file = named_file::open(&self.file)?;
        let len = file.metadata().map_err(failed)?.len();
        let map = Map::shared(&file, len).map_err(failed)?;
        let bytes = map.slice(0, len).unwrap_or_default();
        let layout = detect(bytes)?;
        if layout == Layout::Reference {
            check_not_cut(bytes)?;
        }
        Ok(layout)
    }
}
