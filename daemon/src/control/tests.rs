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
    assert_eq!(control.reload().unwrap(), ReloadOutcome::default());
    let uid = rustix::process::geteuid().as_raw() + 1;
    assert_eq!(control.live().access.rights(uid, 0).most(), None);
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
    assert_eq!(
        control.live().access.rights(uid, 0).of_all(),
        Some(Role::Read)
    );
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
fn the_token_file_is_in_force_and_another_address_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let tcp = |address: &str, role: &str| {
        format!("[tcp]\nlisten = \"{address}\"\ntokens_file = \"tokens.toml\"\nrole = \"{role}\"\n")
    };
    let control = start(folder.path(), &tcp("127.0.0.1:1", "write"));
    let names = || {
        let live = control.live();
        let tokens = tokens(&live).unwrap().list().iter();
        tokens.map(|token| token.name.clone()).collect::<Vec<_>>()
    };
    assert!(names().is_empty());
    let mut changes = control.changes();
    control
        .create_token("one", &TokenRights::of(Role::Read))
        .unwrap();
    control
        .create_token("two", &TokenRights::of(Role::Write))
        .unwrap();
    assert_eq!(names(), ["one", "two"]);
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    control.revoke_token("one").unwrap();
    assert_eq!(names(), ["two"]);
    assert!(changes.has_changed().unwrap());
    // It is what the file says already.
    assert_eq!(control.reload().unwrap().changed, Vec::<String>::new());

    let file = folder.path().join("tokens.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"two\"", "\"three\"")).unwrap();
    write(folder.path(), &tcp("127.0.0.1:1", "read"));
    let done = control.reload().unwrap();
    assert_eq!(done.changed, ["tcp.role", "tcp.tokens_file"]);
    assert_eq!(names(), ["three"]);

    // What does not do changes nothing, neither by a reload nor by a token.
    fs::write(&file, "[[token]]\nname = 7\n").unwrap();
    let error = control.reload().unwrap_err().to_string();
    assert!(error.contains("tokens.toml: line"), "{error}");
    let refusal = control
        .create_token("four", &TokenRights::of(Role::Read))
        .unwrap_err();
    assert_eq!(refusal.reason, "TOKENS_FILE");
    assert_eq!(names(), ["three"]);

    fs::remove_file(&file).unwrap();
    write(folder.path(), &tcp("127.0.0.1:2", "admin"));
    let done = control.reload().unwrap();
    assert_eq!(done.changed, Vec::<String>::new());
    assert_eq!(done.needs_restart, ["tcp.listen", "tcp.role"]);
    assert_eq!(names(), ["three"]);
    assert_eq!(control.live().tcp_role, Role::Read);
}

#[test]
fn without_tcp_there_are_no_tokens_to_make() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = start(folder.path(), "")
        .create_token("a", &TokenRights::of(Role::Read))
        .unwrap_err();
    assert_eq!(
        (refusal.code, &*refusal.reason),
        (Code::FailedPrecondition, "NO_TOKENS")
    );
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
