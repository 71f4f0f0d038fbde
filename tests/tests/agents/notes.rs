//! What agents noted of their requests, held against the brain and against what was followed.

use std::collections::{BTreeMap, BTreeSet};

use amem_client::core::view::View;
use amem_client::core::{EdgeType, NodeId};
use amem_client::v1;
use amem_tests::agents::{Act, ActOutcome, Verb};

use crate::commits::FollowerLog;

/// What all agents did.
#[derive(Debug, Default)]
pub(crate) struct ActSummary {
    /// What each new event says, by its id.
    pub(crate) events: BTreeMap<u64, String>,
    /// Edges: source, type, target.
    pub(crate) edges: BTreeSet<(u64, String, u64)>,
    /// Events that a careful correction replaced.
    careful: Vec<u64>,
    /// How much was corrected.
    pub(crate) corrections: usize,
    /// How often heads were brought together.
    pub(crate) settled: usize,
    /// Answers that were given once more.
    pub(crate) again: usize,
    /// What was refused, because another agent was faster, or has closed the session.
    pub(crate) refused: usize,
}

impl ActSummary {
    /// Of what agents noted; an error is something that none should have met.
    pub(crate) fn of<'a>(
        acts: impl IntoIterator<Item = &'a (Act, ActOutcome)>,
    ) -> Result<Self, String> {
        let mut done = Self::default();
        for (act, fate) in acts {
            done.again += fate.again;
            match (fate.answer, &fate.refused) {
                (Some(answer), None) => done.push(act, answer)?,
                (None, Some(_)) => done.refused += 1,
                _ => return Err(format!("nobody knows what became of {act:?}: {fate:?}")),
            }
        }
        done.careful.sort_unstable();
        match done.careful.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(format!("two replaced {} that found it unreplaced", two[0])),
            None => Ok(done),
        }
    }

    fn push(&mut self, act: &Act, answer: u64) -> Result<(), String> {
        let supersedes = "supersedes".to_owned();
        match &act.verb {
            Verb::Link(source, edge_type, target) => {
                let name = match edge_type {
                    v1::EdgeType::Contradicts => "contradicts",
                    _ => "supports",
                };
                self.edges.insert((*source, name.to_owned(), *target));
                return Ok(());
            }
            Verb::Correct(target) | Verb::Careful(target) => {
                self.corrections += 1;
                self.edges.insert((answer, supersedes, *target));
                if matches!(act.verb, Verb::Careful(_)) {
                    self.careful.push(*target);
                }
            }
            Verb::Settle(heads) => {
                self.settled += 1;
                let edges = heads.iter().map(|&head| (answer, supersedes.clone(), head));
                self.edges.extend(edges);
            }
            Verb::Add => {}
        }
        match self.events.insert(answer, act.text.clone()) {
            None => Ok(()),
            Some(other) => Err(format!("event {answer} for {other:?} and for {act:?}")),
        }
    }

    /// What replaced what.
    pub(crate) fn replaced(&self) -> Vec<(u64, u64)> {
        pairs(&self.edges, "supersedes")
    }

    /// What contradicts what.
    pub(crate) fn contradictions(&self) -> Vec<(u64, u64)> {
        pairs(&self.edges, "contradicts")
    }

    /// All of it is in the brain, once, and nothing else.
    pub(crate) fn check_brain(&self, view: &View) -> Result<(), String> {
        let held = (0..view.nodes()).map(|id| (id, view.node(NodeId(id)).unwrap().text().unwrap()));
        let held: BTreeMap<u64, String> = held.map(|(id, text)| (id, text.into())).collect();
        self.check_events(&held)?;
        for (source, name, target) in &self.edges {
            let edge_type = match name.as_str() {
                "contradicts" => EdgeType::CONTRADICTS,
                "supersedes" => EdgeType::SUPERSEDES,
                _ => EdgeType::SUPPORTS,
            };
            let found = view.find_edge(NodeId(*source), NodeId(*target), edge_type);
            if found.unwrap().is_none() {
                return Err(format!("{source} {name} {target} is lost"));
            }
        }
        if view.edges() == self.edges.len() as u64 {
            Ok(())
        } else {
            Err(format!("{} edges of {}", view.edges(), self.edges.len()))
        }
    }

    /// All of it was followed, once, and nothing else; events in the order of their ids.
    pub(crate) fn check_seen(&self, seen: &FollowerLog) -> Result<(), String> {
        let mut held = BTreeMap::new();
        for words in seen.holding("event") {
            let id: u64 = words[1].parse().unwrap();
            if id != held.len() as u64 {
                return Err(format!("event {id} came after {} events", held.len()));
            }
            held.insert(id, words[4].to_owned());
        }
        self.check_events(&held)?;
        let edges: BTreeSet<_> = seen.holding("edge").map(|words| edge(&words)).collect();
        match edges.symmetric_difference(&self.edges).next() {
            Some(edge) => Err(format!("{edge:?} was done or followed, and not both")),
            None => Ok(()),
        }
    }

    fn check_events(&self, held: &BTreeMap<u64, String>) -> Result<(), String> {
        let lost = self
            .events
            .iter()
            .find(|(id, text)| held.get(id) != Some(text));
        if let Some((id, text)) = lost {
            return Err(format!(
                "event {id}, {text:?}, is lost: it says {:?}",
                held.get(id)
            ));
        }
        let texts: BTreeSet<&String> = held.values().collect();
        if texts.len() != held.len() {
            return Err(format!("{} events say {} things", held.len(), texts.len()));
        }
        match held.keys().find(|id| !self.events.contains_key(id)) {
            Some(id) => Err(format!("nobody was told of event {id}, {:?}", held[id])),
            None => Ok(()),
        }
    }
}

