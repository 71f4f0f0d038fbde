//! Folders of notes, brought into a brain of a daemon and kept up to date.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use amem_format::view::Direction;
use amem_format::{EdgeType, EventType, NodeId};
use amem_tests::programs::{amemctl, list};
use serde_json::{Value, json};

use crate::daemon::ServedFolder;

impl ServedFolder {
    /// The events of a brain that are shown: neither hidden nor replaced.
    pub(crate) fn shown(&self, brain: &str) -> Vec<(NodeId, String)> {
        let view = self.view(brain);
        let all = (0..view.nodes()).map(|id| view.node(NodeId(id)).unwrap());
        let shown = all.filter(|node| {
            let edges = view.edges_of(node.id(), Direction::Incoming).unwrap();
            let is_replaced = edges
                .iter()
                .any(|tie| tie.edge_type == EdgeType::SUPERSEDES);
            !node.is_forgotten() && !is_replaced
        });
        shown
            .map(|node| (node.id(), node.text().unwrap().into_owned()))
            .collect()
    }

    pub(crate) fn texts(&self, brain: &str) -> Vec<String> {
        let shown = self.shown(brain).into_iter();
        shown.map(|(_, text)| text).collect()
    }

    /// The event whose text ends so.
    pub(crate) fn event(&self, brain: &str, ends: &str) -> NodeId {
        let all = self.shown(brain);
        let found = all.iter().find(|(_, text)| text.ends_with(ends));
        found
            .unwrap_or_else(|| panic!("{ends:?} is not among {all:?}"))
            .0
    }

    /// Types and texts of what an event leads to.
    pub(crate) fn edges(&self, brain: &str, ends: &str) -> BTreeSet<(EdgeType, String)> {
        let view = self.view(brain);
        let ties = view.edges_of(self.event(brain, ends), Direction::Outgoing);
        let text = |id: NodeId| view.node(id).unwrap().text().unwrap().into_owned();
        let ties = ties.unwrap();
        ties.iter()
            .map(|tie| (tie.edge_type, text(tie.other)))
            .collect()
    }

    /// The texts that a search finds.
    fn found(&self, brain: &str, words: &str) -> Vec<String> {
        let data = self.data(&format!("search {brain} {words}"), 0);
        let hits = list(&data["hits"]);
        let text = |hit: &Value| hit["event"]["text"].as_str().unwrap_or_default().to_owned();
        hits.iter().map(text).collect()
    }
}

const KITCHEN: &str = "---
title: Kitchen plans
created: 2026-01-05
tags: [house]
owner: Mira Weber
---
# Kitchen plans

See [[Oven|the oven]] #todo

## 색상 colourScheme
- walls are moss
  - north is darker
- [decision] Tiles are white (after the visit)

## Later
- lamps from Riga
";

/// A vault of every shape of note.
fn vault(served: &ServedFolder) {
    served.put("v/.obsidian/app.json", "{}");
    served.put("v/Plans/Kitchen.md", KITCHEN);
    served.put("v/Oven.md", "It is blue.\n");
    served.put("v/2026-01-31.md", "rained all day\n");
    served.put(
        "v/Jonas.md",
        "---\ntitle: Jonas Low\nemail: jonas@example.org\n---\n",
    );
    served.put("v/a/CLAUDE.md", "use tabs\n");
    served.put("v/b/CLAUDE.md", "use tabs\n");
    served.put("v/latin.md", b"caf\xe9\n");
}

/// Items that are new, known, changed, moved and gone.
fn counts(told: &Value) -> [u64; 5] {
    ["added", "known", "changed", "moved", "gone"].map(|name| told[name].as_u64().unwrap())
}

