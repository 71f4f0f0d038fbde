//! `amemctl import --format conversation`: turns of a conversation, through a daemon, into a brain.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use amem_client::Reader;
use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, NodeId};
use amem_query::Search;
use amem_query::time;
use amem_tests::programs::{amemctl, amemd};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A daemon on a folder of its own.
struct Daemon {
    child: Child,
    folder: TempDir,
}

impl Daemon {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("brains")).unwrap();
        Self::on(folder)
    }

    fn on(folder: TempDir) -> Self {
        let child = Command::new(amemd())
            .arg("--folder")
            .arg(folder.path().join("brains"))
            .arg("--socket")
            .arg(folder.path().join("run/s"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let daemon = Self { child, folder };
        let until = Instant::now() + Duration::from_secs(20);
        while !daemon.socket().exists() {
            assert!(Instant::now() < until, "amemd does not listen");
            std::thread::yield_now();
        }
        daemon
    }

    /// Kills it, and starts another on the same folder.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        fs::remove_file(self.socket()).unwrap();
        let nothing = tempfile::tempdir().unwrap();
        let folder = std::mem::replace(&mut self.folder, nothing);
        *self = Self::on(folder);
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("run/s")
    }

    /// Imports lines into the brain "b".
    fn import(&self, lines: &str, more: &[&str]) -> Output {
        let file = self.folder.path().join("turns.jsonl");
        fs::write(&file, lines).unwrap();
        import(&self.socket(), &file, more)
    }

    /// The same, and what it printed.
    fn imported(&self, lines: &str, more: &[&str]) -> Value {
        let ended = self.import(lines, more);
        assert!(ended.status.success(), "{ended:?}");
        let envelope: Value = serde_json::from_slice(&ended.stdout).unwrap();
        envelope["data"].clone()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("brains/b.amem")
    }

    fn view(&self) -> View {
        Reader::open(self.file()).unwrap().view().unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn import(socket: &Path, file: &Path, more: &[&str]) -> Output {
    let mut command = amemctl();
    command.args([
        "import",
        "--json",
        "--format",
        "conversation",
        "--brain",
        "b",
    ]);
    command.arg("--socket").arg(socket).arg(file).args(more);
    command.output().unwrap()
}

const KITCHEN: [(&str, &str, &str, &str); 5] = [
    (
        "kitchen/1",
        "Mira",
        "2026-01-05T18:00:00Z",
        "The oven is broken again, it only heats on one side.",
    ),
    (
        "kitchen/1",
        "Jonas",
        "2026-01-05T18:00:30Z",
        "Then we bake the bread at my sister's place.",
    ),
    (
        "garden/1",
        "Mira",
        "2026-01-06T09:00:00Z",
        "I planted tulips along the fence.",
    ),
    (
        "kitchen/1",
        "Mira",
        "2026-01-05T18:01:00Z",
        "Good, I bring the sourdough.",
    ),
    (
        "garden/1",
        "Jonas",
        "2026-01-06T09:02:00Z",
        "Moles ate mine last spring.",
    ),
];

fn kitchen() -> String {
    let mut lines = String::new();
    for (at, (session, speaker, time, text)) in KITCHEN.iter().enumerate() {
        let turn = json!({
            "session": session, "speaker": speaker, "text": text, "event_time": time, "id": format!("t{at}"),
        });
        writeln!(lines, "{turn}").unwrap();
    }
    lines
}

/// A long conversation in one session.
fn long(turns: usize) -> String {
    (0..turns).fold(String::new(), |mut lines, n| {
        let turn =
            json!({"session": "long", "speaker": "Ann", "text": format!("this is turn {n}")});
        writeln!(lines, "{turn}").unwrap();
        lines
    })
}

/// The event that an event follows.
fn before(view: &View, id: u64) -> Option<u64> {
    let ties = view.edges_of(NodeId(id), Direction::Outgoing).unwrap();
    let mut before = ties
        .iter()
        .filter(|tie| tie.edge_type == EdgeType::TEMPORAL_NEXT);
    before.next().map(|tie| tie.other.0)
}

#[test]
fn turns_become_facts_in_their_sessions_linked_in_order() {
    let daemon = Daemon::start();
    let told = daemon.imported(&kitchen(), &["--agent", "importer"]);
    assert_eq!(
        (&told["events"], &told["sessions"], &told["edges"]),
        (&json!(5), &json!(2), &json!(3))
    );
    assert_eq!(
        (&told["made"], &told["already_there"]),
        (&json!(true), &json!(0))
    );
    let view = daemon.view();
    assert_eq!(view.nodes(), 5);
    for (id, (session, speaker, at, text)) in (0..).zip(KITCHEN) {
        let event = view.node(NodeId(id)).unwrap().to_event().unwrap();
        assert_eq!(event.event_type, EventType::FACT);
        assert_eq!(event.text, format!("{speaker}: {text}"));
        assert_eq!(event.event_time, Some(time::parse(at).unwrap()));
        assert_eq!(Some(event.session), view.session_by_key(session).unwrap());
        let attributes = Value::Object(event.attributes.unwrap());
        assert_eq!(
            attributes,
            json!({"speaker": speaker, "source_id": format!("t{id}")})
        );
        assert!(event.vector.is_some());
    }
    let follows: Vec<_> = (0..5).map(|id| before(&view, id)).collect();
    assert_eq!(follows, [None, Some(0), None, Some(1), Some(2)]);
    let actor = view
        .find_actor(&format!("uid:{}", uid()), "importer")
        .unwrap();
    assert!(actor.is_some(), "the commits name their agent");
}

fn uid() -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid()
}

#[test]
fn an_imported_conversation_is_found_by_a_query() {
    let daemon = Daemon::start();
    daemon.imported(&kitchen(), &[]);
    for (question, id) in [
        ("What is wrong with the oven?", 0),
        ("Who lost tulips to moles?", 4),
    ] {
        let search = Search {
            question: question.into(),
            ..Search::default()
        };
        let hits = search.run(&daemon.view()).unwrap().hits;
        assert!(
            hits[..2].iter().any(|hit| hit.id == NodeId(id)),
            "{question}: {hits:?}"
        );
    }
}

#[test]
fn a_run_that_is_repeated_writes_nothing_twice() {
    let daemon = Daemon::start();
    let lines = long(700);
    let first = daemon.imported(&lines, &[]);
    let edges = daemon.view().edges();
    assert_eq!((daemon.view().nodes(), edges), (700, 699));
    let again = daemon.imported(&lines, &["--run-id", first["run"].as_str().unwrap()]);
    assert_eq!(again["already_there"], 700);
    assert_eq!((daemon.view().nodes(), daemon.view().edges()), (700, edges));
    // So is the same file: its run follows from what it says.
    let same = daemon.imported(&lines, &[]);
    assert_eq!(
        (&same["already_there"], &same["run"]),
        (&json!(700), &first["run"])
    );
    assert_eq!((daemon.view().nodes(), daemon.view().edges()), (700, edges));
    // Unless it is wanted once more.
    let another = daemon.imported(&lines, &["--again"]);
    assert_eq!(
        (&another["already_there"], &another["made"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(daemon.view().nodes(), 1400);
}

#[test]
fn events_of_an_unknown_run_are_not_duplicated_silently() {
    let daemon = Daemon::start();
    daemon.imported(&long(10), &["--again"]);
    // The same beginning, of a run that differs only in its id.
    for lines in [long(10), long(11)] {
        let ended = daemon.import(&lines, &[]);
        check_refused(
            &ended,
            5,
            &["is already in b: event 0"],
            "--again imports all of it again",
        );
    }
    assert_eq!(daemon.view().nodes(), 10);
    daemon.imported(&long(11), &["--again"]);
    assert_eq!(daemon.view().nodes(), 21);
    // Another beginning in the same session is another text.
    let more = r#"{"session": "long", "speaker": "Ann", "text": "later"}"#;
    daemon.imported(more, &[]);
    assert_eq!(before(&daemon.view(), 21), Some(20));
}

#[test]
fn an_interrupted_run_is_completed() {
    let daemon = Daemon::start();
    let run = uuid::Uuid::now_v7().to_string();
    // What a run has sent when its first batch of 512 is all that was answered.
    daemon.imported(&long(512), &["--run-id", &run]);
    let told = daemon.imported(&long(700), &["--run-id", &run]);
    assert_eq!(
        (&told["events"], &told["already_there"]),
        (&json!(700), &json!(512))
    );
    let view = daemon.view();
    assert_eq!(view.nodes(), 700);
    for id in 0..700 {
        assert_eq!(before(&view, id), id.checked_sub(1));
        let text = format!("Ann: this is turn {id}");
        assert_eq!(view.node(NodeId(id)).unwrap().text().unwrap(), text);
    }
}

#[test]
fn the_same_command_completes_an_import_that_was_killed_with_its_daemon() {
    let mut daemon = Daemon::start();
    let (turns, lines) = (4000, long(4000));
    let file = daemon.folder.path().join("turns.jsonl");
    fs::write(&file, &lines).unwrap();
    let mut running = amemctl();
    running.args(["import", "--format", "conversation", "--socket"]);
    running.arg(daemon.socket()).arg(&file).arg("b");
    let mut running = running.stdout(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let some = |daemon: &Daemon| {
        Reader::open(daemon.file()).is_ok_and(|r| r.view().unwrap().nodes() >= 512)
    };
    while !some(&daemon) {
        assert!(Instant::now() < until, "nothing is written");
        std::thread::yield_now();
    }
    running.kill().unwrap();
    running.wait().unwrap();
    daemon.kill();
    let there = daemon.view().nodes();
    assert!(
        (512..turns).contains(&there),
        "killed in the middle: {there}"
    );
    let told = daemon.imported(&lines, &[]);
    let already = told["already_there"].as_u64().unwrap();
    assert!(
        (there..turns).contains(&already) && already.is_multiple_of(512),
        "{told}"
    );
    let view = daemon.view();
    assert_eq!((view.nodes(), view.edges()), (turns, turns - 1));
    for id in 0..turns {
        assert_eq!(before(&view, id), id.checked_sub(1));
        let text = format!("Ann: this is turn {id}");
        assert_eq!(view.node(NodeId(id)).unwrap().text().unwrap(), text);
    }
}

#[test]
fn a_long_first_turn_is_found_again() {
    let daemon = Daemon::start();
    let turn = json!({"session": "s", "speaker": "Ann", "text": "\u{1f600}\"".repeat(20_000)});
    daemon.imported(&turn.to_string(), &["--again"]);
    let ended = daemon.import(&turn.to_string(), &[]);
    check_refused(&ended, 5, &["event 0"], "--again");
}

#[test]
fn a_run_repeated_with_another_file_is_refused_by_its_lines() {
    let daemon = Daemon::start();
    let run = uuid::Uuid::now_v7().to_string();
    daemon.imported(&long(10), &["--run-id", &run]);
    let ended = daemon.import(&long(11), &["--run-id", &run]);
    check_refused(
        &ended,
        5,
        &["lines 1 to 11 were refused", "another body"],
        &run,
    );
    assert_eq!(daemon.view().nodes(), 10);
}

#[test]
fn a_bad_line_is_named_and_nothing_is_written() {
    let daemon = Daemon::start();
    let lines = format!(
        "{}{{\"session\": \"kitchen/1\", \"speaker\": \"Mira\"}}\n",
        kitchen()
    );
    let ended = daemon.import(&lines, &[]);
    check_refused(&ended, 5, &["line 6 of ", "missing field `text`"], "");
    assert!(!daemon.file().exists(), "not even the brain is made");
    let ended = daemon.import("\n\n", &[]);
    check_refused(&ended, 5, &["has no turn in it"], "");
}

#[test]
fn invalid_conversations_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, file) = (folder.path().join("s"), folder.path().join("turns.jsonl"));
    fs::write(&file, kitchen()).unwrap();
    let nobody = import(&socket, &file, &["--no-autostart"]);
    check_refused(&nobody, 7, &["no amemd answers on "], "--socket");
    let both = import(&socket, &file, &["new.amem"]);
    check_refused(&both, 2, &["cannot be used with"], "--help");
    let id = uuid::Uuid::new_v4().to_string();
    let id = import(&socket, &file, &["--run-id", &id]);
    check_refused(&id, 5, &["is not a UUIDv7"], "");
    let mut other = amemctl();
    other.args(["import", "--json"]).arg(&file).arg("new.amem");
    check_refused(
        &other.output().unwrap(),
        2,
        &["conversation is imported into a brain of amemd, not into a new file"],
        "name a brain",
    );
}

/// An envelope that says no, with this exit code, these words, and this in its remedy.
fn check_refused(ended: &Output, exit: i32, words: &[&str], remedy: &str) {
    assert_eq!(ended.status.code(), Some(exit), "{ended:?}");
    let envelope: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let error = &envelope["error"];
    assert_eq!(error["exit"], exit);
    for word in words {
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
    assert!(
        error["remedy"].as_str().unwrap().contains(remedy),
        "{error}"
    );
}
