//! A brain whose file the medium has damaged since it was opened: what it says goes nowhere where nothing would tell of
//! the damage.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use amem_client::{Client, v1};
use tokio_stream::StreamExt;
use tonic::{Code, Status};
use v1::merge_options::From;

use crate::merge::merge;
use crate::process::{Daemon, check_refused, create_bare, folder, get, ingest};
use crate::watch::{at, brain};

const TEXT: &str = "what stands on the medium";

/// As if the page of a text had come back with another bit.
fn flip(path: &Path, text: &str) {
    let bytes = fs::read(path).unwrap();
    let mut found = bytes.windows(text.len());
    let place = found.position(|part| part == text.as_bytes()).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&[bytes[place] ^ 1], place as u64)
        .unwrap();
}

async fn export(client: &Client, form: v1::ExportForm) -> Result<usize, Status> {
    let request = v1::ExportBrainRequest {
        brain: "b".into(),
        form: form.into(),
    };
    let mut parts = client.brains().export_brain(request).await?.into_inner();
    let mut bytes = 0;
    while let Some(part) = parts.next().await {
        bytes += part?.data.len();
    }
    Ok(bytes)
}

#[tokio::test]
async fn a_damaged_brain_is_neither_merged_nor_converted() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for brain in ["b", "other"] {
        create_bare(&client, brain).await;
    }
    ingest(&client, "b", &[TEXT]).await;
    let (path, damaged) = (at(folder.path(), "b"), TEXT.replacen('w', "v", 1));
    let writable = || fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let from = || From::FromBrain("b".into());
    let told = &["checksum", "amemctl repair"];
    for place in ["in the journal", "in the base"] {
        writable();
        flip(&path, TEXT);
        assert_eq!(get(&client, "b", &[0]).await[0].text, damaged, "{place}");
        for dry_run in [true, false] {
            let refused = merge(&client, "other", from(), dry_run, &[]).await;
            check_refused(place, refused, Code::DataLoss, "CORRUPT", told);
        }
        let other = brain(&client, "other").await.unwrap();
        assert_eq!(other.moment.unwrap().lsn, 0, "something was merged");
        let refused = export(&client, v1::ExportForm::Compatible).await;
        check_refused(place, refused, Code::DataLoss, "CORRUPT", told);
        if place == "in the journal" {
            flip(&path, &damaged);
            let request = v1::CheckpointBrainRequest { brain: "b".into() };
            client.brains().checkpoint_brain(request).await.unwrap();
        }
    }
    // The file itself shows the damage.
    assert!(export(&client, v1::ExportForm::Native).await.unwrap() > 0);
    flip(&path, &damaged);
    merge(&client, "other", from(), false, &[]).await.unwrap();
    assert_eq!(get(&client, "other", &[0]).await[0].text, TEXT);

    // Its next generation shows it, too.
    flip(&path, TEXT);
    let request = v1::CheckpointBrainRequest { brain: "b".into() };
    let after = client.brains().checkpoint_brain(request).await;
    let verify = v1::VerifyBrainRequest { brain: "b".into() };
    let report = client.brains().verify_brain(verify).await.unwrap();
    assert!(!report.into_inner().whole, "{after:?}");
}
