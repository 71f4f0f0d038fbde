//! What the commands of `amemctl fact` share: the brain, whose memories, and who changes them.

use amem_client::v1;
use clap::Args;

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
    /// Whose memories: a user.
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Whose memories: an agent.
    #[arg(long, value_name = "AGENT")]
    of_agent: Option<String>,
    /// Whose memories: an app.
    #[arg(long, value_name = "APP")]
    app: Option<String>,
    /// Whose memories: a run.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
}

impl FactScopeArgs {
    pub(super) fn scope(&self) -> Option<v1::Scope> {
        let scope = v1::Scope {
            user: self.user.clone(),
            agent: self.of_agent.clone(),
            run: self.run.clone(),
            app: self.app.clone(),
        };
        (scope != v1::Scope::default()).then_some(scope)
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
