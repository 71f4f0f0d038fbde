//! Starting: settings shown and refused, sockets that are taken or stale, messages to the service manager.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use amem_tests::machine::skipped;

use crate::process::{Daemon, Setup, ask};

#[test]
fn the_settings_are_shown_with_their_sources_and_nothing_is_started() {
    let place = Setup::new("[limits]\nconnections = 9\n");
    let mut command = place.command();
    command
        .env("AMEMD_LOG", "warn")
        .args(["--check-config", "--set", "limits.deadline_secs=7"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let shown = String::from_utf8(output.stdout).unwrap();
    let file = place.path("amemd.toml");
    for line in [
        format!("limits.connections = 9  # {}:4", file.display()),
        "limits.deadline_secs = 7  # --set".into(),
        "log.filter = warn  # AMEMD_LOG".into(),
        "limits.preface_millis = 5000  # default".into(),
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}:\n{shown}");
    }
    assert!(!place.socket().exists());
    assert!(!place.path("brains/.amemd").exists());
}

#[test]
fn an_invalid_configuration_is_refused_by_the_check_and_at_the_start() {
    for (settings, words) in [
        (
            "[limits]\nconections = 9",
            &["amemd.toml:4", "conections", "limits.connections"][..],
        ),
        (
            "[limits]\nconnections = 0",
            &["amemd.toml:4", "limits.connections"],
        ),
        (
            "[tcp]\nlisten = \"0.0.0.0:0\"",
            &["tcp.listen", "tcp.tls_certificate"],
        ),
        (
            "[tcp]\nlisten = \"10.0.0.1:0\"\ntokens_file = \"t\"",
            &["other machines"],
        ),
        ("[tcp", &["amemd.toml:3"]),
        (
            "[access]\nusers = { 7 = \"read\" }",
            &["access.socket_group"],
        ),
    ] {
        let place = Setup::new(settings);
        for arguments in [&["--check-config"][..], &[]] {
            let (code, told) = place.refused(arguments);
            assert_eq!(code, Some(1), "{told}");
            for word in words {
                assert!(told.contains(word), "{word}: {told}");
            }
        }
        assert!(!place.socket().exists());
    }
    let (code, told) = Setup::new("").refused(&["--no-such-flag"]);
    assert_eq!(code, Some(2), "{told}");
}

#[test]
fn a_second_daemon_takes_nothing_and_an_overlong_path_is_reported() {
    let first = Setup::new("").start();
    let socket = first.place.socket();
    let rows = [
        (
            first.place.path("brains"),
            socket.with_file_name("t"),
            "the folder is in use by pid ",
            75,
        ),
        (
            first.place.path("other"),
            socket.clone(),
            "another daemon listens on",
            75,
        ),
        (
            first.place.path("other"),
            socket.with_file_name("s".repeat(108)),
            "the limit is 107",
            1,
        ),
    ];
    fs::create_dir(first.place.path("other")).unwrap();
    for (folder, socket, words, code) in rows {
        let mut command = first.place.command();
        command
            .arg("--folder")
            .arg(folder)
            .arg("--socket")
            .arg(socket);
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(first.stop().success());
    assert!(!socket.exists(), "a socket goes with its daemon");
}

#[tokio::test]
async fn a_stale_socket_is_taken_over() {
    let place = Setup::new("");
    drop(UnixListener::bind(place.socket()).unwrap());
    assert!(place.socket().exists());
    let daemon = place.start();
    let client = daemon.client().await;
    ask(client.channel(), &[]).await.unwrap();
}

#[test]
fn a_folder_of_another_user_is_refused_before_anything_is_created() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        skipped("only root can give folders away, and be other users");
        return;
    }
    let (owner, place) = (65_531, Setup::new(""));
    let brains = place.path("brains");
    chown(&brains, Some(owner), Some(owner)).unwrap();
    let (code, told) = place.refused(&[]);
    assert_eq!(code, Some(1), "{told}");
    for words in [brains.to_str().unwrap(), "another user", "chown"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!brains.join(".amemd").exists() && !place.socket().exists());
    // To check, one need not be that user.
    let output = place.command().arg("--check-config").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains("warning") && told.contains("another user"),
        "{told}"
    );
}

