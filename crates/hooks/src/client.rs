//! Clients that run hooks.

use amem_agents::{AgentClient, fields};
use serde_json::{Map, Value};

/// A client that runs hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HookClient(AgentClient);

impl HookClient {
    /// Its name in commands and commits.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The client of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|client| client.name() == name)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::all().map(Self::name)
    }

    /// The client, with what is known of it.
    #[must_use]
    pub fn agent(self) -> AgentClient {
        self.0
    }

    fn all() -> impl Iterator<Item = Self> {
        let all = AgentClient::ALL.into_iter();
        all.filter(|client| client.has_hooks()).map(Self)
    }

    /// The client that sends this input, for a plugin that several clients load. An input that no rule of agents.toml
    /// knows is that of the first client.
    pub(crate) fn of(input: &Map<String, Value>) -> Self {
        let usual = fields::TRANSCRIPT.first().copied().unwrap_or_default();
        let transcript = input.get(usual).and_then(Value::as_str).unwrap_or_default();
        let transcript = transcript.replace('\\', "/");
        let found = AgentClient::of_input(&|field| input.contains_key(field), &transcript);
        Self(found.unwrap_or(AgentClient::ALL[0]))
    }
}
