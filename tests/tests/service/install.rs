//! `amemctl service`, with a systemctl that writes down its arguments and answers what it is given.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use amem_tests::programs::{amemctl, amemd};
use serde_json::Value;

use crate::process::{Daemon, Setup};
use crate::tools::{has, said};

/// A user's home, and a machine with a service manager.
struct Machine {
    home: tempfile::TempDir,
}

/// Writes down its arguments; shows what the files `version`, `service` and `socket` say; fails as long as there is a
/// file `broken`.
const SYSTEMCTL: &str = r#"#!/bin/sh
here=$(dirname "$0")
if [ -e "$here/broken" ]; then cat "$here/broken" >&2; exit 1; fi
case "$*" in
*--property=Version*) cat "$here/version" ;;
*show*amemd.service*) cat "$here/service" ;;
*show*amemd.socket*) cat "$here/socket" ;;
*) echo "$*" >>"$here/told" ;;
esac
"#;

impl Machine {
    fn new(version: u32) -> Self {
        let machine = Self {
            home: tempfile::Builder::new().prefix("amem").tempdir().unwrap(),
        };
        fs::create_dir(machine.path("bin")).unwrap();
        machine.program("systemctl", SYSTEMCTL);
        machine.put("bin/version", &format!("Version={version}.1-1\n"));
        machine.put(
            "bin/service",
            "LoadState=not-found\nActiveState=inactive\nMainPID=0\n",
        );
        machine.put("bin/socket", "ActiveState=inactive\nListen=\n");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn program(&self, name: &str, text: &str) {
        let name = format!("bin/{name}");
        self.put(&name, text);
        fs::set_permissions(self.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn unit(&self, name: &str) -> PathBuf {
        self.path(".config/systemd/user").join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = amemctl();
        command.env("HOME", self.home.path());
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        // Whatever daemon this machine has, it is none of ours.
        command.env("AMEMD_SOCKET", self.path("none"));
        command.args(line.split(' '));
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// What it prints when all goes well.
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
        said(&output)
    }

    /// The envelope.
    fn json(&self, line: &str, exit: i32) -> Value {
        let output = self.run(&format!("{line} --json"));
        assert_eq!(
            output.status.code(),
            Some(exit),
            "{line}: {}",
            said(&output)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The service manager's calls since the last time.
    fn told(&self) -> Vec<String> {
        let told = fs::read_to_string(self.path("bin/told")).unwrap_or_default();
        drop(fs::remove_file(self.path("bin/told")));
        told.lines().map(str::to_owned).collect()
    }
}

#[test]
fn install_writes_what_it_prints_and_nothing_the_second_time() {
    let machine = Machine::new(257);
    let shown = machine.json("service install --print", 0);
    assert!(!machine.path(".config").exists() && machine.told().is_empty());
    let files = shown["data"]["files"].as_array().unwrap().clone();
    assert_eq!(files.len(), 2);
    let first = machine.ok("service install");
    assert_eq!(
        machine.told(),
        ["--user daemon-reload", "--user enable --now amemd.service"]
    );
    for file in &files {
        let path = file["path"].as_str().unwrap();
        assert_eq!(
            fs::read_to_string(path).unwrap(),
            file["text"].as_str().unwrap()
        );
        assert!(first.contains(&format!("written: {path}")), "{first}");
    }
    let unit = fs::read_to_string(machine.unit("amemd.service")).unwrap();
    let start = format!("ExecStart={}", amemd().display());
    assert!(unit.lines().any(|line| line == start), "{start}: {unit}");

    let written = |name: &str| {
        fs::metadata(machine.unit(name))
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = written("amemd.service");
    let second = machine.ok("service install");
    assert!(
        second.contains("unchanged: ") && !second.contains("written"),
        "{second}"
    );
    assert_eq!(written("amemd.service"), before);
}

#[test]
fn an_older_systemd_gets_its_own_way_to_reload() {
    let machine = Machine::new(252);
    machine.ok("service install --no-start");
    assert_eq!(machine.told(), ["--user daemon-reload"]);
    let drop_in = machine.unit("amemd.service.d/before-253.conf");
    assert!(
        fs::read_to_string(&drop_in)
            .unwrap()
            .contains("ExecReload=")
    );
    machine.ok("service uninstall");
    assert!(!drop_in.parent().unwrap().exists());
}

#[test]
fn a_changed_file_is_replaced_only_by_force_and_the_difference_is_shown() {
    let machine = Machine::new(257);
    machine.ok("service install");
    machine.told();
    let path = machine.unit("amemd.service");
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.replace("WatchdogSec=30", "WatchdogSec=7");
    fs::write(&path, &changed).unwrap();
    fs::remove_file(machine.unit("amemd.socket")).unwrap();
    let refused = machine.json("service install", 5);
    let message = refused["error"]["message"].as_str().unwrap();
    for words in [
        "amemd.service",
        "- WatchdogSec=7",
        "+ WatchdogSec=30",
        "nothing was written",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(
        refused["error"]["remedy"]
            .as_str()
            .unwrap()
            .contains("--force")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), changed);
    assert!(!machine.unit("amemd.socket").exists() && machine.told().is_empty());

    machine.ok("service install --force");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    // One of another version is ours, and follows.
    machine.put("bin/version", "Version=257\n");
    let older = text.replace("WatchdogSec=30", "WatchdogSec=31");
    let body: String = older
        .lines()
        .filter(|l| !l.contains("wrote this file"))
        .map(|l| format!("{l}\n"))
        .collect();
    let sum = xxhash_rust::xxh3::xxh3_64(body.as_bytes());
    let by = format!("# amemctl 0.0.9 wrote this file ({sum:016x}), and replaces it.\n");
    fs::write(&path, body + &by).unwrap();
    let told = machine.ok("service install");
    assert!(told.contains("written: "), "{told}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn uninstall_removes_installed_files_and_leaves_brains_and_changed_files() {
    let machine = Machine::new(257);
    machine.ok("service install");
    machine.told();
    let brains = machine.path(".local/share/amem/brains");
    fs::create_dir_all(&brains).unwrap();
    fs::write(brains.join("work.amem"), "mine").unwrap();
    let socket = machine.unit("amemd.socket");
    let changed = fs::read_to_string(&socket).unwrap() + "# mine\n";
    fs::write(&socket, changed).unwrap();

    let shown = machine.ok("service uninstall --print");
    assert!(
        shown.contains("would remove") && machine.told().is_empty(),
        "{shown}"
    );
    let done = machine.ok("service uninstall");
    assert_eq!(
        machine.told(),
        [
            "--user disable --now amemd.service amemd.socket",
            "--user daemon-reload"
        ]
    );
    assert!(!machine.unit("amemd.service").exists());
    assert!(
        socket.exists() && done.contains("which was changed"),
        "{done}"
    );
    assert!(
        done.contains(&format!("brains stay: {}", brains.display())),
        "{done}"
    );
    assert_eq!(fs::read(brains.join("work.amem")).unwrap(), b"mine");
    machine.ok("service uninstall --force");
    assert!(!socket.exists());
    let nothing = machine.ok("service uninstall");
    assert!(
        nothing.contains("no service of amemd is installed"),
        "{nothing}"
    );
}

#[test]
fn without_systemd_install_refuses_and_names_the_alternatives() {
    let machine = Machine::new(257);
    let why = "System has not been booted with systemd as init system (PID 1). Can't operate.";
    machine.put("bin/broken", why);
    for line in ["service install", "service status"] {
        let refused = machine.json(line, 5);
        let error = &refused["error"];
        assert_eq!(error["code"], "no_service_manager", "{line}: {error}");
        assert!(
            error["message"].as_str().unwrap().contains(why),
            "{line}: {error}"
        );
        assert!(
            error["remedy"].as_str().unwrap().contains("--print"),
            "{line}: {error}"
        );
    }
    assert!(!machine.path(".config").exists());
    // What would be written can be seen all the same.
    machine.ok("service install --print");
}

#[test]
fn install_refuses_while_a_daemon_runs_outside_the_service() {
    let machine = Machine::new(257);
    let daemon = Setup::new("").start();
    let install = || {
        let mut command = machine.command("service install --json");
        command.env("AMEMD_SOCKET", daemon.place.socket());
        let output = command.output().unwrap();
        let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), envelope)
    };
    let (code, refused) = install();
    assert_eq!(
        (code, &refused["error"]["code"]),
        (Some(5), &"daemon_runs".into())
    );
    assert!(
        refused["error"]["remedy"]
            .as_str()
            .unwrap()
            .contains("amemctl shutdown")
    );
    assert!(!machine.path(".config").exists());
    // One that the service manager looks after is not.
    machine.put("bin/socket", "ActiveState=active\nListen=/s (Stream)\n");
    assert_eq!(install().0, Some(0));
}

/// What the service manager says of a daemon that runs.
fn running(machine: &Machine, daemon: &Daemon, pid: u32, program: &str) {
    let service = format!(
        "LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\nStatusText=\nMainPID={pid}\n\
         ExecStart={{ path={program} ; argv[]={program} ; ignore_errors=no ; start_time=[n/a] }}\n"
    );
    machine.put("bin/service", &service);
    let socket = daemon.place.socket().display().to_string();
    machine.put(
        "bin/socket",
        &format!("ActiveState=active\nListen={socket} (Stream)\n"),
    );
}

#[test]
fn status_shows_the_state_the_socket_and_whether_the_installed_program_runs() {
    let machine = Machine::new(257);
    let absent = machine.json("service status", 3);
    assert_eq!(absent["data"]["installed"], false);

    let daemon = Setup::new("").start();
    let pid = std::process::id();
    let amemd = amemd().display().to_string();
    running(&machine, &daemon, pid, &amemd);
    let told = machine.json("service status", 0);
    let data = &told["data"];
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(data["runningVersion"], version);
    assert_eq!(data["installedVersion"], version);
    assert_eq!(data["service"]["pid"], pid);
    assert_eq!(data["service"]["state"], "active");
    let socket = daemon.place.socket().display().to_string();
    assert_eq!(data["service"]["socket"], socket.as_str());
    let text = machine.ok("service status");
    for words in ["active (running)", &socket, &format!("{version} runs")] {
        assert!(text.contains(words), "{words}: {text}");
    }

    // What was installed since is another version.
    machine.program("newer", "#!/bin/sh\necho amemd 9.9.9\n");
    let newer = machine.path("bin/newer").display().to_string();
    running(&machine, &daemon, pid, &newer);
    let told = machine.json("service status", 1);
    let problem = told["data"]["problems"][0].as_str().unwrap();
    for words in [
        "9.9.9 is installed",
        "systemctl --user restart amemd.service",
    ] {
        assert!(problem.contains(words), "{problem}");
    }

    // One that has died is not knocked at: that would start it.
    assert!(daemon.stop().success());
    machine.put(
        "bin/service",
        &format!("LoadState=loaded\nActiveState=failed\nSubState=failed\nMainPID=0\nExecStart={{ path={amemd} ; }}\n"),
    );
    let told = machine.json("service status", 1);
    assert_eq!(told["data"]["runningVersion"], Value::Null);
    assert!(
        told["data"]["problems"][0]
            .as_str()
            .unwrap()
            .contains("failed")
    );
}

#[test]
fn a_program_hidden_from_the_system_service_is_reported() {
    let machine = Machine::new(257);
    let elsewhere = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    let program = elsewhere.path().join("amemd");
    fs::write(&program, "").unwrap();
    let mut command = machine.command("service install --system --print");
    let output = command.env("AMEMD", &program).output().unwrap();
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("cannot see") && told.contains("/etc/systemd/system/amemd.service"),
        "{told}"
    );
}

#[test]
fn the_agent_for_launchd_is_a_property_list() {
    let machine = Machine::new(257);
    let shown = machine.json("service install --print --manager launchd", 0);
    let file = &shown["data"]["files"][0];
    let path = machine.path("Library/LaunchAgents/amemd.plist");
    assert_eq!(file["path"], path.display().to_string());
    let refused = machine.json("service install --print --manager launchd --system", 2);
    assert_eq!(refused["error"]["code"], "usage");
    if !has("python3", "the property list") {
        return;
    }
    machine.put("agent.plist", file["text"].as_str().unwrap());
    let script =
        "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
    let mut python = Command::new("python3");
    python.args(["-c", script]).arg(machine.path("agent.plist"));
    let agent: Value = serde_json::from_str(&crate::tools::ran(&mut python)).unwrap();
    assert_eq!(agent["Label"], "amemd");
    assert_eq!(agent["ProgramArguments"][0], amemd().display().to_string());
    assert_eq!(agent["KeepAlive"]["SuccessfulExit"], false);
    let log = machine.path("Library/Logs/amemd.log").display().to_string();
    assert_eq!(agent["StandardErrorPath"], log);
    assert_eq!(agent["Umask"], 0o077);
    assert!(machine.text("agent.plist").contains("wrote this file ("));
}
