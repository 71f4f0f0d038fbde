//! Changes: who writes, under which conditions, and what is told of a commit.
//!
//! Promises: a change goes through amemd or not at all; one whose outcome is unknown is told with the id under which
//! it can be repeated and is done once (`refusal`).

use amem_client::{Change, v1};
use clap::Args;

use crate::brain::opened::{DaemonBrain, OpenBrain, only_amemd};
use crate::brain::target::Target;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::json::commit::CommitJson;
use crate::json::event::Time;
use crate::output::context::Context;

/// Conditions of a change.
#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct WriteArgs {
    /// The id of the request: what is repeated under it is done once.
    #[arg(long, value_name = "UUID", hide_short_help = true)]
    request_id: Option<String>,
    /// Refuse it if anything was written after this LSN.
    #[arg(long, value_name = "LSN", hide_short_help = true)]
    expected_lsn: Option<u64>,
}

/// A daemon's brain that is written.
pub(crate) struct Writable {
    /// The brain.
    pub(crate) opened: OpenBrain,
    /// Which one, at its last commit that was answered.
    pub(crate) named: BrainName,
}

impl WriteArgs {
    /// Refuses conditions that can hold for one change only, where there are more.
    pub(crate) fn check_once(&self) -> Result<(), Failure> {
        match self.request_id.is_some() || self.expected_lsn.is_some() {
            false => Ok(()),
            true => Err(Failure::argument(
                "--request-id and --expected-lsn are of one change, and these are several",
                "name one event at a time with them",
            )),
        }
    }

    /// Refuses a condition that a change before this one would break.
    pub(crate) fn check_alone(&self, before: &str) -> Result<(), Failure> {
        match self.expected_lsn {
            None => Ok(()),
            Some(lsn) => Err(Failure::argument(
                format!("--expected-lsn {lsn} can't hold: {before} is a commit of its own"),
                "open the session first with `amemctl sessions open`, and name the LSN after that",
            )),
        }
    }

    /// What is said of a change.
    pub(crate) fn options(&self, cx: &Context) -> v1::WriteOptions {
        v1::WriteOptions {
            agent: cx.reach().agent.clone(),
            request_id: self.request_id.clone().unwrap_or_default(),
            expected_lsn: self.expected_lsn,
            expected_head: None,
        }
    }
}

impl Writable {
    /// Opens a brain to be written.
    pub(crate) fn open(cx: &mut Context, target: &Target) -> Result<Self, Failure> {
        let Target::Name(name) = target else {
            return Err(only_amemd(target));
        };
        let served = DaemonBrain::open(cx.daemon()?, name)?;
        let opened = OpenBrain::Served(served);
        Ok(Self {
            named: opened.named(None),
            opened,
        })
    }

    /// Makes a change.
    pub(crate) fn write<C: Change>(
        &mut self,
        cx: &mut Context,
        change: C,
    ) -> Result<(C::Answer, CommitJson), Failure> {
        let served = self.opened.served()?;
        let answer = cx.daemon()?.wait(served.brain.write(change))?;
        let commit = C::commit(&answer).cloned().unwrap_or_default();
        let told = self.commit(&commit)?;
        Ok((answer, told))
    }

    /// What is told of a commit that was answered.
    pub(crate) fn commit(&mut self, commit: &v1::Commit) -> Result<CommitJson, Failure> {
        self.named.committed(commit);
        Ok(CommitJson {
            lsn: commit.lsn,
            time: Time::maybe(commit.time)?,
            replayed: commit.replayed,
        })
    }
}
