//! `amemctl import --format conversation`: turns of a conversation into a brain of a daemon.

use std::io::{Write, stderr};
use std::path::Path;
use std::time::{Duration, Instant};

use amem_client::v1;
use clap::Args;
use uuid::Uuid;

use crate::context::Context;
use crate::conversation::{Import, ImportError, Imported, Run};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::remote::Remote;
use crate::render::{Page, count, plural, printable};
use crate::source::Named;

/// How often progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(100);

/// Options of `--format conversation`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --format conversation")]
pub(crate) struct Conversation {
    /// The daemon's brain that gets the conversation; made if it is not there.
    #[arg(long, value_name = "NAME")]
    pub(crate) brain: Option<String>,
    /// Repeat an import under the id that it told, without writing anything twice.
    #[arg(long, value_name = "UUID")]
    run_id: Option<Uuid>,
}

impl Conversation {
    /// Imports a file into the brain.
    pub(crate) fn import(
        &self,
        cx: &mut Context,
        file: &Path,
        brain: &str,
    ) -> Result<Exit, Failure> {
        let run = match self.run_id {
            Some(id) => Run::repeated(id)?,
            None => Run::new(),
        };
        let agent = cx.reach().agent.clone();
        let import = Import {
            brain,
            file,
            run,
            agent: &agent,
        };
        let mut progress = Progress::new(cx);
        let remote = cx.daemon()?;
        let imported = import.run(remote, |done, all| progress.show(done, all));
        progress.end();
        let imported = imported.map_err(failure)?;
        let named = named(remote, brain)?;
        cx.answer(Some(&named), &imported, |page| write(&imported, page))?;
        Ok(Exit::Ok)
    }
}

fn failure(error: ImportError) -> Failure {
    match error {
        ImportError::File(error) => error.into(),
        ImportError::Remote(error) => error.into(),
        ImportError::Refused { .. } => {
            let message = error.to_string();
            let ImportError::Refused { run, source, .. } = error else {
                return Failure::refused("refused", message, "");
            };
            let told = Failure::from(source);
            let remedy = format!(
                "{}; then repeat with --run-id {run}, and nothing is there twice",
                told.remedy
            );
            Failure::new(told.exit, told.code, message, remedy)
        }
    }
}

/// The brain as it is now.
fn named(remote: &Remote, brain: &str) -> Result<Named, Failure> {
    let request = v1::OpenBrainRequest {
        brain: brain.into(),
    };
    let opened = remote.call(remote.client.brains().open_brain(request))?;
    Ok(Named::served(&opened))
}

fn write(imported: &Imported, page: &mut Page) {
    page.title(printable(&imported.brain));
    let made = if imported.made { "new" } else { "as before" };
    page.field("brain", made);
    page.field(
        "holds",
        format!(
            "{} more, in {}, tied by {}",
            plural(imported.events - imported.already_there, "event"),
            plural(imported.sessions, "session"),
            plural(imported.edges, "edge")
        ),
    );
    if imported.already_there > 0 {
        let there = plural(imported.already_there, "event");
        page.field("repeated", format!("{there} had been written before"));
    }
    page.field("commit", count(imported.lsn));
    page.field("run id", &imported.run);
}

/// How far it is, for who watches.
struct Progress {
    is_shown: bool,
    last: Instant,
    width: usize,
}

impl Progress {
    fn new(cx: &Context) -> Self {
        Self {
            is_shown: cx.shows_progress(),
            last: Instant::now(),
            width: 0,
        }
    }

    fn show(&mut self, done: u64, all: u64) {
        if !self.is_shown || (self.last.elapsed() < SHOW_EVERY && done < all) {
            return;
        }
        self.last = Instant::now();
        let text = format!("{} of {} turns", count(done), count(all));
        self.width = self.width.max(text.len());
        // Progress that can't be shown is no reason to stop.
        let _unseen = write!(stderr(), "\r{text}").and_then(|()| stderr().flush());
    }

    /// Takes the line away.
    fn end(&mut self) {
        if self.width > 0 {
            let _unseen = write!(stderr(), "\r{}\r", " ".repeat(self.width));
        }
    }
}
