//! Reloads: what changes, what does not, what is refused.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::config::Flags;

fn start(folder: &Path, text: &str) -> Control {
    let file = folder.join("config.toml");
    write(folder, text);
    let flags = Flags {
        config: Some(file),
        ..Flags::default()
    };
    Control::new(&Config::load(flags, Arc::new(|_| None)).unwrap()).unwrap()
}

fn write(folder: &Path, text: &str) {
    let file = folder.join("config.toml");
    fs::write(file, format!("folder = \"brains\"\nsocket = \"s\"\n{text}")).unwrap();
}

#[test]
fn what_can_change_changes_and_what_can_not_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let control = start(folder.path(), "");
    assert_eq!(control.reload().unwrap(), Reloaded::default());
    let uid = rustix::process::geteuid().as_raw() + 1;
    assert_eq!(control.live().access.role(uid, 0), None);
    let next = format!(
        "log.filter = \"debug\"\nlog.format = \"json\"\nlimits.connections = 7\n\
         access.socket_group = 1\naccess.users = {{ {uid} = \"read\" }}\n"
    );
    write(folder.path(), &next);
    let done = control.reload().unwrap();
    assert_eq!(
        done.changed,
        ["access.users", "limits.connections", "log.filter"]
    );
    assert_eq!(done.needs_restart, ["access.socket_group", "log.format"]);
    assert_eq!(control.live().limits.connections, 7);
    assert_eq!(control.live().access.role(uid, 0), Some(Role::Read));
    // It still does not have what needs a restart, and says so again.
    let again = control.reload().unwrap();
    assert_eq!(again.changed, Vec::<String>::new());
    assert_eq!(again.needs_restart, done.needs_restart);
}

#[test]
fn a_broken_configuration_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let control = start(folder.path(), "limits.connections = 7\n");
    for text in [
        "limits.connections = 9\nlimits.conections = 9\n",
        "limits.connections = 9\nlimits.deadline_secs = 0\n",
        "limits.connections = 9\nlog.filter = \"amemd=loud\"\n",
        "limits.connections = 9\ntcp.listen = \"0.0.0.0:1\"\n",
        "limits.connections = ",
    ] {
        write(folder.path(), text);
        let error = control.reload().unwrap_err().to_string();
        assert!(error.contains("config.toml:"), "{error}");
        assert_eq!(control.live().limits.connections, 7, "{text}");
    }
    fs::remove_file(folder.path().join("config.toml")).unwrap();
    control.reload().unwrap_err();
    write(folder.path(), "limits.connections = 8\n");
    assert_eq!(control.reload().unwrap().changed, ["limits.connections"]);
}

#[test]
fn a_new_token_is_asked_for_and_another_address_takes_nothing_along() {
    let folder = tempfile::tempdir().unwrap();
    let tcp = |address: &str, role: &str| {
        format!("[tcp]\nlisten = \"{address}\"\ntoken_file = \"token\"\nrole = \"{role}\"\n")
    };
    let control = start(folder.path(), &tcp("127.0.0.1:1", "write"));
    let token = folder.path().join("token");
    let first = fs::read_to_string(&token).unwrap();
    fs::remove_file(&token).unwrap();
    write(folder.path(), &tcp("127.0.0.1:1", "read"));
    let done = control.reload().unwrap();
    assert_eq!(done.changed, ["tcp.role", "tcp.token_file"]);
    let is = |text: &str| {
        let live = control.live();
        live.secrets
            .token
            .as_ref()
            .unwrap()
            .is(text.trim().as_bytes())
    };
    let second = fs::read_to_string(&token).unwrap();
    assert!(!is(&first) && is(&second));

    fs::remove_file(&token).unwrap();
    write(folder.path(), &tcp("127.0.0.1:2", "admin"));
    let done = control.reload().unwrap();
    assert_eq!(done.changed, Vec::<String>::new());
    assert_eq!(done.needs_restart, ["tcp.listen", "tcp.role"]);
    assert!(is(&second));
    assert_eq!(control.live().tcp_role, Role::Read);
}

#[tokio::test]
async fn every_clone_can_end_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let control = start(folder.path(), "");
    let ending = control.clone();
    let ended = tokio::spawn(async move { ending.ending().await });
    control.shutdown();
    ended.await.unwrap();
}