#[test]
fn notes_are_documents_with_titles_properties_links_and_days() {
    let served = ServedFolder::start();
    vault(&served);
    let told = served.data("import v notes", 0);
    assert_eq!(told["found"][0]["kind"], "obsidian");
    assert_eq!(counts(&told), [17, 0, 0, 0, 0], "{told}");
    let skipped = &told["notes"]["skipped"][0];
    assert!(
        skipped["place"].as_str().unwrap().ends_with("v/latin.md:1"),
        "{told}"
    );
    assert_eq!(skipped["reason"], "bad encoding");
    let kitchen = "Kitchen plans\ncreated: 2026-01-05\ntags: house\nowner: Mira Weber";
    // The note is found by its title and properties; a line also by what stands above it.
    for (words, text) in [
        ("Kitchen", kitchen),
        ("Weber", kitchen),
        ("jonas@example.org", "Jonas Low\nemail: jonas@example.org"),
        ("색상", "Kitchen plans › 색상 colourScheme: walls are moss"),
        (
            "colour,scheme",
            "Kitchen plans › 색상 colourScheme: walls are moss",
        ),
        ("moss", "Kitchen plans › 색상 colourScheme: walls are moss"),
        ("Oven", "Oven: It is blue."),
    ] {
        let found = served.found("notes", words);
        assert!(found.iter().any(|said| said == text), "{words}: {found:?}");
    }
    let see = "See [[Oven|the oven]] #todo";
    let edge = |edge_type, text: &str| (edge_type, text.to_owned());
    assert_eq!(
        served.edges("notes", see),
        [
            edge(EdgeType::RELATED_TO, "Oven"),
            edge(EdgeType::PART_OF, kitchen)
        ]
        .into()
    );
    assert_eq!(
        served.edges("notes", "north is darker"),
        [edge(
            EdgeType::PART_OF,
            "Kitchen plans › 색상 colourScheme: walls are moss"
        )]
        .into()
    );
    assert_eq!(
        served.edges("notes", "walls are moss"),
        [edge(EdgeType::PART_OF, "Kitchen plans › 색상 colourScheme")].into()
    );
    let view = served.view("notes");
    let event = |ends: &str| {
        let node = view.node(served.event("notes", ends)).unwrap();
        node.to_event().unwrap()
    };
    let day = |ends: &str| event(ends).event_time.map(|at| at.0 / 86_400_000_000);
    assert_eq!(
        (day(see), day("rained all day"), day("It is blue.")),
        (Some(20_458), Some(20_484), None)
    );
    let tiles = event("Tiles are white");
    assert_eq!(tiles.event_type, EventType::DECISION);
    assert_eq!(
        event(see).attributes.unwrap()["tags"],
        json!(["house", "todo"])
    );
    let same = served.texts("notes").into_iter();
    let same = same.filter(|text| text == "CLAUDE: use tabs");
    assert_eq!(same.count(), 2, "two projects have a CLAUDE.md");
}

