//! Steps on what agents believe: remember, search, why, correct, as of, compress, decay.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::time::Duration;

use amem_client::v1;
use amem_format::journal::op::Op;
use amem_format::view::View;
use amem_format::{Lsn, Micros, NodeId};
use amem_query::{Why, time};
use serde_json::Value;

use super::demo_state::{Correction, Demo, number, rows};
use super::transcript::{Transcript, wrong};
use super::write_load::BRAIN;
use crate::failure::Failure;
use crate::when::time_of_day;

/// The sessions of two agents, who help to build a booking service for a marina. All of it is invented.
const SESSIONS: [(&str, &str); 2] = [
    ("planner", include_str!("planning.jsonl")),
    ("keeper", include_str!("launch.jsonl")),
];
/// What the second agent does after them: corrections and edges, each a command and a text.
#[rustfmt::skip]
const CHANGES: [(&str, &str); 12] = [
    ("correct marina 0 --happened 2026-04-13T08:33:00Z", "Since April the marina has 86 berths: 60 for residents and 26 for visitors."),
    ("correct marina 10 --happened 2026-04-13T08:45:00Z", "The nightly backup starts at 03:30 UTC, after the tide import."),
    ("correct marina 10 --happened 2026-04-13T08:51:00Z", "The nightly backup starts at 03:45 UTC, when the tide import has ended."),
    ("link marina 24 supports 9", ""),
    ("link marina 26 related-to 11", ""),
    ("link marina 36 related-to 17", ""),
    ("link marina 37 caused-by 18", ""),
    ("link marina 40 caused-by 24", ""),
    ("link marina 40 part-of 38", ""),
    ("link marina 41 caused-by 25", ""),
    ("sessions close marina marina/planning --outcome", "planned: an embedded database, one writer"),
    ("sessions close marina marina/after-launch --outcome", "fixed: backups, double bookings"),
];
/// Events after these steps.
const EVENTS: u64 = 42;
/// The first beliefs about the backup and the berths, and the newest corrections of them.
pub(super) const BACKUP: u64 = 10;
pub(super) const BERTHS: [u64; 2] = [0, 39];
const CHAIN: [u64; 3] = [BACKUP, 40, 41];
/// The decision to explain, and all that it rests on.
const DECISION: u64 = 7;
const EVIDENCE: [u64; 4] = [5, 1, 2, 3];

const QUESTION: &str = "At what time does the nightly backup start?";
/// What an agent learns while the demo runs, and why.
pub(super) const CORRECTION: [&str; 2] = [
    "The nightly backup starts at 04:15 UTC, because the tide import ends at 04:00.",
    "the backup of 4 May began while tides were still being imported",
];
const SUMMARY: &str = "March, planning: bookings are kept in SQLite by one process, free berths are public, \
                       names of guests are not, and the backup runs at night.";
/// How long the two notes take to lose half of their strength. Real ones take weeks.
const HALF_LIFE: Duration = Duration::from_millis(50);
/// The later time at which strengths are shown.
const LATER_DAYS: i64 = 90;

pub(super) fn remember(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let (mut edges, mut lsn) = (0, 0);
    let file = demo.sandbox.folder.join("session.jsonl");
    for (agent, events) in SESSIONS {
        fs::write(&file, events).map_err(|e| Failure::io("write", &file, &e))?;
        let import = format!("import --format events --agent {agent}");
        edges += number(&demo.json(&import, &[&file.to_string_lossy(), BRAIN])?["edges"]);
    }
    for (command, text) in CHANGES {
        let agent = "--agent keeper";
        let command = match command.split_once(' ') {
            Some(("correct", rest)) => format!(
                "correct {agent} --to-head --confidence 0.9 --session marina/after-launch {rest}"
            ),
            Some(("link", rest)) => format!("link {agent} {rest}"),
            _ => command.to_owned(),
        };
        edges += u64::from(!command.starts_with("sessions"));
        let texts = [text];
        let answer = demo.json(&command, &texts[usize::from(text.is_empty())..])?;
        lsn = number(&answer["commit"]["lsn"]);
    }
    let view = demo.view()?;
    let ids: Vec<_> = (0..view.nodes()).map(|id| id.to_string()).collect();
    let get = format!("get marina {} --edges --no-touch", ids.join(" "));
    let events = demo.json(&get, &[])?["events"].take();
    let all_edges = rows(&events).iter().flat_map(|event| {
        let id = number(&event["id"]);
        let edges = rows(&event["edges"]).iter();
        edges.filter(move |edge| number(&edge["source"]) == id)
    });
    let counts = [
        ("events", count_types(rows(&events).iter())),
        ("edges", count_types(all_edges)),
    ];
    for (what, counts) in &counts {
        let each = counts.iter().map(|(name, count)| format!("{name} {count}"));
        page.show(format_args!(
            "{what}: {}",
            each.collect::<Vec<_>>().join(", ")
        ))?;
    }
    let is_whole = view.nodes() == EVENTS && view.edges() == edges;
    check!(page, "the file has the {EVENTS} events and {edges} edges" => is_whole);
    let has_all = counts[0].1.len() == 6 && counts[1].1.len() == 7;
    check!(page, "all six types of events are among them, and all seven types of edges" => has_all);
    check!(page, "it is at commit {lsn}, the last that was answered" => view.lsn().0 == lsn);
    Ok(())
}

