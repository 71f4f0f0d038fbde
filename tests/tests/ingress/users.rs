//! Roles for some brains by the Unix socket: two users of the machine, and what each sees.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use amem_client::v1;
use amem_tests::machine::skipped;
use amem_tests::programs::amemctl;
use serde_json::Value;

use crate::process::{Daemon, Setup};

const ANN: u32 = 65_531;
const BOB: u32 = 65_532;
const SOCKET_GROUP: u32 = 65_533;
const READERS: u32 = 65_534;

/// What amemctl prints for a user: the data of its answer, or the code of its failure.
fn tells(daemon: &Daemon, (uid, gid): (u32, u32), line: &str) -> Result<Value, String> {
    let mut command = amemctl();
    command
        .args(["--json", "--no-autostart", "--socket"])
        .arg(daemon.place.socket());
    command
        .args(line.split(' '))
        .current_dir("/")
        .uid(uid)
        .gid(gid);
    let output = command.output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|why| panic!("{line}: {why}: {output:?}"));
    match told["error"]["code"].as_str() {
        Some(code) => Err(code.to_owned()),
        None => Ok(told["data"].clone()),
    }
}

fn names(listed: &Value) -> Vec<&str> {
    let brains = listed["brains"].as_array().unwrap();
    brains
        .iter()
        .map(|row| row["brain"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn users_see_only_the_brains_for_which_they_have_a_role() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        skipped("only root can be other users");
        return;
    }
    // It may have to be built: no connection waits so long.
    drop(amemctl());
    let access = format!(
        "[access]\nsocket_group = {SOCKET_GROUP}\nreaders = {{ \"*\" = \"{READERS}\" }}\n\
         [access.brains.ann]\nusers = {{ {ANN} = \"admin\" }}\n\
         [access.brains.both]\nusers = {{ {ANN} = \"write\" }}\ngroups = {{ {SOCKET_GROUP} = \"read\" }}\n"
    );
    let bobs = format!("[access.brains.bob]\nusers = {{ {BOB} = \"write\" }}\n");
    let place = Setup::new(&format!("{access}{bobs}"));
    let sockets = place.socket();
    let daemon = place.start();
    fs::set_permissions(sockets.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let client = daemon.client().await;
    for brain in ["ann", "bob", "both"] {
        let request = v1::CreateBrainRequest {
            brain: brain.into(),
            ..Default::default()
        };
        client.brains().create_brain(request).await.unwrap();
    }
    let (ann, bob) = ((ANN, SOCKET_GROUP), (BOB, SOCKET_GROUP));
    assert_eq!(
        names(&tells(&daemon, ann, "brain ls").unwrap()),
        ["ann", "both"]
    );
    assert_eq!(
        names(&tells(&daemon, bob, "brain ls").unwrap()),
        ["bob", "both"]
    );
    assert_eq!(
        tells(&daemon, ann, "status").unwrap()["status"]["brainCount"],
        "2"
    );
    for (who, line, code) in [
        (ann, "add ann hello", None),
        (ann, "add both hello", None),
        (ann, "add bob hello", Some("unknown_brain")),
        (ann, "query bob", Some("unknown_brain")),
        (ann, "brain rm bob --yes", Some("unknown_brain")),
        (ann, "brain create new", Some("permission_denied")),
        (ann, "brain create bob", Some("permission_denied")),
        (ann, "reload", Some("permission_denied")),
        (bob, "query both", None),
        (bob, "add both hello", Some("permission_denied")),
        (bob, "add bob hello", None),
        (bob, "query ann", Some("unknown_brain")),
        (bob, "merge ann bob", Some("unknown_brain")),
        (bob, "merge bob ann", Some("unknown_brain")),
        (bob, "merge both bob", Some("permission_denied")),
        (bob, "merge bob both", None),
    ] {
        let told = tells(&daemon, who, line).map(drop);
        assert_eq!(told.err().as_deref(), code, "{who:?} {line}");
    }
    // A reload gives and takes.
    let turned = format!("{access}[access.brains.bob]\nusers = {{ {ANN} = \"read\" }}\n");
    daemon.place.configure(&turned);
    client.admin().reload(v1::ReloadRequest {}).await.unwrap();
    assert_eq!(
        names(&tells(&daemon, ann, "brain ls").unwrap()),
        ["ann", "bob", "both"]
    );
    assert_eq!(names(&tells(&daemon, bob, "brain ls").unwrap()), ["both"]);
    assert_eq!(
        tells(&daemon, bob, "query bob").unwrap_err(),
        "unknown_brain"
    );
    // A user without any role is refused, whatever files its group may read.
    daemon
        .place
        .configure(&access.replace(&format!("groups = {{ {SOCKET_GROUP} = \"read\" }}\n"), ""));
    client.admin().reload(v1::ReloadRequest {}).await.unwrap();
    assert_eq!(
        names(&tells(&daemon, ann, "brain ls").unwrap()),
        ["ann", "both"]
    );
    assert!(tells(&daemon, bob, "brain ls").is_err());
}