#[test]
fn ten_kinds_of_edits_are_brought_up_to_date() {
    let served = ServedFolder::start();
    vault(&served);
    served.data("import v --into notes", 0);
    let nodes = served.view("notes").nodes();
    let again = served.data("import v --into notes", 0);
    assert_eq!(counts(&again), [0, 17, 0, 0, 0]);
    assert_eq!(served.view("notes").nodes(), nodes, "nothing is written");
    let tiles = served.event("notes", "Tiles are white");
    // An edit, and what it makes new, changed, moved and gone.
    let edits: [(&str, &str, &str, [u64; 4]); 7] = [
        (
            "a line says something else",
            "walls are moss",
            "walls are white",
            [1, 0, 1, 1],
        ),
        (
            "a line is new",
            "## Later\n",
            "## Later\n- ask [[Jonas]]\n",
            [1, 0, 0, 0],
        ),
        ("a line went", "- lamps from Riga\n", "", [0, 0, 0, 1]),
        (
            "a property changed",
            "owner: Mira Weber",
            "owner: Jonas Low",
            [0, 1, 0, 0],
        ),
        ("a property went", "owner: Jonas Low\n", "", [0, 1, 0, 0]),
        (
            "a line moved below another heading",
            "- [decision] Tiles are white (after the visit)\n\n## Later\n",
            "\n## Later\n- [decision] Tiles are white (after the visit)\n",
            [0, 0, 1, 0],
        ),
        (
            "blank lines and a rule",
            "\n## Later",
            "\n\n---\n\n## Later",
            [0, 0, 0, 0],
        ),
    ];
    let mut note = KITCHEN.to_owned();
    for (what, from, to, expected) in edits {
        assert!(note.contains(from), "{what}: {note}");
        note = note.replace(from, to);
        served.put("v/Plans/Kitchen.md", &note);
        let dry = counts(&served.data("import v --into notes --dry-run", 0));
        let told = counts(&served.data("import v --into notes", 0));
        assert_eq!(dry, told, "{what}: a dry run says what would be");
        assert_eq!([told[0], told[2], told[3], told[4]], expected, "{what}");
        let again = counts(&served.data("import v --into notes", 0));
        assert_eq!(
            [again[0], again[2], again[3], again[4]],
            [0; 4],
            "{what}, again"
        );
    }
    // It is the same memory, as it is now.
    let view = served.view("notes");
    let moved = served.event("notes", "Kitchen plans › Later: Tiles are white");
    let ties = view.edges_of(moved, Direction::Outgoing).unwrap();
    let before = ties
        .iter()
        .find(|tie| tie.edge_type == EdgeType::SUPERSEDES);
    assert_eq!(before.map(|tie| tie.other), Some(tiles));
    let whole = served.edges("notes", "ask [[Jonas]]");
    let jonas = "Jonas Low\nemail: jonas@example.org".to_owned();
    assert!(whole.contains(&(EdgeType::RELATED_TO, jonas)), "{whole:?}");
    // A note is gone, and comes back; one is new; one has another name.
    fs::remove_file(served.path("v/Oven.md")).unwrap();
    let told = served.data("import v --into notes", 0);
    assert_eq!(
        (told["gone"].clone(), told["added"].clone()),
        (json!(2), json!(0))
    );
    served.put("v/Oven.md", "It is blue.\n");
    served.put("v/New.md", "about [[Jonas]]\n");
    let told = served.data("import v --into notes", 0);
    assert_eq!(told["added"], 4, "{told}");
    assert!(
        served
            .texts("notes")
            .contains(&"Oven: It is blue.".to_owned())
    );
    fs::rename(served.path("v/New.md"), served.path("v/Newer.md")).unwrap();
    let told = served.data("import v --into notes", 0);
    assert_eq!(
        (told["gone"].clone(), told["added"].clone()),
        (json!(2), json!(2))
    );
    // What the user hid stays so.
    let white = served.event("notes", "walls are white");
    served.data(&format!("forget notes {}", white.0), 0);
    assert_eq!(counts(&served.data("import v --into notes", 0))[0], 0);
    let texts = served.texts("notes");
    assert!(
        !texts.iter().any(|text| text.ends_with("walls are white")),
        "{texts:?}"
    );
}

#[test]
fn a_file_that_cannot_be_read_hides_nothing() {
    let served = ServedFolder::start();
    vault(&served);
    served.data("import v --into notes", 0);
    let before = served.texts("notes");
    served.put("v/Oven.md", b"It is blue.\n\xff\xfe\n");
    let told = served.data("import v --into notes", 0);
    assert_eq!(counts(&told)[4], 0, "{told}");
    assert_eq!(served.texts("notes"), before);
    // Alone it is a failure, and says where.
    served.refused(
        "import v/latin.md notes",
        5,
        "nothing_read",
        "latin.md:1: bad encoding",
        "--from",
    );
    // One note of a folder says nothing of the others.
    let told = served.data("import v/2026-01-31.md notes", 0);
    assert_eq!(counts(&told), [0, 2, 0, 0, 0], "{told}");
    assert_eq!(served.texts("notes"), before);
}

