//! The service manager: commands that are run, and what they say.

use std::fmt;
use std::process::{self, Stdio};

use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;

/// A command of the service manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct ManagerCommand(Vec<String>);

/// How a service is.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ServiceState {
    /// True if the manager knows it.
    pub(crate) loaded: bool,
    /// `active`, `inactive`, `failed`, … in the manager's words.
    pub(crate) state: String,
    /// The manager's further words: `running`, `dead`.
    pub(crate) detail: String,
    /// Whether it is started by itself.
    pub(crate) enabled: String,
    /// What it says of itself.
    pub(crate) says: String,
    /// Its process.
    pub(crate) pid: Option<u32>,
    /// The program that it runs.
    pub(crate) program: Option<String>,
    /// The state of its socket, if the manager has that.
    pub(crate) socket_state: String,
    /// The path of that socket.
    pub(crate) socket: Option<String>,
}

impl ManagerCommand {
    /// A command and its arguments.
    pub(crate) fn new<const N: usize>(words: [&str; N]) -> Self {
        Self(words.map(str::to_owned).into())
    }

    /// The same with further words after the first one.
    pub(crate) fn with(mut self, words: &[&str]) -> Self {
        self.0
            .splice(1..1, words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// Runs it, and gives what it prints.
    pub(crate) fn run(&self) -> Result<String, Failure> {
        let (program, arguments) = self
            .0
            .split_first()
            .ok_or_else(|| self.failed("no command"))?;
        let output = process::Command::new(program)
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
            "mend what it says, and ask again: what is done already is not done twice",
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
