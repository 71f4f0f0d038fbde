//! A watch in which a turn has a defect.

use std::sync::Arc;

use amem_store::Folder;
use amem_store::disk::os::OsDisk;

use super::*;
use crate::figures::Figures;
use crate::health::Health;
use crate::jobs::Jobs;

#[tokio::test]
async fn a_turn_that_panics_is_followed_by_others_which_find_what_it_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let disk = Arc::new(OsDisk::new(path).unwrap());
    let ours = Folder::open(disk, "a test").unwrap();
    let health = Health::new();
    let brains = Brains::new(
        ours,
        path.to_owned(),
        health,
        Jobs::default(),
        Figures::new(),
    );
    std::fs::write(path.join("new.amem"), "a part of a brain").unwrap();
    let watch = Watch {
        brains: brains.clone(),
        // Nothing but a look through the folder finds the file, and there would be none for long.
        events: None,
        arrivals: Arrivals::default(),
        work: JoinSet::new(),
        rescan_at: Instant::now() + Duration::from_secs(3600),
    };
    let mut count = 0;
    let watching = turns(watch, |watch| {
        count += 1;
        match count {
            1 => Box::pin(async { panic!("on purpose") }),
            _ => Box::pin(watch.turn()),
        }
    });
    let found = async {
        while brains.figures().files_waiting().get() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let patience = tokio::time::sleep(Duration::from_secs(30));
    tokio::select! {
        () = watching => {}
        () = found => return,
        () = patience => {}
    }
    panic!("it was not found");
}