/// Counts events or edges by type, such as `caused-by`.
fn count_types<'r>(rows: impl Iterator<Item = &'r Value>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let name = row["type"].as_str().unwrap_or_default();
        let name = name.trim_start_matches("EVENT_TYPE_");
        let name = name.trim_start_matches("EDGE_TYPE_").to_ascii_lowercase();
        *counts.entry(name.replace('_', "-")).or_default() += 1;
    }
    counts
}

pub(super) fn search(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let hits = hits(demo, page)?;
    let is_sum = |hit: &Value| {
        let part = |name| hit[name].as_f64().unwrap_or_default();
        let parts: f64 = ["textScore", "vectorScore", "neighbourScore", "sessionScore"]
            .map(part)
            .iter()
            .sum();
        (parts - part("score")).abs() < 1e-5
    };
    check!(page, "each score is the sum of its parts" => rows(&hits).iter().all(is_sum) && rows(&hits).len() == 3);
    check!(page, "what is believed now comes first" => number(&hits[0]["event"]["id"]) == CHAIN[2]);
    Ok(())
}

/// Shows and returns the three best answers to the question.
fn hits(demo: &Demo, page: &mut Transcript<'_>) -> Result<Value, Failure> {
    let search = "search marina --limit 3";
    page.show(format_args!("{QUESTION:?}"))?;
    demo.show(page, search, &[QUESTION])?;
    Ok(demo.json(search, &[QUESTION])?["hits"].take())
}

pub(super) fn why(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    demo.show(page, &format!("why marina {DECISION}"), &[])?;
    let reasons = reasons(demo)?;
    let has_all = EVIDENCE.iter().all(|id| reasons.contains(id));
    check!(page, "its cause and both levels of its evidence are there" => has_all);
    let why = Why {
        event: NodeId(DECISION),
        ..Why::default()
    };
    let read = why.run(&demo.view()?)?.steps;
    let is_same = read.iter().map(|step| step.id.0).eq(reasons);
    check!(page, "this process reads the same from the file" => is_same);
    Ok(())
}

/// What the decision rests on, as the daemon answers it.
fn reasons(demo: &Demo) -> Result<Vec<u64>, Failure> {
    let steps = demo.ask(demo.brain.why(DECISION))?.steps;
    let ids = steps.into_iter().filter_map(|step| Some(step.event?.id));
    Ok(ids.collect())
}

pub(super) fn correct(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let before = demo.head(BACKUP)?;
    page.row(format_args!("before: [{}] {}", before.id, before.text))?;
    let done = demo.replace("keeper", BACKUP, CORRECTION)?;
    let after = demo.ask(demo.brain.resolve(BACKUP))?;
    let (chain, head) = (after.chain, after.head.unwrap_or_default());
    page.row(format_args!("after:  [{}] {}", head.id, head.text))?;
    check!(page, "the correction replaced the newest belief" => done.old == before.id && done.old == CHAIN[2]);
    let is_agreed = head.id == done.new && !after.contested;
    check!(page, "two agents do not disagree: there is one newest belief" => is_agreed);
    show_chain(demo, page, &chain, &done)?;
    let is_first = number(&hits(demo, page)?[0]["event"]["id"]) == done.new;
    check!(page, "asked again, the correction comes first, and nothing that it replaced" => is_first);
    demo.correction = done;
    Ok(())
}

