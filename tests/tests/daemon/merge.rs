//! Brains that are merged by a daemon, and files that it has quarantined.

use std::fs;
use std::path::Path;

use amem_client::{Client, v1};
use tokio_stream::iter;
use tonic::{Code, Status};
use v1::merge_brain_request::Part;
use v1::merge_options::From;
use v1::resolve_kept_file_request::Action;

use crate::process::{Daemon, check_refused, create_bare, folder, get, ingest};
use crate::watch::{at, brain, kept, until};

pub(crate) async fn merge(
    client: &Client,
    into: &str,
    from: From,
    dry_run: bool,
    file: &[u8],
) -> Result<v1::MergeBrainResponse, Status> {
    let options = v1::MergeOptions {
        brain: into.into(),
        from: Some(from),
        dry_run,
        options: Some(v1::WriteOptions {
            agent: "merger".into(),
            ..Default::default()
        }),
    };
    let mut parts = vec![Part::Options(options)];
    parts.extend(file.chunks(1 << 20).map(|data| Part::Data(data.to_vec())));
    let parts: Vec<_> = parts
        .into_iter()
        .map(|part| v1::MergeBrainRequest { part: Some(part) })
        .collect();
    let answer = client.brains().merge_brain(iter(parts)).await;
    answer.map(tonic::Response::into_inner)
}

