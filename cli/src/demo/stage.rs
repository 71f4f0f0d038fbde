//! What the demo says: numbered steps, what is seen in each, and what was checked.

use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

use crate::remote::RemoteError;

/// The result of a step.
pub(crate) type Result<T, E = DemoError> = std::result::Result<T, E>;

/// Why the demo ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// Something that must hold did not.
    #[error("this is wrong: {0}")]
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

/// Where the steps are told.
pub(crate) struct Stage<'o> {
    out: &'o mut dyn Write,
    began: Instant,
    steps: u32,
    checks: u32,
}

impl<'o> Stage<'o> {
    /// A stage before the first step.
    pub(crate) fn new(out: &'o mut dyn Write) -> Self {
        Self {
            out,
            began: Instant::now(),
            steps: 0,
            checks: 0,
        }
    }

    /// Begins a step: its name, and in one line what happens in it.
    pub(crate) fn step(&mut self, name: &str, line: impl Display) -> Result<()> {
        self.steps += 1;
        let number = self.steps;
        self.print(format_args!("\n{number:>2}  {name:<9} {line}"))
    }

    /// Shows what is seen in the step.
    pub(crate) fn show(&mut self, line: impl Display) -> Result<()> {
        self.print(format_args!("      {line}"))
    }

    /// Goes on if `holds`; ends the demo if not.
    pub(crate) fn check(&mut self, claim: impl Display, holds: bool) -> Result<()> {
        if !holds {
            return Err(DemoError::Wrong(claim.to_string()));
        }
        self.checks += 1;
        self.print(format_args!("    ✓ {claim}"))
    }

    /// The last line.
    pub(crate) fn end(&mut self) -> Result<()> {
        let (steps, checks) = (self.steps, self.checks);
        let seconds = self.began.elapsed().as_secs_f64();
        self.print(format_args!(
            "\n{steps} steps, {checks} checks, all true, in {seconds:.1} s. Nothing was left behind."
        ))
    }

    fn print(&mut self, line: impl Display) -> Result<()> {
        writeln!(self.out, "{line}")
            .and_then(|()| self.out.flush())
            .map_err(DemoError::io("write what is seen"))
    }
}