#[test]
fn a_folder_in_memory_causes_a_warning_at_the_start() {
    let memory = "/dev/shm";
    let tmpfs = 0x0102_1994;
    let found = rustix::fs::statfs(memory).map(|found| found.f_type as u32);
    if found != Ok(tmpfs) {
        skipped("there is no file system in memory at /dev/shm");
        return;
    }
    let folder = tempfile::tempdir_in(memory).unwrap();
    let place = Setup::new("");
    let mut command = place.command();
    command.arg("--folder").arg(folder.path());
    let (_, told) = Daemon::start(place, command).end_and_tell();
    let path = folder.path().to_str().unwrap();
    let words = [
        "WARN",
        path,
        "in memory: nothing in it survives a power cut",
    ];
    let is_warning = |line: &str| words.iter().all(|words| line.contains(words));
    assert!(told.lines().any(is_warning), "{told}");
}

/// Says the first words of HTTP/2 as another user; prints how many bytes it is answered.
const STRANGER: &str = r#"
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(sys.argv[1])
try:
    s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    print(len(s.recv(9)))
except (BrokenPipeError, ConnectionResetError):
    print(0)
"#;

#[test]
fn another_user_connects_only_with_a_granted_role() {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root || Command::new("python3").arg("--version").output().is_err() {
        skipped("only root can be other users, and python3 is needed");
        return;
    }
    let (granted, stranger, group) = (65_531, 65_532, 65_533);
    let settings =
        format!("[access]\nsocket_group = {group}\nusers = {{ {granted} = \"read\" }}\n");
    let daemon = Setup::new(&settings).start();
    let socket = daemon.place.socket();
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(socket.parent().unwrap(), everybody).unwrap();
    let answered = |uid, gid| {
        let mut command = Command::new("python3");
        command.args(["-c", STRANGER]).arg(&socket);
        let output = command.uid(uid).gid(gid).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (output.status.success(), said)
    };
    assert_eq!(answered(granted, group), (true, "9".to_owned()));
    assert_eq!(answered(stranger, group), (true, "0".to_owned()));
    daemon.says("user 65532");
    let (connected, _) = answered(granted, granted);
    assert!(
        !connected,
        "the socket's mode lets the group in, and nobody else"
    );
}

/// What a manager hears next of these.
fn hears(manager: &UnixDatagram, wanted: &str) {
    let mut buffer = [0; 512];
    loop {
        let bytes = manager.recv(&mut buffer).unwrap();
        let said = String::from_utf8_lossy(&buffer[..bytes]);
        if said.lines().any(|line| line == wanted) {
            return;
        }
        assert!(said.contains("WATCHDOG=1"), "{said} instead of {wanted}");
    }
}

#[test]
fn the_service_manager_hears_of_ready_alive_reloading_and_stopping() {
    let place = Setup::new("");
    let path = place.socket().with_file_name("manager");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut command = place.command();
    command
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "100000");
    let daemon = Daemon::start(place, command);
    hears(&manager, "EXTEND_TIMEOUT_USEC=60000000");
    hears(&manager, "READY=1");
    hears(&manager, "WATCHDOG=1");
    daemon.signal("-HUP");
    hears(&manager, "RELOADING=1");
    hears(&manager, "READY=1");
    hears(&manager, "WATCHDOG=1");
    assert!(daemon.stop().success());
    hears(&manager, "STOPPING=1");
}

#[test]
fn the_log_can_be_json() {
    let place = Setup::new("[log]\nformat = \"json\"\n");
    let mut command = place.command();
    let mut child = command.spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let line = lines
        .find(|line| line.as_ref().unwrap().contains("ready"))
        .unwrap()
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["fields"]["message"], "ready");
    assert_eq!(line["fields"]["tcp"], "off");
}
