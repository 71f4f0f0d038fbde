//! The clients: the rows of agents.toml, and what is looked up in them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::client_path::ClientPath;
use crate::locations::Locations;
use crate::moment::HookMoment;

include!(concat!(env!("OUT_DIR"), "/clients.rs"));

/// The name of the entry.
pub(crate) const ENTRY: &str = "amem";

/// Variables of this beginning move the folders of every program.
const SHARED_VARIABLES: &str = "XDG_";

/// What agents.toml says of a client.
pub(crate) struct ClientRow {
    name: &'static str,
    title: &'static str,
    programs: &'static [&'static str],
    /// Started from a shell, and passes PATH on.
    pub(crate) has_path: bool,
    folder: ClientPath,
    pub(crate) server: ServerRow,
    pub(crate) hooks: Option<HookRow>,
    /// In the order of a session; of a moment, the one that connect writes first.
    pub(crate) events: &'static [(HookMoment, &'static str)],
    context_at: &'static [HookMoment],
    pub(crate) files: &'static [WholeFile],
    pub(crate) plugin: Option<PluginRow>,
    /// Kinds of sources, and where they are.
    memories: &'static [(&'static str, ClientPath)],
    /// Below deploy/agents.
    pub(crate) deployed: &'static [(&'static str, DeployedPart)],
    transcript: Option<&'static str>,
}

/// Where the servers of a client stand.
pub(crate) struct ServerRow {
    pub(crate) key: &'static str,
    pub(crate) user: ClientPath,
    pub(crate) project: Option<&'static str>,
    /// A file beside it, which is used where it exists.
    pub(crate) instead: Option<&'static str>,
}

/// Where its hooks stand.
pub(crate) struct HookRow {
    /// `None` if they stand in the file of the server.
    pub(crate) user: Option<ClientPath>,
    pub(crate) project: Option<&'static str>,
    pub(crate) version: Option<u32>,
    pub(crate) joins_server_file: bool,
    pub(crate) runs_project_hooks_of: Option<AgentClient>,
}

/// A file that is ours as a whole.
pub(crate) struct WholeFile {
    pub(crate) text: &'static str,
    pub(crate) user: Option<ClientPath>,
    pub(crate) project: Option<&'static str>,
}

/// How a plugin of ours shows.
pub(crate) struct PluginRow {
    /// Below the folder of the client.
    pub(crate) file: &'static str,
    pub(crate) project_files: &'static [&'static str],
    /// Of the map of plugins in it; `None` if the file itself shows it.
    pub(crate) key: Option<&'static str>,
}

/// What a file of deploy/agents has in common with connect.
pub(crate) enum DeployedPart {
    Server { name: &'static str },
    Hooks { is_named: bool },
}

/// A rule by which an input is recognised.
pub(crate) struct InputRule {
    pub(crate) client: AgentClient,
    pub(crate) has: &'static [&'static str],
    pub(crate) transcript: Option<&'static str>,
    pub(crate) has_transcript: Option<bool>,
}

impl AgentClient {
    pub(crate) fn row(self) -> &'static ClientRow {
        &ROWS[self as usize]
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Whether it has settings of a project.
    #[must_use]
    pub fn has_project(self) -> bool {
        self.row().server.project.is_some()
    }

    /// Whether it runs hooks.
    #[must_use]
    pub fn has_hooks(self) -> bool {
        !self.row().events.is_empty()
    }

    /// Whether it reads context at a moment.
    #[must_use]
    pub fn takes_context(self, moment: HookMoment) -> bool {
        self.row().context_at.contains(&moment)
    }

    /// The name of the kind of source that its transcripts are.
    #[must_use]
    pub fn transcript_kind(self) -> Option<&'static str> {
        self.row().transcript
    }

    /// Where it keeps memories and transcripts, with the names of the kinds of sources. `variable` answers the
    /// variables that move folders.
    pub fn memories(
        self,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let memories = self.row().memories.iter();
        memories.map(move |(kind, path)| (*kind, path.resolve(home, false, variable)))
    }

    /// The client that sends an input, by the names of its fields and the path of its transcript.
    #[must_use]
    pub fn of_input(has: &dyn Fn(&str) -> bool, transcript: &str) -> Option<Self> {
        let mut rules = INPUT_RULES.iter();
        let holds = |rule: &&InputRule| {
            rule.has.iter().all(|field| has(field))
                && rule.transcript.is_none_or(|part| transcript.contains(part))
                && rule
                    .has_transcript
                    .is_none_or(|is| is != transcript.is_empty())
        };
        rules.find(holds).map(|rule| rule.client)
    }

    /// Its folder of settings.
    pub(crate) fn folder(self, locations: &Locations) -> PathBuf {
        locations.resolve(&self.row().folder)
    }

    /// A folder of settings that the client does not use while a variable names another.
    pub(crate) fn unused_folder(self, locations: &Locations) -> Option<(&'static str, PathBuf)> {
        let folder = &self.row().folder;
        let variable = folder.variable?;
        if variable.starts_with(SHARED_VARIABLES) {
            return None;
        }
        locations.variable(variable)?;
        let unused = folder.resolve(locations.home_folder(), locations.is_mac(), &|_| None);
        (unused != self.folder(locations) && unused.is_dir()).then_some((variable, unused))
    }

    /// Whether the client seems to be installed: its folder, or its program.
    pub fn is_installed(self, locations: &Locations) -> bool {
        self.folder(locations).is_dir() || locations.has_program(self.row().programs)
    }
}

impl HookMoment {
    /// The moment of an event of any client.
    #[must_use]
    pub fn of_event(event: &str) -> Option<Self> {
        let clients = AgentClient::ALL.iter();
        let mut events = clients.flat_map(|client| client.row().events);
        let named = events.find(|(_, name)| *name == event);
        named.map(|(moment, _)| *moment)
    }
}

impl fmt::Display for AgentClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AgentClient {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|client| client.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown client {text:?}: use one of {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_found_by_its_name_and_no_two_have_one() {
        for client in AgentClient::ALL {
            assert_eq!(client.name().parse(), Ok(client));
            assert!(!client.title().is_empty());
            let is_complete = client.has_hooks() == client.answer("Stop", "x").is_some();
            assert!(
                is_complete,
                "{client}: events and an answer belong together"
            );
        }
        let refused = "emacs".parse::<AgentClient>().unwrap_err();
        assert!(refused.starts_with("unknown client \"emacs\": use one of claude-code, "));
    }

    #[test]
    fn an_event_names_the_same_moment_in_every_client() {
        for client in AgentClient::ALL {
            for (moment, event) in client.row().events {
                assert_eq!(HookMoment::of_event(event), Some(*moment), "{event}");
            }
        }
        assert_eq!(HookMoment::of_event("PreToolUse"), None);
    }

    #[test]
    fn a_variable_moves_the_memories_of_a_client() {
        let of = |client: AgentClient, variable: &str| {
            let set = |name: &str| (name == variable).then(|| PathBuf::from("/moved"));
            let memories = client.memories(Path::new("/h"), &set);
            memories
                .map(|(_, path)| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(of(AgentClient::Codex, "CODEX_HOME")[0], "/moved/sessions");
        assert_eq!(of(AgentClient::Gemini, "")[0], "/h/.gemini/tmp");
        assert_eq!(
            of(AgentClient::Gemini, "GEMINI_CLI_HOME")[0],
            "/moved/.gemini/tmp"
        );
        assert_eq!(
            of(AgentClient::ClaudeCode, "XDG_CONFIG_HOME")[2],
            "/moved/claude/projects"
        );
    }
}
