//! The sample memory of the demo: two agents help to build a booking service for a marina.
//!
//! Forty-two events in two sessions, with every event type and every edge type: a decision with its evidence,
//! beliefs that were corrected, two opinions in conflict, a fault followed to its cause. Marina and agents
//! are invented. Temporal-next edges are not listed: ingest ties the events of a session itself.

use amem_format::{EdgeType, EventType};

/// A session of the sample.
pub(crate) struct Session {
    /// Its key.
    pub(crate) key: &'static str,
    /// The agent that remembers.
    pub(crate) agent: &'static str,
    /// When it began, RFC 3339; its events follow three minutes apart.
    pub(crate) began: &'static str,
    /// How it ended.
    pub(crate) outcome: &'static str,
    /// What was remembered, in order.
    pub(crate) memories: &'static [Memory],
}

/// One event of the sample.
pub(crate) struct Memory {
    /// Names it within the sample.
    pub(crate) key: &'static str,
    /// Its type.
    pub(crate) kind: EventType,
    /// 0..=1.
    pub(crate) confidence: f32,
    /// What it says.
    pub(crate) text: &'static str,
}

/// One edge of the sample, between keys.
pub(crate) struct Tie {
    /// Where it starts.
    pub(crate) source: &'static str,
    /// What it means.
    pub(crate) edge: EdgeType,
    /// Where it ends; never in a later session than the source.
    pub(crate) target: &'static str,
}

const fn memory(key: &'static str, kind: EventType, confidence: f32, text: &'static str) -> Memory {
    Memory {
        key,
        kind,
        confidence,
        text,
    }
}

const fn tie(source: &'static str, edge: EdgeType, target: &'static str) -> Tie {
    Tie {
        source,
        edge,
        target,
    }
}

use EdgeType as Is;
use EventType as A;