/// Shows the beliefs of a chain, and who changed them when.
fn show_chain(
    demo: &Demo,
    page: &mut Transcript<'_>,
    chain: &[v1::Event],
    done: &Correction,
) -> Result<(), Failure> {
    let ids: Vec<_> = chain.iter().map(|event| event.id.to_string()).collect();
    let get = format!("get marina {} --history --no-touch", ids.join(" "));
    let events = demo.json(&get, &[])?["events"].take();
    let (view, mut is_in_order) = (demo.view()?, true);
    page.show("what was believed, the oldest first, and who changed it when:")?;
    for (at, event) in chain.iter().enumerate() {
        let (made, by) = commit_of(&view, event.id)?;
        page.row(format_args!("[{}] {}", event.id, event.text))?;
        page.row(format_args!("    remembered {by}, commit {made}"))?;
        let history = rows(&events[at]["history"]).iter();
        let changes: Vec<_> = history.filter(|row| row["field"] == "confidence").collect();
        for change in &changes {
            let (before, now) = (
                change["before"].as_f64().unwrap_or_default(),
                event.confidence,
            );
            let (_, by) = commit_at(&view, number(&change["lsn"]))?;
            page.row(format_args!(
                "    confidence {before:.2} → {now:.2} {by}, commit {}",
                change["lsn"]
            ))?;
        }
        is_in_order &= match chain.get(at + 1) {
            // The commit of the next belief took this one's confidence.
            Some(next) => {
                let replaced = commit_of(&view, next.id)?.0;
                event.confidence == 0.0 && changes.len() == 1 && changes[0]["lsn"] == replaced
            }
            None => event.confidence > 0.9 && changes.is_empty() && by.starts_with("by keeper"),
        };
    }
    let expected = CHAIN.into_iter().chain([done.new]);
    check!(page, "four beliefs, of which the last holds" => chain.iter().map(|event| event.id).eq(expected));
    check!(page, "each was replaced by the commit of the next one" => is_in_order);
    let newest = events.as_array().and_then(|events| events.last());
    let reason = newest.map_or(&Value::Null, |event| &event["reason"]);
    check!(page, "the reason is kept: {}", CORRECTION[1] => reason == CORRECTION[1]);
    Ok(())
}

pub(super) fn as_of(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let (done, before) = (&demo.correction, demo.correction.lsn - 1);
    let resolve = format!("resolve marina {BACKUP} --as-of {before}");
    let then = demo.json(&resolve, &[])?["head"].take();
    let now = demo.head(BACKUP)?;
    let confidence = then["confidence"].as_f64().unwrap_or_default();
    let (id, text) = (
        number(&then["id"]),
        then["text"].as_str().unwrap_or_default(),
    );
    page.row(format_args!(
        "{:<12} {confidence:.2} [{id}] {text}",
        format!("at commit {before}")
    ))?;
    page.row(format_args!(
        "{:<12} {:.2} [{}] {}",
        "now", now.confidence, now.id, now.text
    ))?;
    check!(page, "then the old belief held, with its full confidence" => id == done.old && confidence > 0.8);
    check!(page, "now the new one holds" => now.id == done.new);
    Ok(())
}

pub(super) fn compress(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let listed = |option: &str| {
        let query = demo.json(&format!("query marina --limit 1000 {option}"), &[])?;
        let ids = rows(&query["events"])
            .iter()
            .map(|event| number(&event["id"]));
        Ok::<HashSet<u64>, Failure>(ids.collect())
    };
    let before = listed("")?;
    let done = demo.json(
        "compress marina marina/planning --agent planner",
        &[SUMMARY],
    )?;
    let id = number(&done["eventId"]);
    let get = format!("get marina {id} --no-touch");
    demo.show(page, &get, &[])?;
    let episode = &demo.json(&(get + " --edges"), &[])?["events"][0];
    let edges = rows(&episode["edges"]).iter();
    let edges = edges.filter(|edge| number(&edge["target"]) == id);
    let parts = edges.filter(|edge| edge["type"] == "EDGE_TYPE_PART_OF");
    let parts: HashSet<u64> = parts.map(|edge| number(&edge["source"])).collect();
    let has_edges = number(&done["edges"]) == parts.len() as u64 && !parts.is_empty();
    let is_whole = has_edges && episode["text"] == SUMMARY;
    check!(page, "{} events are part of it, each by an edge", parts.len() => is_whole);
    let (after, all) = (listed("")?, listed("--compressed")?);
    let (many, few) = (before.len(), after.len());
    let is_left_out = after.is_disjoint(&parts) && after.contains(&id);
    let is_left_out = is_left_out && many + 1 == few + parts.len();
    check!(page, "a listing had {many} events, and has {few} now, unless it asks for all" => is_left_out);
    let has_all = parts.is_subset(&all) && all.len() == many + 1;
    check!(page, "asked for all of them, it has {}", all.len() => has_all);
    let reasons = reasons(demo)?;
    let is_whole = EVIDENCE.iter().all(|id| reasons.contains(id))
        && reasons.iter().all(|id| parts.contains(id));
    check!(page, "the graph is whole: the decision still rests on its evidence, though no listing shows it" => is_whole);
    Ok(())
}

