//! Commands of the service manager, and their output.

use std::fmt;
use std::process::Stdio;

use amem_host::child::foreign_command;
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct ManagerCommand(Vec<String>);

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServiceState {
    /// The manager knows the service.
    pub(crate) loaded: bool,
    /// The manager's word: `active`, `inactive`, `failed`, …
    pub(crate) state: String,
    /// The manager's second word: `running`, `dead`.
    pub(crate) detail: String,
    /// Whether it starts by itself.
    pub(crate) enabled: String,
    /// The status text of the service.
    pub(crate) says: String,
    pub(crate) pid: Option<u32>,
    pub(crate) program: Option<String>,
    /// Empty if there is no socket unit.
    pub(crate) socket_state: String,
    pub(crate) socket: Option<String>,
}

impl ManagerCommand {
    pub(crate) fn new<const N: usize>(words: [&str; N]) -> Self {
        Self(words.map(str::to_owned).into())
    }

    /// Inserts words after the first.
    pub(crate) fn with(mut self, words: &[&str]) -> Self {
        self.0
            .splice(1..1, words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// Returns what it prints.
    pub(crate) fn run(&self) -> Result<String, Failure> {
        let (program, arguments) = self
            .0
            .split_first()
            .ok_or_else(|| self.failed("no command"))?;
        let output = foreign_command(program)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| self.failed(&e.to_string()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        match said.trim() {
            "" => Err(self.failed(&output.status.to_string())),
            said => Err(self.failed(said)),
        }
    }

    fn failed(&self, why: &str) -> Failure {
        Failure::new(
            Exit::Io,
            "service_manager",
            format!("`{self}` failed: {}", why.trim()),
            "correct what it reports, then repeat this command; completed steps are not repeated",
        )
    }
}

impl fmt::Display for ManagerCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gives_what_it_prints_or_says_why_not() {
        assert_eq!(ManagerCommand::new(["echo", "a"]).run().unwrap(), "a\n");
        let user = ManagerCommand::new(["systemctl", "enable"]).with(&["--user"]);
        assert_eq!(user.to_string(), "systemctl --user enable");
        for (command, words) in [
            (
                ManagerCommand::new(["sh", "-c", "echo odd >&2; exit 3"]),
                "odd",
            ),
            (ManagerCommand::new(["false"]), "exit status: 1"),
            (
                ManagerCommand::new(["no-such-program-here"]),
                "No such file",
            ),
        ] {
            let failure = command.run().unwrap_err();
            assert!(failure.message.contains(words), "{failure:?}");
            assert!(failure.message.contains(&command.to_string()));
        }
    }
}
