//! What the commands of `amemctl fact` share: the brain, whose memories, and who changes them.

use amem_client::{Timestamp, v1};
use amem_format::Micros;
use amem_format::view::AsOf;
use clap::Args;

use crate::args::scope::ScopeArgs;
use crate::output::context::CommandContext;
use crate::when::{self, parse_moment, parse_time, timestamp};

#[derive(Debug, Args)]
pub(super) struct FactBrainArgs {
    /// The brain that keeps the memories.
    #[arg(long, value_name = "NAME", default_value = "memories")]
    pub(super) brain: String,
}

#[derive(Debug, Args)]
pub(super) struct FactScopeArgs {
    #[command(flatten)]
    of: FactBrainArgs,
    #[command(flatten)]
    whose: ScopeArgs,
}

impl FactScopeArgs {
    pub(super) fn scope(&self) -> Option<v1::Scope> {
        self.whose.scope()
    }

    pub(super) fn brain(&self) -> String {
        self.of.brain.clone()
    }
}

/// Which state of the memories: what was known then, and what was so then.
#[derive(Debug, Args)]
pub(super) struct FactTimeArgs {
    /// What was known at this moment: an LSN or a time.
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment)]
    as_of: Option<AsOf>,
    /// What was so at this time, as far as it is known.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    at: Option<Micros>,
}

impl FactTimeArgs {
    pub(super) fn as_of(&self) -> Option<v1::AsOf> {
        when::as_of(self.as_of)
    }

    pub(super) fn at(&self) -> Option<Timestamp> {
        self.at.map(timestamp)
    }
}

pub(super) fn options(cx: &CommandContext) -> Option<v1::WriteOptions> {
    Some(v1::WriteOptions {
        agent: cx.reach().agent.clone(),
        ..Default::default()
    })
}