/// The sessions, in order.
pub(crate) const SESSIONS: [Session; 2] = [
    Session {
        key: "marina/planning",
        agent: "planner",
        began: "2026-03-02T09:00:00Z",
        outcome: "planned: an embedded database, one writer, public free berths",
        memories: &[
            memory(
                "berths",
                A::FACT,
                0.95,
                "The marina has 84 berths: 60 for residents and 24 for visitors.",
            ),
            memory(
                "peak",
                A::FACT,
                0.9,
                "On the busiest day of last summer 41 bookings arrived within one hour.",
            ),
            memory(
                "server",
                A::FACT,
                0.95,
                "The harbour office has one small server with 4 GB of memory, and nobody to look after a database.",
            ),
            memory(
                "sheet",
                A::FACT,
                0.9,
                "The old booking sheet went round by mail, and berths were given twice six times last season.",
            ),
            memory(
                "free-berths",
                A::SKILL,
                0.9,
                "To list free berths, take those that fit the boat's length and draught, then remove the ones booked for any of the nights.",
            ),
            memory(
                "light-load",
                A::INFERENCE,
                0.85,
                "Fewer than a hundred writes an hour are easy for an embedded database.",
            ),
            memory(
                "many-writers",
                A::INFERENCE,
                0.4,
                "A database server such as Postgres would be safer, because several programs will write bookings.",
            ),
            memory(
                "sqlite",
                A::DECISION,
                0.9,
                "Keep bookings in SQLite on the harbour server instead of running Postgres.",
            ),
            memory(
                "one-writer",
                A::DECISION,
                0.9,
                "One process owns the database; the website and the office app ask it to write.",
            ),
            memory(
                "tides",
                A::FACT,
                0.9,
                "Tide tables are imported every night at 02:00 UTC from the hydrographic office.",
            ),
            memory(
                "backup-2",
                A::FACT,
                0.9,
                "The nightly backup starts at 02:00 UTC and takes eleven minutes.",
            ),
            memory(
                "restore",
                A::SKILL,
                0.95,
                "To restore a backup: stop the service, copy the newest file back, run the integrity check, start the service.",
            ),
            memory(
                "fee",
                A::FACT,
                0.9,
                "Visitors pay 32 euro a night for boats up to ten metres.",
            ),
            memory(
                "prices",
                A::DECISION,
                0.85,
                "Prices stand in a table with the day from which they hold, and are never overwritten.",
            ),
            memory(
                "calls",
                A::FACT,
                0.8,
                "Two of three telephone calls ask only whether a berth is free.",
            ),
            memory(
                "website",
                A::INFERENCE,
                0.8,
                "Most calls would end if the website showed free berths without a login.",
            ),
            memory(
                "public",
                A::DECISION,
                0.9,
                "Free berths are public; the names of guests are for the office alone.",
            ),
            memory(
                "arrivals",
                A::DECISION,
                0.85,
                "The sheet of today's arrivals is made at 06:30 and goes to the office printer.",
            ),
            memory(
                "privacy",
                A::FACT,
                0.95,
                "Data of guests may be kept for one season and must be deletable on request.",
            ),
            memory(
                "release",
                A::SKILL,
                0.9,
                "To release: run the tests, copy the program to the server, restart it, and watch the log for five minutes.",
            ),
            memory(
                "planning",
                A::EPISODE,
                0.9,
                "Planning of the booking service: load and staff spoke for an embedded database with one writer; free berths became public; backups and tides run at night.",
            ),
        ],
    },
    Session {
        key: "marina/after-launch",
        agent: "keeper",
        began: "2026-04-13T08:30:00Z",
        outcome: "fixed: failing backups, double bookings, boats that did not fit the form",
        memories: &[
            memory(
                "launch",
                A::FACT,
                0.95,
                "The service went live on 30 March, and 212 bookings were made in its first two weeks.",
            ),
            memory(
                "berths-april",
                A::CORRECTION,
                0.95,
                "Since April the marina has 86 berths: 60 for residents and 26 for visitors.",
            ),
            memory(
                "locked",
                A::FACT,
                0.95,
                "On two nights the backup gave up with the message that the database is locked.",
            ),
            memory(
                "overlap",
                A::FACT,
                0.9,
                "On both nights the tide import was writing while the backup ran.",
            ),
            memory(
                "clash",
                A::INFERENCE,
                0.9,
                "The backup fails because it runs at the same hour as the tide import.",
            ),
            memory(
                "backup-330",
                A::CORRECTION,
                0.9,
                "The nightly backup starts at 03:30 UTC, after the tide import.",
            ),
            memory(
                "longer-tides",
                A::FACT,
                0.9,
                "Since the summer tables came, the tide import has not ended before 03:40 UTC.",
            ),
            memory(
                "backup-345",
                A::CORRECTION,
                0.9,
                "The nightly backup starts at 03:45 UTC, when the tide import has ended.",
            ),
            memory(
                "night-jobs",
                A::SKILL,
                0.85,
                "When a job at night says that the database is locked, first look which other job writes at that hour.",
            ),
            memory(
                "twice",
                A::FACT,
                0.95,
                "Two guests were given berth 17 for the night of 11 April.",
            ),
            memory(
                "tabs",
                A::FACT,
                0.9,
                "Both confirmations of berth 17 came within the same second, from two browsers.",
            ),
            memory(
                "race",
                A::INFERENCE,
                0.9,
                "Looking for a free berth and booking it happen in two transactions, so two guests can pass the check together.",
            ),
            memory(
                "one-transaction",
                A::DECISION,
                0.95,
                "Check and book in one immediate transaction, with a unique key over berth and night.",
            ),
            memory(
                "trial",
                A::FACT,
                0.95,
                "With the unique key, 500 bookings of one berth at once gave one success and 499 refusals.",
            ),
            memory(
                "long-boats",
                A::FACT,
                0.85,
                "Boats longer than fourteen metres still book by telephone, because the form does not take them.",
            ),
            memory(
                "form",
                A::INFERENCE,
                0.75,
                "The form's limit of fourteen metres loses bookings of long boats.",
            ),
            memory(
                "longer-form",
                A::DECISION,
                0.85,
                "The form takes boats up to twenty metres and marks those bookings for the harbour master.",
            ),
            memory(
                "paper",
                A::FACT,
                0.8,
                "The sheet of arrivals was missing once: the printer had no paper, and nobody was told.",
            ),
            memory(
                "alarm",
                A::DECISION,
                0.85,
                "If the sheet of arrivals is not printed by 06:50, the office telephone gets a message.",
            ),
            memory(
                "erase-guest",
                A::SKILL,
                0.9,
                "To erase a guest: cancel what is open, remove the name from past bookings, and note the day in the register.",
            ),
            memory(
                "launched",
                A::EPISODE,
                0.9,
                "The first weeks after launch: the backup moved away from the tide import, double bookings became impossible, and long boats fit the form.",
            ),
        ],
    },
];

