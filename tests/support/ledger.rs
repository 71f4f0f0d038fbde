//! What clients were answered, and whether a brain holds it: nothing lost, nothing duplicated.
//!
//! Each client's texts are its own and never used twice, so a duplicated event shows. Promises: every difference is
//! named. Not here: making requests (`amem-writer`), killing daemons (`tests/kill`).

use std::collections::{HashMap, HashSet};
use std::fmt;

use amem_format::view::View;
use amem_format::{EdgeType, NodeId, Result};
use serde::{Deserialize, Serialize};

/// One answered request.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Receipt {
    /// The commit.
    pub lsn: u64,
    /// True if an earlier attempt had been executed.
    pub replayed: bool,
    /// How often it was asked again.
    pub retries: u64,
    /// The events that it made: id and text.
    pub events: Vec<(u64, String)>,
    /// The edges that it made: source, target, type as the file has it.
    pub edges: Vec<(u64, u64, u8)>,
}

/// How a brain compares with what clients were answered.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Requests that were answered.
    pub acknowledged: u64,
    /// Of them, requests that were asked more than once.
    pub retried: u64,
    /// Of them, requests whose answer came from an earlier attempt.
    pub replayed: u64,
    /// Events that they made.
    pub events: u64,
    /// Edges that they made.
    pub edges: u64,
    /// What they made and is not there.
    pub lost: Vec<String>,
    /// Events that are there more often than once.
    pub doubled: Vec<String>,
    /// Events of which no client has an answer.
    pub strange: Vec<String>,
    /// Commits whose numbers don't ascend, or are given to two.
    pub disordered: Vec<String>,
}

impl Verdict {
    /// Holds a brain against the ledgers of its clients, each in the order of its answers.
    pub fn of(view: &View, ledgers: &[Vec<Receipt>]) -> Result<Self> {
        let mut verdict = Self::default();
        let mut times: HashMap<String, u64> = HashMap::new();
        for id in 0..view.nodes() {
            let text = view.node(NodeId(id))?.text()?.into_owned();
            *times.entry(text).or_default() += 1;
        }
        let mut lsns = HashSet::new();
        for (client, ledger) in ledgers.iter().enumerate() {
            let mut last = 0;
            for told in ledger {
                if told.lsn <= last || !lsns.insert(told.lsn) {
                    let what = format!("client {client}: LSN {} after {last}", told.lsn);
                    verdict.disordered.push(what);
                }
                last = told.lsn;
                verdict.one(view, told, &mut times)?;
            }
        }
        verdict.strange = times.into_keys().collect();
        Ok(verdict)
    }

    fn one(&mut self, view: &View, told: &Receipt, times: &mut HashMap<String, u64>) -> Result<()> {
        self.acknowledged += 1;
        self.retried += u64::from(told.retries > 0);
        self.replayed += u64::from(told.replayed);
        for (id, text) in &told.events {
            self.events += 1;
            let is_there = *id < view.nodes() && view.node(NodeId(*id))?.text()? == *text;
            if !is_there || !times.contains_key(text) {
                self.lost.push(format!("event {id} {text:?}"));
            }
            if let Some(times @ 2..) = times.remove(text) {
                self.doubled.push(format!("{times} times {text:?}"));
            }
        }
        for &(source, target, edge_type) in &told.edges {
            self.edges += 1;
            let edge = if source.max(target) < view.nodes() {
                view.find_edge(NodeId(source), NodeId(target), EdgeType(edge_type))?
            } else {
                None
            };
            if edge.is_none() {
                let what = format!("edge from {source} to {target} of type {edge_type}");
                self.lost.push(what);
            }
        }
        Ok(())
    }

    /// True if the brain holds exactly what clients were answered.
    pub fn is_right(&self) -> bool {
        let wrong = [&self.lost, &self.doubled, &self.strange, &self.disordered];
        wrong.iter().all(|list| list.is_empty())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} requests acknowledged ({} events, {} edges), {} retried, {} replayed, {} lost, {} doubled, \
             {} of nobody, {} out of order",
            self.acknowledged,
            self.events,
            self.edges,
            self.retried,
            self.replayed,
            self.lost.len(),
            self.doubled.len(),
            self.strange.len(),
            self.disordered.len()
        )
    }
}