fn edge(words: &[&str]) -> (u64, String, u64) {
    let id = |at: usize| words[at].parse().unwrap();
    (id(1), words[2].to_owned(), id(3))
}

fn pairs(edges: &BTreeSet<(u64, String, u64)>, wanted: &str) -> Vec<(u64, u64)> {
    let edges = edges.iter().filter(|(_, name, _)| name == wanted);
    edges
        .map(|(source, _, target)| (*source, *target))
        .collect()
}

/// What followers can tell of what replaced what.
pub(crate) fn replaced(seen: &FollowerLog) -> Vec<(u64, u64)> {
    pairs(
        &seen.holding("edge").map(|words| edge(&words)).collect(),
        "supersedes",
    )
}

#[test]
fn lost_duplicated_and_invented_events_are_reported() {
    let acts = |text: &str| amem_tests::agents::acts(text).unwrap();
    let right = "begin\ta\t1\tadd\t\tx\ndone\ta\t0\nagain\ta\t0\nbegin\tb\t1\tcareful\t0\ty\ndone\tb\t1\n\
                 begin\tc\t1\tcareful\t0\tz\nrefused\tc\tCONDITION\n";
    let done = ActSummary::of(&acts(right)).unwrap();
    assert_eq!((done.corrections, done.again, done.refused), (1, 1, 1));
    assert_eq!(done.replaced(), [(1, 0)]);
    let two = |texts: [&str; 2]| {
        (0..)
            .zip(texts.map(str::to_owned))
            .collect::<BTreeMap<u64, _>>()
    };
    done.check_events(&two(["x", "y"])).unwrap();
    let mut more = two(["x", "y"]);
    more.insert(2, "y".to_owned());
    assert!(
        done.check_events(&more)
            .unwrap_err()
            .contains("say 2 things")
    );
    more.insert(2, "z".to_owned());
    assert!(
        done.check_events(&more)
            .unwrap_err()
            .contains("nobody was told")
    );
    for lost in [["x", "z"], ["y", "x"]] {
        assert!(
            done.check_events(&two(lost))
                .unwrap_err()
                .contains("is lost")
        );
    }
    let seen = |commits: &str| FollowerLog::of(&commits.replace('/', "\t"));
    let commits = "1/1/1/ingest/a/u/event 0 fact 1 x\n1/2/1/correct/a/u/event 1 correction 1 y | edge 1 supersedes 0 1.000";
    done.check_seen(&seen(commits)).unwrap();
    for wrong in [
        commits.replace("event 1", "event 2"),
        commits.replace(" y", " z"),
        commits.replace(" | edge 1 supersedes 0 1.000", ""),
        commits.replace("edge 1 supersedes", "edge 1 supports"),
    ] {
        assert!(done.check_seen(&seen(&wrong)).is_err(), "{wrong}");
    }
    let wrong = [
        right.replace("refused\tc\tCONDITION", "done\tc\t2"),
        right.replace("done\tb\t1", "done\tb\t0"),
        right.replace("done\tb\t1\n", ""),
    ];
    for noted in wrong {
        assert!(ActSummary::of(&acts(&noted)).is_err(), "{noted}");
    }
    let other = right.replace("again\ta\t0", "again\ta\t1");
    assert!(amem_tests::agents::acts(&other).is_err());
}