#[test]
fn a_folder_is_followed() {
    let served = ServedFolder::start();
    served.put("v/a.md", "one\n");
    let mut child = amemctl()
        .current_dir(served.path(""))
        .args(["import", "v", "--into", "notes", "--follow", "--json"])
        .arg("--socket")
        .arg(served.path("run/s"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> [u64; 5] {
        let line = lines.next().unwrap().unwrap();
        counts(&serde_json::from_str::<Value>(&line).unwrap()["data"])
    };
    assert_eq!(next(), [2, 0, 0, 0, 0]);
    // As editors write: under another name first.
    let save = |name: &str, text: &str| {
        served.put("new.tmp", text);
        fs::rename(served.path("new.tmp"), served.path(name)).unwrap();
    };
    save("v/a.md", "two words\n");
    assert_eq!(next(), [1, 1, 0, 0, 1]);
    save("v/b.md", "three\n");
    assert_eq!(next(), [2, 2, 0, 0, 0]);
    fs::remove_file(served.path("v/a.md")).unwrap();
    assert_eq!(next(), [0, 2, 0, 0, 2]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(served.texts("notes"), ["b", "b: three"]);
}

#[test]
fn a_followed_folder_survives_a_daemon_that_is_gone_for_a_while() {
    let mut served = ServedFolder::start();
    served.put("v/a.md", "one\n");
    let mut child = amemctl()
        .current_dir(served.path(""))
        .args(["import", "v", "--into", "notes", "--follow", "--json"])
        .args(["--no-autostart", "--socket"])
        .arg(served.path("run/s"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().expect("the import has ended").unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut says = |words: &str| {
        let said = notes.find(|line| line.as_ref().unwrap().contains(words));
        said.unwrap_or_else(|| panic!("it ended without {words:?}"))
    };
    next();
    for (round, name) in ["b", "c"].into_iter().enumerate() {
        served.kill();
        // What changes while nothing answers is imported once amemd is back.
        served.put(&format!("v/{name}.md"), format!("round {round}\n"));
        let said = says("goes on when amemd answers again").unwrap();
        assert!(said.contains("Ctrl-C"), "{said}");
        served.start_again();
        says("amemd answers again; the import goes on").unwrap();
        let told = serde_json::from_str::<Value>(&next()).unwrap();
        assert_eq!(counts(&told["data"])[0], 2, "{told}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut texts = served.texts("notes");
    texts.sort();
    let all = ["a", "a: one", "b", "b: round 0", "c", "c: round 1"];
    assert_eq!(texts, all, "nothing is lost or doubled");
}

#[test]
fn an_import_that_was_killed_is_completed_by_the_same_command() {
    const TURNS: usize = 12_000;
    let served = ServedFolder::start();
    let turn = |n: usize| {
        let session = format!("s{}", n / 1000);
        json!({"role": "user", "session": session, "content": format!("turn {n} of many")})
    };
    let lines: Vec<_> = (0..TURNS).map(|n| turn(n).to_string()).collect();
    served.put("chat.jsonl", lines.join("\n"));
    let mut child = amemctl()
        .current_dir(served.path(""))
        .args([
            "import",
            "chat.jsonl",
            "--as",
            "turns",
            "--into",
            "work",
            "--socket",
        ])
        .arg(served.path("run/s"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Something is written, and perhaps not all of it.
    let until = Instant::now() + Duration::from_secs(60);
    let file = served.path("brains/work.amem");
    while !file.exists() || served.view("work").nodes() == 0 {
        assert!(Instant::now() < until, "nothing is written");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = served.view("work").nodes();
    let told = served.data("import chat.jsonl --as turns --into work", 0);
    let [added, known, ..] = counts(&told);
    assert_eq!(added + known, TURNS as u64);
    assert!(known >= before, "{before}: {told}");
    let texts: BTreeSet<_> = served.texts("work").into_iter().collect();
    assert_eq!(
        (texts.len(), served.view("work").nodes()),
        (TURNS, TURNS as u64)
    );
    // Turns follow each other in their session, also where it was cut.
    let view = served.view("work");
    let follows = |id: u64| {
        let ties = view.edges_of(NodeId(id), Direction::Outgoing).unwrap();
        ties.iter()
            .any(|tie| tie.edge_type == EdgeType::TEMPORAL_NEXT)
    };
    let firsts = (0..TURNS as u64).filter(|id| !follows(*id)).count();
    assert_eq!(firsts, TURNS / 1000);
}
