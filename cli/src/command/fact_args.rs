//! What the commands of `amemctl fact` share: the brain, whose memories, and who changes them.

use amem_client::v1;
use clap::Args;

use crate::args::scope::ScopeArgs;
use crate::output::context::CommandContext;

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

pub(super) fn options(cx: &CommandContext) -> Option<v1::WriteOptions> {
    Some(v1::WriteOptions {
        agent: cx.reach().agent.clone(),
        ..Default::default()
    })
}
