//! Many files that are put into the folder at once. `AMEM_WATCH_FILES` says how many; ten thousand are the long form.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use amem_client::{Client, v1};

use crate::process::{Daemon, create_bare, folder, get, ingest};
use crate::watch::{at, brain};

/// How long any question may take while files are adopted.
const SLOWEST: Duration = Duration::from_secs(1);
/// One in so many is no brain.
const BAD_ONE_IN: usize = 10;

fn file_count() -> usize {
    let given = std::env::var("AMEM_WATCH_FILES");
    given.map_or(300, |given| given.parse().unwrap())
}

fn is_bad(number: usize) -> bool {
    number % BAD_ONE_IN == BAD_ONE_IN - 1
}

fn put(folder: &Path, outside: &Path, files: usize) {
    for number in 0..files {
        let to = at(folder, &format!("many-{number}"));
        if is_bad(number) {
            fs::write(to, "no brain").unwrap()
        } else {
            fs::copy(outside, to).unwrap();
        }
    }
}

async fn status(client: &Client) -> v1::GetStatusResponse {
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    status.unwrap().into_inner()
}

/// Adoptions that were done, and that failed.
fn adoptions(status: &v1::GetStatusResponse) -> (u64, u64) {
    let of = |count: &&v1::JobCount| count.kind() == v1::JobKind::Adoption;
    let count = status.jobs.iter().find(of);
    count.map_or((0, 0), |count| (count.done, count.failed))
}

#[tokio::test]
async fn many_files_are_adopted_while_calls_are_served() {
    let files = file_count();
    let bad = (0..files).filter(|number| is_bad(*number)).count() as u64;
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one", "two"]).await;
    let descriptors = || {
        let open = fs::read_dir(format!("/proc/{}/fd", daemon.pid()));
        open.unwrap().count()
    };
    let before = descriptors();
    let (into, outside) = (folder.path().to_owned(), folder.path().join("outside"));
    fs::copy(at(&into, "b"), &outside).unwrap();
    let putting = tokio::task::spawn_blocking(move || put(&into, &outside, files));
    let until = Instant::now() + Duration::from_secs(60) + Duration::from_millis(30) * files as u32;
    // Questions while files wait, how many and how long the slowest took; and the most descriptors.
    let (mut asked, mut slowest, mut most) = (0, Duration::ZERO, 0);
    loop {
        let told = status(&client).await;
        let (done, failed) = adoptions(&told);
        if done + failed >= files as u64 && told.files_waiting == 0 {
            break;
        }
        assert!(Instant::now() < until, "{done} adopted, {failed} refused");
        let began = Instant::now();
        get(&client, "b", &[0]).await;
        if told.files_waiting > 0 {
            asked += 1;
            slowest = slowest.max(began.elapsed());
            most = most.max(descriptors());
        }
    }
    putting.await.unwrap();
    assert!(asked >= 10, "asked {asked} times while files waited");
    assert!(slowest < SLOWEST, "{slowest:?} of {asked}");
    assert!(most < before + 40, "{before} descriptors before, {most}");
    let told = status(&client).await;
    assert_eq!(adoptions(&told), (files as u64 - bad, bad));
    assert_eq!((told.rejected_files, told.failed_brains), (bad, 0));
    assert_eq!(told.brain_count, 1 + files as u64 - bad);
    for number in [0, files / 2, files - 2] {
        let name = format!("many-{number}");
        let found = brain(&client, &name).await;
        assert_eq!(found.is_some(), !is_bad(number), "{name}");
        if found.is_some() {
            assert_eq!(get(&client, &name, &[0, 1]).await.len(), 2, "{name}");
        }
    }
}
