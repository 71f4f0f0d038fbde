//! Whose file is read: that of the brain, as long as it is there, and no other.

use amem_client::v1;
use tonic::Code;

use crate::kit::{Kit, check, fact};

async fn remove(kit: &Kit, name: &str) {
    let brains = kit.client().await.brains();
    let open = v1::OpenBrainRequest { brain: name.into() };
    let opened = brains.clone().open_brain(open).await.unwrap().into_inner();
    let request = v1::RemoveBrainRequest {
        brain: name.into(),
        instance: opened.moment.unwrap().instance,
    };
    brains.clone().remove_brain(request).await.unwrap();
}

#[tokio::test]
async fn a_brain_removed_by_another_client_is_gone() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    brain.ingest(vec![fact("old")]).await.unwrap();
    assert_eq!(brain.get(&[0]).await.unwrap()[0].text, "old");
    remove(&kit, "b").await;
    for _ in 0..2 {
        check(brain.get(&[0]).await, Code::NotFound, "UNKNOWN_BRAIN", "b");
        assert!(!brain.is_direct());
    }
}

#[tokio::test]
async fn a_brain_recreated_under_the_same_name_is_read_and_written() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    let events = (0..20).map(|n| fact(format!("old {n}"))).collect();
    brain.ingest(events).await.unwrap();
    assert_eq!(brain.get(&[0]).await.unwrap()[0].text, "old 0");
    remove(&kit, "b").await;
    // What another client saw of the new one is fewer commits than there were in the old one.
    let other = kit.brain("b").await;
    other.ingest(vec![fact("new")]).await.unwrap();
    assert_eq!(brain.get(&[0]).await.unwrap()[0].text, "new");
    let id = brain.ingest(vec![fact("more")]).await.unwrap().event_ids[0];
    assert_eq!(brain.get(&[id]).await.unwrap()[0].text, "more");
    // From its file, now that the daemon has named it.
    assert!(brain.is_direct());
    assert_eq!(other.get(&[id]).await.unwrap()[0].text, "more");
}

#[tokio::test]
async fn a_copy_at_the_path_is_not_mistaken_for_the_brain() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    brain.ingest(vec![fact("one")]).await.unwrap();
    // As in a container that has a copy of the folder under the same path: the daemon watches its own.
    let folder = kit.place.folder();
    let (file, away) = (folder.join("b.amem"), folder.with_extension("away"));
    std::fs::rename(folder, &away).unwrap();
    std::fs::create_dir(folder).unwrap();
    std::fs::copy(away.join("b.amem"), &file).unwrap();
    let client = kit.client().await;
    let other = client.brain("b").await.unwrap();
    assert!(!other.is_direct());
    assert!(client.open("b").await.unwrap().reader.is_none());
    for brain in [&brain, &other] {
        assert_eq!(brain.get(&[0]).await.unwrap()[0].text, "one");
        assert!(!brain.is_direct());
    }
    // And where it can't be opened at all.
    std::fs::remove_file(&file).unwrap();
    let opened = client.open("b").await.unwrap();
    assert!(opened.response.direct_read && opened.reader.is_none());
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::rename(&away, folder).unwrap();
    assert_eq!(brain.get(&[0]).await.unwrap()[0].text, "one");
    assert!(brain.is_direct());
}
