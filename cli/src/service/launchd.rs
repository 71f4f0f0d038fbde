//! launchd, the service manager of macOS: the agent of a user.

use std::env;
use std::path::{Path, PathBuf};

use amem_client::paths::UserPaths;

use super::ServicePlan;
use super::file::PlannedFile;
use super::manager::{ManagerCommand, ServiceState};
use super::systemd::no_home;
use crate::failure::Failure;

const LABEL: &str = "amemd";
/// Paths in deploy/launchd/amemd.plist that are replaced.
const PROGRAM: &str = "<string>/usr/local/bin/amemd</string>";
const LOG: &str = "<string>/usr/local/var/log/amemd.log</string>";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Launchd;

impl Launchd {
    pub(crate) fn plan(self, program: &Path) -> Result<ServicePlan, Failure> {
        let home = env::var_os("HOME").map(PathBuf::from).ok_or_else(no_home)?;
        let library = home.join("Library");
        let text = include_str!("../../../deploy/launchd/amemd.plist")
            .replace(PROGRAM, &string(program)?)
            .replace(LOG, &string(&log_in(&home))?);
        let path = library.join(format!("LaunchAgents/{LABEL}.plist"));
        let agent = format!("{}/{LABEL}", domain());
        let named = path.display().to_string();
        Ok(ServicePlan {
            start: vec![ManagerCommand::new([
                "launchctl",
                "bootstrap",
                &domain(),
                &named,
            ])],
            stop: vec![ManagerCommand::new(["launchctl", "bootout", &agent])],
            files: vec![PlannedFile::ours(path, &text, ("<!-- ", " -->"))],
            prepare: Vec::new(),
            forget: Vec::new(),
            brains: UserPaths::of_process().folder(),
        })
    }

    pub(crate) fn restart(self) -> ManagerCommand {
        let agent = format!("{}/{LABEL}", domain());
        ManagerCommand::new(["launchctl", "kickstart", "-k", &agent])
    }

    /// An unknown agent is not loaded.
    pub(crate) fn condition(self) -> ServiceState {
        let agent = format!("{}/{LABEL}", domain());
        match ManagerCommand::new(["launchctl", "print", &agent]).run() {
            Ok(said) => read(&said),
            Err(_) => ServiceState::default(),
        }
    }
}

/// The launchd domain of this user's agents.
/// The log of the agent below a home folder; the daemon sees only its standard error.
pub(crate) fn log_in(home: &Path) -> PathBuf {
    home.join("Library/Logs/amemd.log")
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// A path as an XML string.
fn string(path: &Path) -> Result<String, Failure> {
    let wrong = || {
        Failure::argument(
            format!("{} cannot be written in a property list", path.display()),
            "install amemd and amemctl in a folder whose path is plain text",
        )
    };
    let text = path.to_str().ok_or_else(wrong)?;
    if text.chars().any(char::is_control) {
        return Err(wrong());
    }
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    Ok(format!("<string>{escaped}</string>"))
}

/// Parses the output of `launchctl print`.
fn read(said: &str) -> ServiceState {
    let of = |name: &str| {
        let mut lines = said
            .lines()
            .filter_map(|line| line.trim().split_once(" = "));
        let found = lines.find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned())
    };
    let state = of("state").unwrap_or_default();
    ServiceState {
        loaded: true,
        state: match state.as_str() {
            "running" => "active".into(),
            _ => "inactive".into(),
        },
        detail: state,
        enabled: "enabled".into(),
        pid: of("pid").and_then(|pid| pid.parse().ok()),
        program: of("program"),
        ..ServiceState::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_names_the_program_as_xml_reads_it() {
        let plan = Launchd.plan(Path::new("/a & b/<amemd>")).unwrap();
        let text = &plan.files[0].text;
        assert!(
            text.contains("<string>/a &amp; b/&lt;amemd&gt;</string>"),
            "{text}"
        );
        assert!(!text.contains(PROGRAM) && !text.contains(LOG), "{text}");
        assert!(Launchd.plan(Path::new("/a\nb")).is_err());
    }

    #[test]
    fn what_the_manager_says_is_read() {
        let said =
            "gui/501/amemd = {\n\tstate = running\n\n\tprogram = /opt/amemd\n\tpid = 77\n}\n";
        let found = read(said);
        assert_eq!((found.state.as_str(), found.pid), ("active", Some(77)));
        assert_eq!(found.program.as_deref(), Some("/opt/amemd"));
        assert_eq!(read("x = {\n\tstate = not running\n}").state, "inactive");
    }
}
