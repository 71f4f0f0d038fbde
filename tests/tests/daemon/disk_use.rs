//! How much disk files take that are put into the folder again and again, for a brain's name and without one.
//! Five times each; with `AMEM_WATCH_FILES` as often as one in ten of them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use amem_client::v1;
use v1::resolve_kept_file_request::Action;

use crate::merge::{files, resolve};
use crate::process::{Daemon, create_bare, folder, get, ingest};
use crate::watch::{at, brain, kept, until};

/// What the daemon needs beside the files: its list of runs, the lock, the folders.
const OWN_BYTES: u64 = 256 << 10;

/// The bytes of disk that are taken below a folder.
fn disk_bytes(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A file that is replaced meanwhile is counted by its next name, or not at all.
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        bytes += found.blocks() * 512;
        if found.is_dir() {
            bytes += disk_bytes(&path);
        }
    }
    bytes
}

/// A file in the place of a brain's, as `mv` puts it there.
fn put(outside: &Path, to: &Path) {
    let copy = outside.with_extension("copy");
    fs::copy(outside, &copy).unwrap();
    fs::rename(&copy, to).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_come_again_and_again_take_the_disk_that_they_had() {
    let files_wanted = std::env::var("AMEM_WATCH_FILES").ok();
    let rounds = files_wanted.map_or(5, |count| count.parse::<usize>().unwrap() / 10);
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let text = "a text of some length ".repeat(10_000);
    ingest(&client, "b", &[&text]).await;
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = elsewhere.path().join("copy");
    fs::copy(at(folder.path(), "b"), &outside).unwrap();
    let one = disk_bytes(elsewhere.path());
    let used = |what: &str, files: u64| {
        let bytes = disk_bytes(folder.path());
        println!("{what}: {bytes} bytes for {files} files of {one}");
        assert!(
            bytes <= files * one + OWN_BYTES,
            "{what}: {bytes} bytes, {files} files of {one}"
        );
        assert_eq!(
            kept(folder.path(), "tmp"),
            Vec::<std::path::PathBuf>::new(),
            "{what}"
        );
    };

    // Refused files stay where they are, and cost nothing more.
    for round in 0..rounds {
        fs::write(at(folder.path(), "refused"), format!("no brain {round}")).unwrap();
    }
    until("it is not refused", || async {
        let status = client.admin().get_status(v1::GetStatusRequest {}).await;
        let problems = status.unwrap().into_inner().problems;
        problems
            .iter()
            .any(|of| of.brain == "refused")
            .then_some(())
    })
    .await;
    used("refused", 1);
    fs::remove_file(at(folder.path(), "refused")).unwrap();

    // An adopted one replaces its file, and is removed as a brain.
    for round in 0..rounds {
        let name = format!("adopted-{round}");
        put(&outside, &at(folder.path(), &name));
        let adopted = until(&name, || brain(&client, &name)).await;
        let request = v1::RemoveBrainRequest {
            brain: name,
            instance: adopted.moment.unwrap().instance,
        };
        client.brains().remove_brain(request).await.unwrap();
    }
    used("adopted and removed", 1);

    // Of copies that take a name each is quarantined; the brain is there once.
    for round in 1..=rounds {
        put(&outside, &at(folder.path(), "b"));
        until("it is not quarantined", || async {
            (files(&client).await.len() == round).then_some(())
        })
        .await;
    }
    assert_eq!(get(&client, "b", &[0]).await[0].text, text);
    used("quarantined", rounds as u64 + 1);

    // A removed file's brain is saved once, however often that happens under the same name.
    for round in 1..=rounds {
        fs::remove_file(at(folder.path(), "b")).unwrap();
        until("it is not saved", || async {
            (files(&client).await.len() == rounds + round).then_some(())
        })
        .await;
        create_bare(&client, "b").await;
        ingest(&client, "b", &["short"]).await;
    }
    used("saved", 2 * rounds as u64 + 1);

    // What to do about it: each is discarded by its name.
    for file in files(&client).await {
        resolve(&client, &file.file, Action::Discard(true))
            .await
            .unwrap();
    }
    used("discarded", 1);
    assert!(daemon.stop().success());
}
