//! Vaults and other folders of Markdown.

use std::collections::BTreeMap;

use amem_sources::{ItemType, SkipReason, SourceKind, detect};

use crate::support::{Shelf, SourceReading};

#[test]
fn each_file_of_a_vault_is_a_document_with_title_properties_and_links() {
    let shelf = Shelf::new();
    shelf.file("v/.obsidian/app.json", "{}");
    shelf.file("v/Plans/Kitchen.md", concat!(
        "---\naliases: [Cooking]\ntags: [house]\ncreated: 2026-01-05\n---\n# Kitchen plans\n\nSee [[Oven|the oven]] #todo\n\n",
        "## 2026-02-01\n- paint it ^p1\n  - white\n- [x] order [[Nowhere]]\n",
    ));
    shelf.file("v/Oven.md", "Bought from [[cooking]].\n");
    shelf.file("v/2026-01-31.md", "only a day\n");
    shelf.file(
        "v/Person.md",
        "---\ntitle: Jonas Weber\nemail: jonas@example.org\n---\n",
    );
    shelf.file("v/a/CLAUDE.md", "use tabs\n");
    shelf.file("v/b/CLAUDE.md", "use tabs\n");
    let found = detect(&shelf.path().join("v")).unwrap();
    assert_eq!(
        (found.sources[0].kind, found.sources[0].files),
        (SourceKind::Obsidian, 6)
    );
    let reading = shelf.read("v");
    let kitchen = reading.item("Kitchen plans");
    assert_eq!(kitchen.item_type, ItemType::Document);
    assert_eq!(
        kitchen.text,
        "Kitchen plans\naliases: Cooking\ntags: house\ncreated: 2026-01-05"
    );
    assert_eq!(kitchen.id.to_string(), "markdown:~/v/Plans/Kitchen.md");
    let see = reading.item("See ");
    assert_eq!(see.headings, ["Kitchen plans"]);
    assert_eq!(see.attributes["tags"], serde_json::json!(["house", "todo"]));
    assert_eq!(see.time.unwrap().0, 1_767_571_200_000_000);
    assert_eq!(see.place.line, 8);
    assert_eq!(
        reading.relations("See "),
        [
            ("part_of".into(), "markdown:~/v/Plans/Kitchen.md".into()),
            ("links_to".into(), "markdown:~/v/Oven.md".into()),
        ]
    );
    let paint = reading.item("paint it");
    assert_eq!(
        (paint.text.as_str(), paint.id.part.as_str()),
        ("paint it", "^p1")
    );
    assert_eq!(
        paint.time.unwrap().0,
        1_769_904_000_000_000,
        "the day of the heading"
    );
    assert_eq!(
        reading.item("white").attributes["under"],
        serde_json::json!(["paint it ^p1"])
    );
    assert_eq!(reading.item("order").attributes["done"], true);
    assert_eq!(
        reading.item("order").attributes["missing_links"],
        serde_json::json!(["Nowhere"])
    );
    assert_eq!(reading.lines(SkipReason::Dangling), [13]);
    assert_eq!(
        reading.relations("Bought")[1].1,
        "markdown:~/v/Plans/Kitchen.md",
        "by its alias"
    );
    assert_eq!(
        reading.item("only a day").time.unwrap().0,
        1_769_817_600_000_000
    );
    assert_eq!(
        reading.item("Jonas Weber").text,
        "Jonas Weber\nemail: jonas@example.org"
    );
    let twice: Vec<_> = reading
        .items()
        .iter()
        .filter(|i| i.text == "use tabs")
        .map(|i| &i.id.document)
        .collect();
    assert_eq!(twice, ["~/v/a/CLAUDE.md", "~/v/b/CLAUDE.md"]);
}

