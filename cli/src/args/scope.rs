//! Whose memories: a user, an agent, an app, a run.

use amem_client::v1;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
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

/// Whose memories, in words.
pub(crate) fn scope_text(scope: &v1::Scope) -> String {
    let parts = [
        ("user", &scope.user),
        ("agent", &scope.agent),
        ("app", &scope.app),
        ("run", &scope.run),
    ];
    let named = parts
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
    named.collect::<Vec<_>>().join(", ")
}

impl ScopeArgs {
    /// The scope; `None` if no field is named.
    pub(crate) fn scope(&self) -> Option<v1::Scope> {
        let scope = v1::Scope {
            user: self.user.clone(),
            agent: self.of_agent.clone(),
            run: self.run.clone(),
            app: self.app.clone(),
        };
        (scope != v1::Scope::default()).then_some(scope)
    }

    /// The fields that are named, such as "user ada and app mail".
    pub(crate) fn in_words(&self) -> String {
        let fields = [
            ("user", &self.user),
            ("agent", &self.of_agent),
            ("app", &self.app),
            ("run", &self.run),
        ];
        let named = fields
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
        named.collect::<Vec<_>>().join(" and ")
    }
}
