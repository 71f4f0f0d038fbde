//! Writing to a brain: conditions of a change, and its commit.
//!
//! Promises: changes go through amemd; a change whose outcome is unknown is reported with the id to repeat it under,
//! which makes it once (`connection::refusal`).

use amem_client::{Change, v1};
use clap::Args;

use crate::brain::opened::{BrainHandle, DaemonBrain, only_amemd};
use crate::brain::target::BrainTarget;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::CommandContext;
use crate::render::TextPage;

#[derive(Debug, Args)]
#[command(next_help_heading = "Writing")]
pub(crate) struct WriteArgs {
    /// The id of the request: repeated under the same id, a change is made once.
    #[arg(long, value_name = "UUID", hide_short_help = true)]
    request_id: Option<String>,
    /// Refuse the change if anything was committed after this LSN.
    #[arg(long, value_name = "LSN", hide_short_help = true)]
    expected_lsn: Option<u64>,
}

pub(crate) struct Writable {
    pub(crate) opened: BrainHandle,
    /// As of the last commit that was answered.
    pub(crate) named: BrainName,
}

impl WriteArgs {
    /// Refuses conditions that hold for one change only, if there are several changes.
    pub(crate) fn check_once(&self) -> Result<(), Failure> {
        if self.request_id.is_some() || self.expected_lsn.is_some() {
            Err(Failure::argument(
                "--request-id and --expected-lsn apply to one change, and these are several",
                "name one event at a time with them",
            ))
        } else {
            Ok(())
        }
    }

    /// Refuses --expected-lsn if another change precedes this one.
    pub(crate) fn check_alone(&self, before: &str) -> Result<(), Failure> {
        match self.expected_lsn {
            None => Ok(()),
            Some(lsn) => Err(Failure::argument(
                format!("--expected-lsn {lsn} cannot hold: {before} is a commit of its own"),
                "open the session first with `amemctl sessions open`, and name the LSN after that",
            )),
        }
    }

    pub(crate) fn options(&self, cx: &CommandContext) -> v1::WriteOptions {
        v1::WriteOptions {
            agent: cx.reach().agent.clone(),
            request_id: self.request_id.clone().unwrap_or_default(),
            expected_lsn: self.expected_lsn,
            expected_head: None,
        }
    }
}

impl Writable {
    pub(crate) fn open(cx: &mut CommandContext, target: &BrainTarget) -> Result<Self, Failure> {
        let BrainTarget::Name(name) = target else {
            return Err(only_amemd(target));
        };
        let served = DaemonBrain::open(cx.daemon()?, name)?;
        let opened = BrainHandle::Served(served);
        Ok(Self {
            named: opened.named(None),
            opened,
        })
    }

    pub(crate) fn write<C: Change>(
        &mut self,
        cx: &mut CommandContext,
        change: C,
    ) -> Result<C::Answer, Failure> {
        let served = self.opened.served()?;
        let answer = cx.daemon()?.wait(served.brain.write(change))?;
        if let Some(commit) = C::commit(&answer) {
            self.named.committed(commit);
        }
        Ok(answer)
    }
}

/// The commit of a change, for people.
pub(crate) fn write_commit(commit: &v1::Commit, page: &mut TextPage) {
    let before = if commit.replayed { ", as before" } else { "" };
    page.field("commit", format!("{}{before}", commit.lsn));
}
