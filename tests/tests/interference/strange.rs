//! A file of another user, which nothing makes a brain of.

use std::fs;
use std::time::{Duration, Instant};

use amem_client::v1;
use amem_tests::machine::skipped;

use crate::PATIENCE;
use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_another_user_is_rejected_and_its_owner_is_named() {
    let world = World::start().await;
    if !world.is_of_another_user() {
        skipped("only root can be other users");
        return;
    }
    let whole = fs::read(world.file("other")).unwrap();
    let strange = world.file("strange");
    fs::write(&strange, &whole).unwrap();
    let began = Instant::now();
    let told = loop {
        let request = v1::ListProblemsRequest::default();
        let told = world.client.admin().list_problems(request).await;
        let problems = told.unwrap().into_inner().problems;
        if let Some(told) = problems.into_iter().find(|told| told.brain == "strange") {
            break told;
        }
        assert!(began.elapsed() < PATIENCE, "nothing is reported");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(told.reason, "NOT_ADOPTED", "{told:?}");
    assert!(told.message.contains("belongs to user 0"), "{told:?}");
    assert_eq!(fs::read(&strange).unwrap(), whole);
}
