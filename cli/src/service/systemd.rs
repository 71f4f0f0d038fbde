//! systemd: the units of a user or of the machine.

use std::env;
use std::path::{Path, PathBuf};

use amem_client::paths::UserPaths;

use super::ServicePlan;
use super::file::PlannedFile;
use super::manager::{ManagerCommand, ServiceState};
use crate::exit::Exit;
use crate::failure::Failure;

/// The path in the units of deploy/.
const PROGRAM: &str = "ExecStart=/usr/bin/amemd";
/// systemd 253 reloads a service itself (Type=notify-reload).
const RELOADS: u32 = 253;
/// Folders hidden from the service of the machine (ProtectHome=, PrivateTmp=).
const HIDDEN: [&str; 5] = ["home", "root", "run/user", "tmp", "var/tmp"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceScope {
    User,
    System,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Systemd(pub(crate) ServiceScope);

impl Systemd {
    /// Fails if systemd does not manage these services.
    pub(crate) fn version(self) -> Result<u32, Failure> {
        let said = self
            .systemctl(["systemctl", "show", "--property=Version"])
            .run();
        let said = said.map_err(|failure| {
            let whose = match self.0 {
                ServiceScope::User => "systemd does not manage the services of this user",
                ServiceScope::System => "systemd does not manage the services of this machine",
            };
            Failure::refused(
                "no_service_manager",
                format!("{whose}: {}", failure.message),
                "start `amemd` with the service manager of this system; `amemctl service install --print` shows the units",
            )
        })?;
        Ok(version_of(&said))
    }

    pub(crate) fn plan(self, program: &Path, version: u32) -> Result<ServicePlan, Failure> {
        let units = self.units()?;
        let ours = |path: PathBuf, text: &str| PlannedFile::ours(path, text, ("# ", ""));
        let unit = |name: &str, text: &str| ours(units.join(name), text);
        let (service, socket) = match self.0 {
            ServiceScope::User => (
                include_str!("../../../deploy/systemd/user/amemd.service"),
                include_str!("../../../deploy/systemd/user/amemd.socket"),
            ),
            ServiceScope::System => (
                include_str!("../../../deploy/systemd/amemd.service"),
                include_str!("../../../deploy/systemd/amemd.socket"),
            ),
        };
        let mut files = vec![
            unit("amemd.service", &with_program(service, program)?),
            unit("amemd.socket", socket),
        ];
        if version < RELOADS {
            files.push(unit(
                "amemd.service.d/before-253.conf",
                include_str!("../../../deploy/systemd/drop-ins/before-253.conf"),
            ));
        }
        let mut prepare = Vec::new();
        if self.0 == ServiceScope::System {
            let (users, folders) = ("/etc/sysusers.d/amemd.conf", "/etc/tmpfiles.d/amemd.conf");
            files.push(ours(
                users.into(),
                include_str!("../../../deploy/systemd/sysusers.conf"),
            ));
            files.push(ours(
                folders.into(),
                include_str!("../../../deploy/systemd/tmpfiles.conf"),
            ));
            files.push(PlannedFile::theirs(
                "/etc/amemd/config.toml".into(),
                include_str!("../../../deploy/systemd/config.toml"),
            ));
            prepare.push(ManagerCommand::new(["systemd-sysusers", users]));
            prepare.push(ManagerCommand::new([
                "systemd-tmpfiles",
                "--create",
                folders,
            ]));
        }
        let reload = self.systemctl(["systemctl", "daemon-reload"]);
        prepare.push(reload.clone());
        Ok(ServicePlan {
            files,
            prepare,
            start: vec![self.systemctl(["systemctl", "enable", "--now", "amemd.service"])],
            stop: vec![self.systemctl([
                "systemctl",
                "disable",
                "--now",
                "amemd.service",
                "amemd.socket",
            ])],
            forget: vec![reload],
            brains: match self.0 {
                ServiceScope::User => UserPaths::of_process().folder(),
                ServiceScope::System => Some("/var/lib/amemd".into()),
            },
        })
    }

    pub(crate) fn restart(self) -> ManagerCommand {
        self.systemctl(["systemctl", "restart", "amemd.service"])
    }

    pub(crate) fn condition(self) -> Result<ServiceState, Failure> {
        let of = |unit: &str, names: &str| {
            let names = format!("--property={names}");
            self.systemctl(["systemctl", "show", unit, &names]).run()
        };
        let service = of(
            "amemd.service",
            "LoadState,ActiveState,SubState,UnitFileState,StatusText,MainPID,ExecStart",
        )?;
        let socket = of("amemd.socket", "ActiveState,Listen")?;
        Ok(read(&service, &socket))
    }

    /// Whether the service of the machine cannot see this path.
    pub(crate) fn hides(self, path: &Path) -> bool {
        let below = |folder: &&str| path.starts_with(Path::new("/").join(folder));
        self.0 == ServiceScope::System && HIDDEN.iter().any(below)
    }

    fn systemctl<const N: usize>(self, words: [&str; N]) -> ManagerCommand {
        let command = ManagerCommand::new(words);
        match self.0 {
            ServiceScope::User => command.with(&["--user"]),
            ServiceScope::System => command,
        }
    }

    /// The folder of the units.
    fn units(self) -> Result<PathBuf, Failure> {
        match self.0 {
            ServiceScope::System => Ok("/etc/systemd/system".into()),
            ServiceScope::User => {
                let path = |name| env::var_os(name).map(PathBuf::from);
                let absolute = |name| path(name).filter(|path| path.is_absolute());
                let config = absolute("XDG_CONFIG_HOME")
                    .or_else(|| Some(absolute("HOME")?.join(".config")))
                    .ok_or_else(no_home)?;
                Ok(config.join("systemd/user"))
            }
        }
    }
}

pub(super) fn no_home() -> Failure {
    Failure::new(
        Exit::NotFound,
        "no_home",
        "your home folder is unknown",
        "set HOME",
    )
}

/// The number in `Version=252.38-1`; 0 if there is none.
fn version_of(said: &str) -> u32 {
    let text = said.trim().strip_prefix("Version=").unwrap_or_default();
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().unwrap_or(0)
}

/// Fills in the path of the program, quoted for systemd.
fn with_program(unit: &str, program: &Path) -> Result<String, Failure> {
    let wrong = |why: &str| {
        Failure::argument(
            format!("{} {why}", program.display()),
            "install amemd and amemctl in a folder whose path is plain text",
        )
    };
    let path = program.to_str().ok_or_else(|| wrong("is not UTF-8"))?;
    if path.chars().any(char::is_control) {
        return Err(wrong("has control characters in it"));
    }
    // Within quotes systemd interprets only these; it expands no variables in the path of a program.
    let escaped = path
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let word = if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("\"{escaped}\"")
    };
    Ok(unit.replace(PROGRAM, &format!("ExecStart={word}")))
}

/// Parses the output of `systemctl show` for service and socket.
fn read(service: &str, socket: &str) -> ServiceState {
    let of = |said: &str, name: &str| -> String {
        let mut lines = said.lines().filter_map(|line| line.split_once('='));
        let found = lines.find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let program = of(service, "ExecStart");
    let program = program.split_once("path=").map(|(_, rest)| rest);
    let listen = of(socket, "Listen");
    ServiceState {
        loaded: of(service, "LoadState") == "loaded",
        state: of(service, "ActiveState"),
        detail: of(service, "SubState"),
        enabled: of(service, "UnitFileState"),
        says: of(service, "StatusText"),
        pid: of(service, "MainPID").parse().ok().filter(|pid| *pid != 0),
        program: program
            .and_then(|rest| rest.split(" ;").next())
            .map(str::to_owned),
        socket_state: of(socket, "ActiveState"),
        socket: listen
            .strip_suffix(" (Stream)")
            .filter(|path| path.starts_with('/'))
            .map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_name_the_program_once_and_as_systemd_reads_it() {
        for (path, word) in [
            ("/opt/a-b/amemd", "ExecStart=/opt/a-b/amemd"),
            ("/opt/a b/amemd", "ExecStart=\"/opt/a b/amemd\""),
            (r#"/o%n"$H\x/amemd"#, r#"ExecStart="/o%%n\"$H\\x/amemd""#),
        ] {
            for scope in [ServiceScope::User, ServiceScope::System] {
                let plan = Systemd(scope).plan(Path::new(path), 252).unwrap();
                let unit = &plan.files[0].text;
                let starts: Vec<_> = unit
                    .lines()
                    .filter(|l| l.starts_with("ExecStart"))
                    .collect();
                assert_eq!(starts.len(), 1, "{unit}");
                let rest = starts[0].strip_prefix(word);
                assert!(
                    rest.is_some_and(|rest| !rest.starts_with('/')),
                    "{starts:?}"
                );
            }
        }
        assert!(with_program("", Path::new("/a\nb")).is_err());
    }

    #[test]
    fn the_drop_in_for_reloads_is_for_old_managers_only() {
        let has = |version| {
            let plan = Systemd(ServiceScope::System).plan(Path::new("/usr/bin/amemd"), version);
            let files = plan.unwrap().files;
            files
                .iter()
                .any(|file| file.path.ends_with("before-253.conf"))
        };
        assert!(has(252) && !has(253));
        let versions = [
            "Version=252.38-1~deb12u1\n",
            "Version=257",
            "Version=v9",
            "?",
        ];
        assert_eq!(versions.map(version_of), [252, 257, 0, 0]);
    }

    #[test]
    fn what_the_manager_says_is_read() {
        let service = "LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\n\
            StatusText=\nMainPID=77\nExecStart={ path=/o p/amemd ; argv[]=/o p/amemd --config x ; ignore_errors=no }\n";
        let found = read(
            service,
            "ActiveState=active\nListen=/run/amemd/amemd.sock (Stream)\n",
        );
        assert!(found.loaded);
        assert_eq!((found.state.as_str(), found.pid), ("active", Some(77)));
        assert_eq!(found.program.as_deref(), Some("/o p/amemd"));
        assert_eq!(found.socket.as_deref(), Some("/run/amemd/amemd.sock"));
        let absent = read("LoadState=not-found\nActiveState=inactive\nMainPID=0\n", "");
        assert!(!absent.loaded && absent.pid.is_none() && absent.socket.is_none());
    }

    #[test]
    fn what_a_service_of_the_machine_can_not_see_is_known() {
        let hides = |scope, path: &str| Systemd(scope).hides(Path::new(path));
        let home = concat!("/ho", "me/ann/amemd");
        assert!(hides(ServiceScope::System, home) && hides(ServiceScope::System, "/tmp/amemd"));
        assert!(!hides(ServiceScope::User, home) && !hides(ServiceScope::System, "/opt/amemd"));
    }
}