#[test]
fn basic_memory_has_observations_and_relations() {
    let shelf = Shelf::new();
    shelf.file("n/auth.md", concat!(
        "---\ntitle: Auth Design\ntype: note\npermalink: design/auth\n---\n\n# Auth Design\n\n## Observations\n",
        "- [decision] Use passkeys #security (after the audit)\n- [ ] ask Mira\n\n",
        "## Relations\n- depends_on [[design/session]]\n- inspired by [[Later Note]]\n",
    ));
    shelf.file(
        "n/session.md",
        "---\ntitle: Session\npermalink: design/session\n---\ntext\n",
    );
    let found = detect(&shelf.path().join("n")).unwrap();
    assert_eq!(found.sources[0].kind, SourceKind::BasicMemory);
    let reading = shelf.read("n");
    let decision = reading.item("Use passkeys");
    assert_eq!(decision.item_type, ItemType::Observation);
    assert_eq!(decision.attributes["category"], "decision");
    assert_eq!(decision.attributes["context"], "after the audit");
    assert_eq!(decision.attributes["tags"], serde_json::json!(["security"]));
    assert_eq!(reading.item("ask Mira").item_type, ItemType::Block);
    let edge = reading.item("depends_on");
    assert_eq!(edge.item_type, ItemType::Edge);
    assert_eq!(
        reading.relations("depends_on")[1],
        ("depends_on".into(), "markdown:~/n/session.md".into())
    );
    assert_eq!(
        reading.item("inspired by").attributes["missing_links"],
        serde_json::json!(["Later Note"])
    );
}

/// Ids and hashes of all items.
fn state(reading: &SourceReading) -> BTreeMap<String, u128> {
    reading
        .items()
        .iter()
        .map(|item| (item.id.to_string(), item.hash))
        .collect()
}

#[test]
fn edits_show_as_new_missing_and_changed_ids() {
    let shelf = Shelf::new();
    shelf.file("v/a.md", "# A\n- one\n- two\n- two\n\n# B\n- three\n");
    let before = state(&shelf.read("v"));
    assert_eq!(state(&shelf.read("v")), before, "nothing was edited");
    // One line moves below the other heading, one is edited, one is new.
    shelf.file(
        "v/a.md",
        "# A\n- two\n- two\n\n# B\n- three!\n- one\n- four\n",
    );
    let after = state(&shelf.read("v"));
    let gone: Vec<_> = before
        .keys()
        .filter(|id| !after.contains_key(*id))
        .collect();
    let new: Vec<_> = after
        .keys()
        .filter(|id| !before.contains_key(*id))
        .collect();
    let changed: Vec<_> = after
        .iter()
        .filter(|(id, hash)| before.get(*id).is_some_and(|b| b != *hash))
        .collect();
    assert_eq!((gone.len(), new.len(), changed.len()), (1, 2, 1));
}

#[test]
fn strange_files_of_a_vault_are_skipped_in_words() {
    let shelf = Shelf::new();
    shelf.file("v/latin.md", b"one\ncaf\xe9\n");
    shelf.file(
        "v/wide.md",
        [
            b"\xff\xfe".to_vec(),
            "wide ä 😀"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
        ]
        .concat(),
    );
    shelf.file("v/mark.md", "\u{feff}---\ntitle: Marked\n---\nx\n");
    shelf.file("v/blank.md", "");
    shelf.file("v/broken.md", "---\na: 1\n{{weird}}\n---\ny\n");
    shelf.file("v/rule.md", "---\nno end of the front matter\n");
    shelf.file("v/years.md", "---\ndate: 0001-01-01\n---\nold\n");
    shelf.file("v/future.md", "---\ndate: 9999-12-30\n---\nnew\n");
    shelf.file("v/when.md", "---\ndate: someday\n---\nz\n");
    let outside = shelf.file("outside.md", "secret plans\n");
    std::os::unix::fs::symlink(&outside, shelf.path().join("v/link.md")).unwrap();
    std::os::unix::fs::symlink(shelf.path().join("v"), shelf.path().join("v/circle")).unwrap();
    let reading = shelf.read("v");
    assert_eq!(reading.lines(SkipReason::BadEncoding), [2]);
    assert_eq!(reading.lines(SkipReason::Malformed), [3]);
    assert_eq!(reading.lines(SkipReason::BadTime).len(), 1);
    assert_eq!(reading.lines(SkipReason::Refused).len(), 2);
    assert_eq!(reading.item("wide ä 😀").item_type, ItemType::Block);
    assert_eq!(reading.item("Marked").text, "Marked");
    assert!(reading.item("old").time.unwrap() < reading.item("new").time.unwrap());
    assert!(
        !reading
            .texts()
            .iter()
            .any(|text| text.contains("secret plans"))
    );
    assert!(
        reading.texts().contains(&"blank"),
        "an empty note is its title"
    );
    assert!(reading.texts().contains(&"no end of the front matter"));
}
