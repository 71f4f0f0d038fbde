//! Groups that read files of brains directly: which files they can open, and until when.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use amem_client::v1;
use amem_tests::machine::skipped;

use crate::process::{Daemon, Setup};

const GROUP: u32 = 65_531;
const USER: u32 = 65_532;
/// As whom amemd runs, if not as root: a member of the group.
const AMEMD: u32 = 65_533;

/// The mode of a brain's file and its group.
fn of(place: &Setup, brain: &str) -> (u32, u32) {
    let meta = fs::metadata(place.path(&format!("brains/{brain}.amem"))).unwrap();
    (meta.permissions().mode() & 0o7777, meta.gid())
}

/// True if another user, as a member of the group, can read a path.
fn opens(path: &Path) -> bool {
    let mut command = Command::new("/bin/cat");
    command.arg(path).uid(USER).gid(GROUP);
    command.output().unwrap().status.success()
}

async fn create(daemon: &Daemon, brain: &str) {
    let request = v1::CreateBrainRequest {
        brain: brain.into(),
        ..Default::default()
    };
    let client = daemon.client().await;
    client.brains().create_brain(request).await.unwrap();
}

/// Starts a daemon as root, or as an ordinary user whom the place belongs to then.
fn start(place: Setup, user: Option<u32>) -> Daemon {
    let Some(user) = user else {
        return place.start();
    };
    let program = place.command();
    let socket = place.socket();
    let own = ["amemd.toml", "brains"].map(|name| place.path(name));
    for path in own
        .iter()
        .map(PathBuf::as_path)
        .chain([place.folder.path(), socket.parent().unwrap()])
    {
        chown(path, Some(user), Some(user)).unwrap();
    }
    // Groups beside the first one can't be given otherwise without unsafe code.
    let mut command = Command::new("setpriv");
    for (flag, id) in [("--reuid", user), ("--regid", user), ("--groups", GROUP)] {
        command.arg(flag).arg(id.to_string());
    }
    command
        .arg("--")
        .arg(program.get_program())
        .args(program.get_args());
    command.env_clear().stderr(Stdio::piped());
    Daemon::start(place, command)
}

// A client in another thread lets go of a daemon that stops.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_reads_its_files_until_its_right_ends() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        skipped("only root can be other users");
        return;
    }
    group_reads(None).await;
    // A user other than root gives files to one of its own groups, and opens only what modes allow.
    group_reads(Some(AMEMD)).await;
}

async fn group_reads(user: Option<u32>) {
    // Root calls.
    let access = format!("[access]\nsocket_group = {GROUP}\nusers = {{ 0 = \"admin\" }}\n");
    let readers = format!("{access}readers = {{ open = \"{GROUP}\" }}\n");
    let place = Setup::new(&readers);
    let brains = place.path("brains");
    // Others pass through, and can't list.
    for folder in [place.folder.path(), &brains] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711)).unwrap();
    }
    let daemon = start(place, user);
    for brain in ["open", "shut"] {
        create(&daemon, brain).await;
    }
    let file = |brain: &str| brains.join(format!("{brain}.amem"));
    let check = |brain: &str, readable: bool| {
        let (mode, group) = of(&daemon.place, brain);
        assert_eq!(
            (mode, group == GROUP && readable),
            (if readable { 0o440 } else { 0o400 }, readable),
            "{brain}"
        );
        assert_eq!(opens(&file(brain)), readable, "{brain}");
    };
    check("open", true);
    check("shut", false);
    assert!(!opens(&brains.join(".amemd/id")));
    // The next generation is another file.
    let client = daemon.client().await;
    for brain in ["open", "shut"] {
        let before = fs::metadata(file(brain)).unwrap().ino();
        let request = v1::CheckpointBrainRequest {
            brain: brain.into(),
        };
        client.brains().checkpoint_brain(request).await.unwrap();
        assert_ne!(fs::metadata(file(brain)).unwrap().ino(), before);
    }
    check("open", true);
    check("shut", false);

    // Turned around while the daemon runs.
    let turned = readers.replace("open", "shut");
    daemon.place.configure(&turned);
    client.admin().reload(v1::ReloadRequest {}).await.unwrap();
    check("open", false);
    check("shut", true);

    // None, after a restart: the brains were closed when the settings changed.
    let place = daemon.end();
    place.configure(&access);
    let daemon = start(place, user);
    for brain in ["open", "shut"] {
        let (mode, _) = of(&daemon.place, brain);
        assert_eq!((mode, opens(&file(brain))), (0o400, false), "{brain}");
    }
    // And brains that are closed while it runs.
    daemon.place.configure(&readers);
    let client = daemon.client().await;
    client.admin().reload(v1::ReloadRequest {}).await.unwrap();
    assert_eq!(of(&daemon.place, "open"), (0o440, GROUP));
    assert_eq!(of(&daemon.place, "shut").0, 0o400);
}

#[tokio::test]
async fn a_group_that_cannot_reach_the_files_is_reported() {
    let group = fs::metadata("/proc/self").unwrap().gid();
    let place = Setup::new(&format!("[access]\nreaders = {{ \"*\" = \"{group}\" }}\n"));
    let brains = place.path("brains");
    fs::set_permissions(&brains, fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = place.command();
    let output = command.arg("--check-config").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    let remedy = format!("chmod o+x {}", brains.display());
    assert!(told.contains(&remedy), "{told}");
    // An invalid name is reported with the setting.
    for (readers, words) in [
        ("{ work = \"no such group\" }", "no such group"),
        ("{ \"a/b\" = \"0\" }", "letters, digits"),
        ("\"work\"", "not a numeric id"),
    ] {
        place.configure(&format!("[access]\nreaders = {readers}\n"));
        let (code, told) = place.refused(&[]);
        assert_eq!(code, Some(1), "{told}");
        assert!(
            told.contains("access.readers") && told.contains(words),
            "{told}"
        );
    }
}