/// The edges.
pub(crate) const TIES: [Tie; 38] = [
    // The first decision and its evidence.
    tie("light-load", Is::SUPPORTS, "peak"),
    tie("sqlite", Is::SUPPORTS, "light-load"),
    tie("sqlite", Is::SUPPORTS, "server"),
    tie("sqlite", Is::CAUSED_BY, "sheet"),
    tie("many-writers", Is::CONTRADICTS, "light-load"),
    tie("one-writer", Is::CAUSED_BY, "sqlite"),
    tie("one-writer", Is::SUPPORTS, "many-writers"),
    tie("website", Is::SUPPORTS, "calls"),
    tie("public", Is::SUPPORTS, "website"),
    tie("public", Is::CAUSED_BY, "calls"),
    tie("prices", Is::RELATED_TO, "fee"),
    tie("restore", Is::RELATED_TO, "backup-2"),
    tie("sqlite", Is::PART_OF, "planning"),
    tie("one-writer", Is::PART_OF, "planning"),
    tie("public", Is::PART_OF, "planning"),
    tie("backup-2", Is::PART_OF, "planning"),
    // Beliefs that turned out to be wrong.
    tie("berths-april", Is::SUPERSEDES, "berths"),
    tie("backup-330", Is::SUPERSEDES, "backup-2"),
    tie("backup-330", Is::CAUSED_BY, "clash"),
    tie("backup-345", Is::SUPERSEDES, "backup-330"),
    tie("backup-345", Is::CAUSED_BY, "longer-tides"),
    // Two faults, followed to their causes.
    tie("clash", Is::SUPPORTS, "locked"),
    tie("clash", Is::SUPPORTS, "overlap"),
    tie("clash", Is::SUPPORTS, "tides"),
    tie("night-jobs", Is::CAUSED_BY, "clash"),
    tie("night-jobs", Is::RELATED_TO, "restore"),
    tie("race", Is::SUPPORTS, "tabs"),
    tie("race", Is::CAUSED_BY, "twice"),
    tie("one-transaction", Is::CAUSED_BY, "race"),
    tie("one-transaction", Is::SUPPORTS, "trial"),
    tie("form", Is::SUPPORTS, "long-boats"),
    tie("longer-form", Is::CAUSED_BY, "form"),
    tie("alarm", Is::CAUSED_BY, "paper"),
    tie("alarm", Is::RELATED_TO, "arrivals"),
    tie("erase-guest", Is::CAUSED_BY, "privacy"),
    tie("backup-330", Is::PART_OF, "launched"),
    tie("one-transaction", Is::PART_OF, "launched"),
    tie("longer-form", Is::PART_OF, "launched"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn memories() -> impl Iterator<Item = &'static Memory> {
        SESSIONS.iter().flat_map(|s| s.memories)
    }

    #[test]
    fn the_sample_has_every_event_type_and_every_edge_type() {
        for kind in EventType::ALL {
            assert!(memories().any(|m| m.kind == kind), "no {kind}");
        }
        for edge in EdgeType::ALL {
            let listed = TIES.iter().any(|t| t.edge == edge);
            assert!(listed || edge == EdgeType::TEMPORAL_NEXT, "no {edge}");
        }
        assert_eq!(memories().count(), 42);
    }

    #[test]
    fn a_belief_of_the_sample_was_replaced_and_what_replaced_it_too() {
        let replaced = |target| {
            let by = |t: &&Tie| t.edge == EdgeType::SUPERSEDES && t.target == target;
            TIES.iter().find(by).map(|t| t.source)
        };
        assert_eq!(replaced("backup-2").and_then(replaced), Some("backup-345"));
    }

    #[test]
    fn keys_are_unique_and_every_edge_finds_its_ends() {
        let keys: Vec<&str> = memories().map(|m| m.key).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key} appears twice");
        }
        let session = |key| {
            SESSIONS
                .iter()
                .position(|s| s.memories.iter().any(|m| m.key == key))
                .unwrap_or_else(|| panic!("no event {key}"))
        };
        for tie in &TIES {
            assert!(session(tie.target) <= session(tie.source), "{}", tie.source);
        }
    }
}