pub(super) fn decay(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let half_life = HALF_LIFE.as_micros() as f64;
    let per_day = Micros::DAY as f64 / half_life * std::f64::consts::LN_2;
    let add = format!("add marina --confidence 0.8 --lambda {per_day} --agent planner");
    let added = |text: &str| {
        let answer = demo.json(&add, &[text])?;
        Ok::<u64, Failure>(number(&answer["eventIds"][0]))
    };
    let pinned = added("Pier B is closed until further notice.")?;
    demo.json(&format!("pin marina {pinned}"), &[])?;
    let loose = added("A swan sits on pier A.")?;
    std::thread::sleep(HALF_LIFE);
    let run = demo.json("decay marina --agent planner", &[])?;
    let after = demo.json(&format!("get marina {pinned} {loose} --no-touch"), &[])?;
    let (pinned, loose) = (&after["events"][0], &after["events"][1]);
    let at = |time: &Value| time::parse(time.as_str().unwrap_or_default());
    let age = (at(&run["commit"]["time"])?.0 - at(&loose["createdAt"])?.0) as f64;
    let (half, passed) = (HALF_LIFE.as_millis(), age / 1000.0);
    page.show(format_args!(
        "two notes, made to halve every {half} ms; {passed:.0} ms later:"
    ))?;
    let strength = |event: &Value| event["strength"].as_f64().unwrap_or(f64::NAN);
    for (name, event) in [("pinned", pinned), ("not pinned", loose)] {
        page.show(format_args!(
            "{name:<10} strength 0.80 → {:.2}",
            strength(event)
        ))?;
    }
    let (expected, faded) = (0.8 * (-age / half_life).exp2(), strength(loose));
    let has_faded = (faded - expected).abs() < 1e-4 && faded < 0.8 / 1.9;
    check!(page, "one has faded, by the formula" => has_faded);
    let is_as_added = |value: &Value| (value.as_f64().unwrap_or(f64::NAN) - 0.8).abs() < 1e-6;
    let has_lasted = is_as_added(&pinned["strength"]) && pinned["pinned"] == true;
    check!(page, "the pinned one has not" => has_lasted);
    let is_same = is_as_added(&pinned["confidence"]) && is_as_added(&loose["confidence"]);
    check!(page, "their confidence is the same as before" => is_same);
    let (view, mut shown, mut left) = (demo.view()?, Vec::new(), Vec::new());
    let later = Micros(view.time().0 + LATER_DAYS * Micros::DAY);
    for (name, id) in [("skill", 11), ("fact", 2), ("inference", 15)] {
        let node = view.node(NodeId(id))?;
        let (now, then) = (node.confidence(), node.strength_at(later)?);
        shown.push(format!("{name} {now:.2} → {then:.2}"));
        left.push(then / now);
    }
    page.show(format_args!(
        "and after {LATER_DAYS} days without use: {}",
        shown.join(", ")
    ))?;
    check!(page, "skills last longer than facts, and facts longer than conclusions" => left.is_sorted_by(|a, b| a > b));
    Ok(())
}

/// The commit that made an event. All commits of the brain are still in its journal.
fn commit_of(view: &View, event: u64) -> Result<(u64, String), Failure> {
    find_commit(
        view,
        |_, op| matches!(op, Op::Event(node) if node.id.0 == event),
    )
}

fn commit_at(view: &View, lsn: u64) -> Result<(u64, String), Failure> {
    find_commit(view, |at, _| at == lsn)
}

/// The first commit with an operation: its LSN, its agent and time in words.
fn find_commit(
    view: &View,
    is_it: impl Fn(u64, &Op<'_>) -> bool,
) -> Result<(u64, String), Failure> {
    let mut lsn = Lsn(0);
    while let Some(committed) = view.commit_after(lsn)? {
        let commit = &committed.commit;
        lsn = commit.lsn;
        for op in committed.ops() {
            if is_it(lsn.0, &op?) {
                let actor = view.actor(commit.actor)?;
                let (agent, principal, at) =
                    (actor.agent, actor.principal, time_of_day(commit.time));
                return Ok((lsn.0, format!("by {agent} ({principal}) at {at}")));
            }
        }
    }
    Err(wrong("the file has every commit"))
}
