//! Rejected files, many and of odd kinds: how they are reported, and that they hide nothing else.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use amem_client::{Client, v1};

use crate::process::{Daemon, create_bare, folder};
use crate::watch::until;

async fn status(client: &Client) -> v1::GetStatusResponse {
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    status.unwrap().into_inner()
}

/// All that is not served, by pages, and how many pages there were.
async fn listed(client: &Client) -> (Vec<v1::BrainProblem>, usize) {
    let (mut all, mut pages, mut page_token) = (Vec::new(), 0, String::new());
    loop {
        let request = v1::ListProblemsRequest {
            page_size: 0,
            page_token,
        };
        let page = client.admin().list_problems(request).await;
        let page = page.unwrap().into_inner();
        all.extend(page.problems);
        pages += 1;
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return (all, pages);
        }
    }
}

/// What is reported of a name.
async fn of(client: &Client, name: &str) -> Option<v1::BrainProblem> {
    let (all, _) = listed(client).await;
    all.into_iter().find(|problem| problem.brain == name)
}

/// Damages the file of a brain that is closed, in place: another file would be a stranger.
fn damage(path: &Path) {
    fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[9], 4).unwrap();
}

/// A list of brains: names, rejected files, files that may become brains.
async fn brains(client: &Client) -> (Vec<String>, u64, u64) {
    let request = v1::ListBrainsRequest::default();
    let page = client.brains().list_brains(request).await;
    let page = page.unwrap().into_inner();
    let names = page.brains.into_iter().map(|of| of.brain).collect();
    (names, page.rejected_files, page.files_waiting)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_being_written_is_not_listed_yet() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "good").await;
    let slow = fs::File::create(folder.path().join("slow.amem")).unwrap();
    let told = until("the file is not waited for", || async {
        (&slow).write_all(b"no brain").unwrap();
        let told = brains(&client).await;
        (told.2 > 0).then_some(told)
    });
    assert_eq!(told.await, (vec!["good".to_owned()], 0, 1));
    drop(slow);
    let told = until("the file is not rejected", || async {
        let told = brains(&client).await;
        // It is listed a moment before it is no longer waited for.
        (told.1 > 0 && told.2 == 0).then_some(told)
    });
    assert_eq!(told.await, (vec!["good".to_owned()], 1, 0));
    assert!(daemon.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_rejected_files_are_listed_in_parts_and_hide_no_damage() {
    const FILES: usize = 10_000;
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "good").await;
    create_bare(&client, "zz-bad").await;
    assert!(daemon.stop().success());
    damage(&folder.path().join("zz-bad.amem"));
    // Names that are as long as they may be, and longer when they are quoted.
    for number in 0..FILES {
        let name = format!("{}{number:06}", "\u{1}".repeat(240));
        fs::write(folder.path().join(format!("{name}.amem")), "").unwrap();
    }
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let told = until("not all are told", || async {
        let told = status(&client).await;
        (told.rejected_files == FILES as u64).then_some(told)
    })
    .await;
    assert_eq!((told.brain_count, told.failed_brains), (2, 1));
    // What is damaged comes first, whatever its name.
    let first: Vec<_> = told.problems.iter().map(|of| of.rejected).collect();
    assert_eq!(first.len(), 20);
    assert_eq!(told.problems[0].brain, "zz-bad");
    let names = vec!["good".to_owned(), "zz-bad".to_owned()];
    assert_eq!(brains(&client).await, (names, FILES as u64, 0));
    assert!(!first[0] && first[1..].iter().all(|rejected| *rejected));
    let (all, pages) = listed(&client).await;
    assert!(pages > FILES / 1000, "{pages} pages");
    assert_eq!(all.len(), FILES + 1);
    assert!(all.is_sorted_by(|a, b| a.brain < b.brain));
    let of_all: usize = all.iter().map(|of| of.brain.len() + of.message.len()).sum();
    assert!(
        of_all > 4 << 20,
        "one message could have held {of_all} bytes"
    );
}

#[tokio::test]
async fn folders_and_invalid_file_names_are_reported_until_they_are_gone() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "good").await;
    let dir = folder.path().join("dir.amem");
    fs::create_dir(&dir).unwrap();
    let odd = folder.path().join(OsStr::from_bytes(b"caf\xe9.amem"));
    fs::write(&odd, "").unwrap();
    let unnamed = folder.path().join("no name.amem");
    fs::write(&unnamed, "").unwrap();
    let names = ["dir", "caf\\xe9", "no name"];
    for (name, words) in names.into_iter().zip([
        "no regular file",
        "not UTF-8 (caf\\xe9.amem)",
        "use letters",
    ]) {
        let told = until(name, || of(&client, name)).await;
        assert!(told.rejected && told.message.contains(words), "{told:?}");
    }
    assert_eq!(status(&client).await.brain_count, 1);
    fs::remove_dir(&dir).unwrap();
    fs::remove_file(&odd).unwrap();
    fs::remove_file(&unnamed).unwrap();
    until("they are told for ever", || async {
        let (all, _) = listed(&client).await;
        all.is_empty().then_some(())
    })
    .await;
    assert_eq!(status(&client).await.rejected_files, 0);
}