async fn correct(client: &Client, name: &str, text: &str) {
    let request = v1::CorrectRequest {
        brain: name.into(),
        target_id: 0,
        event: Some(v1::NewEvent {
            text: text.into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    client.memory().correct(request).await.unwrap();
}

/// A daemon with a brain `ours` and a copy `theirs`, each of which corrected the same belief since.
async fn diverged(folder: &Path) -> (Daemon, Client) {
    let daemon = Daemon::start(folder);
    let client = daemon.client().await;
    create_bare(&client, "ours").await;
    ingest(&client, "ours", &["the belief"]).await;
    fs::copy(at(folder, "ours"), at(folder, "theirs")).unwrap();
    until("theirs", || brain(&client, "theirs")).await;
    correct(&client, "ours", "corrected here").await;
    correct(&client, "theirs", "corrected there").await;
    ingest(&client, "theirs", &["seen there"]).await;
    (daemon, client)
}

#[tokio::test]
async fn two_descendants_are_merged_by_name_or_by_file_and_once_only() {
    let folder = folder();
    let (_daemon, client) = diverged(folder.path()).await;
    let theirs = brain(&client, "theirs").await.unwrap();
    let lsn = brain(&client, "ours").await.unwrap().moment.unwrap().lsn;
    let named = || From::FromBrain("theirs".into());
    let would = merge(&client, "ours", named(), true, &[]).await.unwrap();
    assert_eq!((would.matched, would.events, would.edges), (1, 2, 1));
    assert_eq!(would.commit, None);
    assert_eq!(
        brain(&client, "ours").await.unwrap().moment.unwrap().lsn,
        lsn
    );
    // The file is as good as the name.
    let file = fs::read(at(folder.path(), "theirs")).unwrap();
    let bytes = || From::FromFileBytes(file.len() as u64);
    assert_eq!(
        merge(&client, "ours", bytes(), true, &file).await.unwrap(),
        would
    );
    let done = merge(&client, "ours", named(), false, &[]).await.unwrap();
    assert_eq!(
        (done.events, done.edges, done.from.clone()),
        (2, 1, theirs.moment)
    );
    assert_eq!(done.from_lineage, theirs.info.unwrap().lineage);
    let again = merge(&client, "ours", bytes(), false, &file).await.unwrap();
    assert_eq!((again.matched, again.events, again.edges), (3, 0, 0));
    assert_eq!(again.commit.unwrap().lsn, done.commit.unwrap().lsn);
    let texts: Vec<_> = get(&client, "ours", &[0, 1, 2, 3])
        .await
        .into_iter()
        .map(|e| e.text)
        .collect();
    assert_eq!(
        texts,
        [
            "the belief",
            "corrected here",
            "corrected there",
            "seen there"
        ]
    );
    let resolve = v1::ResolveRequest {
        brain: "ours".into(),
        event_id: 0,
        ..Default::default()
    };
    let resolved = client
        .queries()
        .resolve(resolve)
        .await
        .unwrap()
        .into_inner();
    assert!(resolved.contested);
    let jobs = client
        .admin()
        .list_jobs(v1::ListJobsRequest::default())
        .await;
    let jobs = jobs.unwrap().into_inner().jobs;
    assert!(
        jobs.iter()
            .any(|job| job.kind() == v1::JobKind::Merge && job.state() == v1::JobState::Done)
    );
}

/// Puts other bytes into the very file, as a disk that is set back does.
fn set_back(path: &Path, bytes: &[u8]) {
    use std::os::unix::fs::PermissionsExt;
    let mode = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    fs::write(path, bytes).unwrap();
    mode(0o400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_of_the_same_instance_is_merged_and_reported_as_a_clone() {
    let folder = folder();
    let path = at(folder.path(), "ours");
    let (daemon, client) = diverged(folder.path()).await;
    daemon.stop();
    drop(client);
    let parted = fs::read(&path).unwrap();
    let daemon = Daemon::start(folder.path());
    ingest(&daemon.client().await, "ours", &["by the first"]).await;
    daemon.stop();
    let first = fs::read(&path).unwrap();
    set_back(&path, &parted);
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    ingest(&client, "ours", &["by the second", "by it, too"]).await;
    let merged = async |file: &[u8]| {
        let bytes = From::FromFileBytes(file.len() as u64);
        merge(&client, "ours", bytes, false, file).await.unwrap()
    };
    let done = merged(&first).await;
    let own = brain(&client, "ours").await.unwrap().moment.unwrap();
    assert_eq!(done.from.as_ref().unwrap().instance, own.instance);
    assert_eq!(
        (done.same_instance, done.matched, done.events),
        (true, 2, 1)
    );
    let again = merged(&first).await;
    assert_eq!(
        (again.same_instance, again.matched, again.events),
        (true, 3, 0)
    );
    let theirs = merge(&client, "ours", From::FromBrain("theirs".into()), true, &[]).await;
    assert!(!theirs.unwrap().same_instance);
}

#[tokio::test]
async fn invalid_merges_are_refused_and_change_nothing() {
    let folder = folder();
    let (_daemon, client) = diverged(folder.path()).await;
    let before = brain(&client, "ours").await.unwrap().moment;
    let own = merge(&client, "ours", From::FromBrain("ours".into()), false, &[]).await;
    check_refused(
        "itself",
        own,
        Code::InvalidArgument,
        "INVALID",
        &["merged into itself"],
    );
    let none = merge(
        &client,
        "ours",
        From::FromBrain("nowhere".into()),
        false,
        &[],
    )
    .await;
    check_refused(
        "nowhere",
        none,
        Code::NotFound,
        "UNKNOWN_BRAIN",
        &["no other brain \"nowhere\" to merge"],
    );
    let kept = merge(
        &client,
        "ours",
        From::FromKeptFile("../ours.amem".into()),
        false,
        &[],
    )
    .await;
    check_refused("a path", kept, Code::NotFound, "UNKNOWN_FILE", &[]);
    let noise = b"not a brain";
    let bytes = From::FromFileBytes(noise.len() as u64);
    merge(&client, "ours", bytes, false, noise)
        .await
        .unwrap_err();
    let cut = fs::read(at(folder.path(), "theirs")).unwrap();
    let bytes = From::FromFileBytes(cut.len() as u64);
    merge(&client, "ours", bytes, false, &cut[..2000])
        .await
        .unwrap_err();
    assert_eq!(brain(&client, "ours").await.unwrap().moment, before);
    let left = fs::read_dir(folder.path().join(".amemd/tmp"))
        .unwrap()
        .count();
    assert_eq!(left, 0, "files are left");
}

pub(crate) async fn files(client: &Client) -> Vec<v1::KeptFile> {
    let request = v1::ListKeptFilesRequest::default();
    let listed = client.admin().list_kept_files(request).await;
    listed.unwrap().into_inner().files
}

pub(crate) async fn resolve(
    client: &Client,
    file: &str,
    action: Action,
) -> Result<v1::ResolveKeptFileResponse, Status> {
    let request = v1::ResolveKeptFileRequest {
        file: file.into(),
        action: Some(action),
    };
    let answer = client.admin().resolve_kept_file(request).await;
    answer.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn a_conflict_is_resolved_by_ours_by_theirs_or_by_a_merge() {
    let folder = folder();
    let (_daemon, client) = diverged(folder.path()).await;
    let conflict = async || {
        let copy = folder.path().join("copy");
        fs::copy(at(folder.path(), "theirs"), &copy).unwrap();
        fs::rename(&copy, at(folder.path(), "ours")).unwrap();
        let listed = until("no conflict", || async {
            let files = files(&client).await;
            files
                .into_iter()
                .find(|file| file.reason() == v1::KeptReason::Conflict)
        });
        listed.await
    };
    let instance = async || {
        brain(&client, "ours")
            .await
            .unwrap()
            .moment
            .unwrap()
            .instance
    };
    let ours = instance().await;
    // Ours is kept.
    let kept_file = conflict().await;
    let theirs = brain(&client, "theirs").await.unwrap().info.unwrap();
    assert_eq!(
        (kept_file.brain.as_str(), &kept_file.lineage),
        ("ours", &theirs.lineage)
    );
    resolve(&client, &kept_file.file, Action::Discard(true))
        .await
        .unwrap();
    assert_eq!(files(&client).await, []);
    check_refused(
        "twice",
        resolve(&client, &kept_file.file, Action::Discard(true)).await,
        Code::NotFound,
        "UNKNOWN_FILE",
        &[],
    );
    assert_eq!(instance().await, ours);
    // Theirs is merged.
    let kept_file = conflict().await;
    let merged = merge(
        &client,
        "ours",
        From::FromKeptFile(kept_file.file.clone()),
        false,
        &[],
    )
    .await;
    assert_eq!(merged.unwrap().events, 2);
    resolve(&client, &kept_file.file, Action::Discard(true))
        .await
        .unwrap();
    assert_eq!(
        brain(&client, "ours").await.unwrap().status.unwrap().events,
        4
    );
    // Theirs is taken, and ours is quarantined.
    let kept_file = conflict().await;
    let taken = resolve(&client, &kept_file.file, Action::Take(true))
        .await
        .unwrap();
    assert_ne!(instance().await, ours);
    assert_eq!(
        brain(&client, "ours").await.unwrap().status.unwrap().events,
        3
    );
    let left = files(&client).await;
    assert_eq!(left.len(), 1);
    assert_eq!(
        (left[0].file.as_str(), left[0].reason()),
        (taken.kept_file.as_str(), v1::KeptReason::Recovered)
    );
    // And comes back under another name.
    resolve(&client, &left[0].file, Action::RestoreAs("before".into()))
        .await
        .unwrap();
    assert_eq!(
        brain(&client, "before")
            .await
            .unwrap()
            .status
            .unwrap()
            .events,
        4
    );
    assert_eq!(files(&client).await, []);
    assert!(
        kept(folder.path(), "conflicts").is_empty() && kept(folder.path(), "recovered").is_empty()
    );
    // What is no brain can't be taken.
    let noise = folder.path().join("noise");
    fs::write(&noise, b"noise").unwrap();
    fs::rename(&noise, at(folder.path(), "ours")).unwrap();
    let kept_file = until("no conflict", || async { files(&client).await.pop() }).await;
    resolve(&client, &kept_file.file, Action::Take(true))
        .await
        .unwrap_err();
    assert_eq!(
        brain(&client, "ours").await.unwrap().status.unwrap().events,
        3
    );
}
