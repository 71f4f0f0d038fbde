//! What the demo says: numbered steps, what is seen in each, and what was checked.

use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

use serde::Serialize;

use crate::remote::RemoteError;

/// The result of a step.
pub(crate) type Result<T, E = DemoError> = std::result::Result<T, E>;

/// Why the demo ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// Something that must hold did not.
    #[error("this does not hold: {0}")]
    Wrong(String),
    /// The operating system refused.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried.
        action: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A call to the daemon failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The file could not be read.
    #[error(transparent)]
    Core(#[from] amem_core::Error),
    /// What was seen could not be written.
    #[error("cannot write what is seen: {0}")]
    Output(std::io::Error),
    /// There is no daemon to start.
    #[error("{0}")]
    NoDaemon(String),
}

impl DemoError {
    /// A failed operation.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        |source| Self::Io { action, source }
    }
}

/// What was told, for programs.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Story {
    /// The steps, in order.
    steps: Vec<Step>,
    /// How many checks there were, all of which held.
    checks: usize,
    /// How long it took.
    seconds: f64,
}

/// A step that was told.
#[derive(Debug, Serialize)]
struct Step {
    name: String,
    line: String,
    seen: Vec<String>,
    checked: Vec<String>,
}

/// Where the steps are told.
pub(crate) struct Stage<'o> {
    out: &'o mut dyn Write,
    began: Instant,
    story: Story,
}

impl<'o> Stage<'o> {
    /// A stage before the first step.
    pub(crate) fn new(out: &'o mut dyn Write) -> Self {
        Self {
            out,
            began: Instant::now(),
            story: Story::default(),
        }
    }

    /// Begins a step: its name, and in one line what happens in it.
    pub(crate) fn step(&mut self, name: &str, line: &str) -> Result<()> {
        self.story.steps.push(Step {
            name: name.into(),
            line: line.into(),
            seen: Vec::new(),
            checked: Vec::new(),
        });
        let number = self.story.steps.len();
        self.print(format_args!("\n{number:>2}  {name:<9} {line}"))
    }

    /// Shows what is seen in the step.
    pub(crate) fn show(&mut self, line: impl Display) -> Result<()> {
        let line = line.to_string();
        self.print(format_args!("      {line}"))?;
        if let Some(step) = self.story.steps.last_mut() {
            step.seen.push(line);
        }
        Ok(())
    }

    /// Goes on if `holds`; ends the demo if not.
    pub(crate) fn check(&mut self, claim: impl Display, holds: bool) -> Result<()> {
        let claim = claim.to_string();
        if !holds {
            return Err(DemoError::Wrong(claim));
        }
        self.print(format_args!("    ✓ {claim}"))?;
        self.story.checks += 1;
        if let Some(step) = self.story.steps.last_mut() {
            step.checked.push(claim);
        }
        Ok(())
    }

    /// The last line, and all that was told.
    pub(crate) fn end(mut self) -> Result<Story> {
        self.story.seconds = self.began.elapsed().as_secs_f64();
        let (steps, checks) = (self.story.steps.len(), self.story.checks);
        let seconds = self.story.seconds;
        self.print(format_args!(
            "\n{steps} steps, {checks} checks, all true, in {seconds:.1} s. Nothing was left behind."
        ))?;
        Ok(self.story)
    }

    fn print(&mut self, line: impl Display) -> Result<()> {
        writeln!(self.out, "{line}")
            .and_then(|()| self.out.flush())
            .map_err(DemoError::Output)
    }
}
