//! Fact memory, over the daemon's Unix socket: as many memories as the brain of the report has events, a thousand in
//! each scope.
//!
//! The limit of an add is an ingest of the same text in the same rounds, that of a get and a history a GetEvents.
//! Compared: the texts of a memory, of a hit and of a history with what was added, and how many memories a scope has.

use std::cell::Cell;
use std::time::Instant;

use amem_client::{Client, v1};
use tokio::runtime::Runtime;

use super::super::list;
use super::super::measure::{Contest, Outcome, median, same, slack};
use super::super::table::{Findings, Measurement, duration};
use super::super::world::World;
use crate::latency::peers::{Peers, RawLog};
use crate::{data, memory};

/// Memories of a scope, and of an add that fills it.
const SCOPE: u64 = 1_000;
/// The app that every memory of these rows is of.
const APP: &str = "report";
/// Memories that pass the filter.
const TAGGED: u64 = 10;
/// Versions of the memory whose history is asked for.
const VERSIONS: usize = 5;
/// Single calls of a turn.
const CALLS: u64 = 200;
/// Adds of a turn: each is one or two commits' time.
const ADDS: u64 = 60;
/// Entities of one scope.
const ENTITIES: u64 = 100_000;
/// Turns of a conversation.
const TURNS: u64 = 200;
/// The brain of events beside that of the memories.
pub(super) const EVENTS: &str = "events";

/// The daemon, a client, and what it has stored.
struct FactSetup {
    runtime: Runtime,
    peers: Peers,
    client: Client,
    scopes: u64,
    /// The next number of a text.
    next: Cell<u64>,
    /// A memory of the first scope, and its text.
    known: (String, String),
    /// A memory with some versions.
    changed: String,
    event: u64,
}

/// All rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let folder = world.path().join("facts");
    let peers = Peers::start(&folder)?;
    let runtime = Runtime::new()?;
    let client = runtime.block_on(Client::connect_unix(&peers.daemon_socket))?;
    let mut setup = FactSetup {
        runtime,
        peers,
        client,
        scopes: (world.nodes / SCOPE).max(1),
        next: Cell::new(0),
        known: Default::default(),
        changed: String::new(),
        event: 0,
    };
    setup.fill()?;
    setup.search(findings)?;
    setup.filter(findings)?;
    setup.get(findings)?;
    setup.memory(findings)?;
    setup.graph(findings)?;
    setup.talk(findings)?;
    let mut raw = RawLog::new(world.path())?;
    let (times, _) = raw.measure(1_000, 50)?;
    let sync = times.value_at_quantile(0.5) as f64 / 1e9;
    setup.add(findings)?;
    setup.turn(sync, findings)?;
    setup.batch(sync, findings)
}

pub(super) fn scope(number: u64) -> Option<v1::Scope> {
    Some(v1::Scope {
        user: Some(format!("user-{number}")),
        ..v1::Scope::default()
    })
}

/// The scope, within the app of the report.
fn of_app(scope: Option<v1::Scope>) -> Option<v1::Scope> {
    scope.map(|scope| v1::Scope {
        app: Some(APP.into()),
        ..scope
    })
}

/// A text of eight words that no other has.
pub(super) fn text(number: u64) -> String {
    let words = (0..7).map(|at| data::word((number * 7 + at) * 31 % 9_000));
    let words: Vec<_> = words.chain([format!("n{number}")]).collect();
    format!("User notes {}", words.join(" "))
}

pub(super) fn as_they_are(
    scope: Option<v1::Scope>,
    texts: impl Iterator<Item = String>,
) -> v1::AddFactsRequest {
    let message = |text| v1::FactMessage {
        text,
        ..v1::FactMessage::default()
    };
    v1::AddFactsRequest {
        messages: texts.map(message).collect(),
        scope,
        infer: Some(false),
        ..v1::AddFactsRequest::default()
    }
}

impl FactSetup {
    /// Reserves numbers of texts; returns the first.
    fn take(&self, count: u64) -> u64 {
        let first = self.next.get();
        self.next.set(first + count);
        first
    }

    fn added(&self, request: v1::AddFactsRequest) -> Outcome<v1::AddFactsResponse> {
        let mut facts = self.client.facts();
        Ok(self
            .runtime
            .block_on(facts.add_facts(request))?
            .into_inner())
    }

    fn fill(&mut self) -> Outcome<()> {
        for number in 0..self.scopes {
            let first = self.take(SCOPE);
            let texts = (first..first + SCOPE).map(text);
            let added = self.added(as_they_are(of_app(scope(number)), texts))?;
            same("AddFacts", &(added.results.len() as u64), &SCOPE)?;
            if number == 0 {
                let one = &added.results[7];
                self.known = (one.id.clone(), one.memory.clone());
                self.changed = added.results[8].id.clone();
            }
        }
        let first = self.take(TAGGED);
        let tagged = as_they_are(
            of_app(scope(self.scopes)),
            (first..first + TAGGED).map(text),
        );
        self.added(v1::AddFactsRequest {
            metadata_json: r#"{"tag":"rare"}"#.into(),
            ..tagged
        })?;
        for version in 1..VERSIONS {
            let request = v1::UpdateFactRequest {
                id: self.changed.clone(),
                text: Some(format!("User notes version {version}")),
                ..v1::UpdateFactRequest::default()
            };
            self.runtime
                .block_on(self.client.facts().update_fact(request))?;
        }
        let request = v1::CreateBrainRequest {
            brain: EVENTS.into(),
            ..v1::CreateBrainRequest::default()
        };
        self.runtime
            .block_on(self.client.brains().create_brain(request))?;
        let answer = self
            .runtime
            .block_on(self.client.memory().ingest(ingest(text(7))))?;
        let ids = answer.into_inner().event_ids;
        self.event = ids.first().copied().ok_or("an ingest without an id")?;
        Ok(())
    }

    fn search(&self, findings: &mut Findings) -> Outcome<()> {
        let at = Cell::new(0);
        let ask = || -> Outcome<v1::SearchFactsResponse> {
            at.set(at.get() + 1);
            // 7919 is prime to the number of scopes: each is asked, in no order.
            let number = 7_919 * at.get() % self.scopes;
            let known = text(number * SCOPE + at.get() % SCOPE);
            let words: Vec<_> = known.split(' ').skip(2).take(3).collect();
            let request = v1::SearchFactsRequest {
                query: words.join(" "),
                scope: scope(number),
                ..v1::SearchFactsRequest::default()
            };
            let answer = self
                .runtime
                .block_on(self.client.facts().search_facts(request))?;
            Ok(answer.into_inner())
        };
        let found = ask()?;
        let first = found.hits.first().and_then(|hit| hit.fact.as_ref());
        let first = first.map(|fact| fact.memory.clone()).unwrap_or_default();
        let number = 7_919 * at.get() % self.scopes;
        same(
            "SearchFacts",
            &first,
            &text(number * SCOPE + at.get() % SCOPE),
        )?;
        let medians = Contest::new()
            .turn("ours", || self.each(CALLS, &ask))
            .run()?;
        findings.add(Measurement {
            row: list::FACT_SEARCH,
            ours: medians.of("ours"),
            note: format!("{} memories in all", self.scopes * SCOPE),
            ..Measurement::default()
        });
        Ok(())
    }

    /// A search in the scope of all memories, of which few pass the filter.
    fn filter(&self, findings: &mut Findings) -> Outcome<()> {
        let at = Cell::new(0);
        let ask = || -> Outcome<v1::SearchFactsResponse> {
            at.set(at.get() + 1);
            let request = v1::SearchFactsRequest {
                query: text(7_919 * at.get() % (self.scopes * SCOPE)),
                scope: of_app(Some(v1::Scope::default())),
                filter_json: r#"{"tag":"rare"}"#.into(),
                limit: TAGGED as u32,
                ..v1::SearchFactsRequest::default()
            };
            let answer = self
                .runtime
                .block_on(self.client.facts().search_facts(request))?;
            Ok(answer.into_inner())
        };
        same("SearchFacts", &(ask()?.hits.len() as u64), &TAGGED)?;
        let medians = Contest::new()
            .turn("ours", || self.each(CALLS, &ask))
            .run()?;
        findings.add(Measurement {
            row: list::FACT_FILTER,
            ours: medians.of("ours"),
            note: format!("{} memories in the scope", self.scopes * SCOPE + TAGGED),
            ..Measurement::default()
        });
        Ok(())
    }

    fn get(&self, findings: &mut Findings) -> Outcome<()> {
        let get = || -> Outcome<v1::GetFactResponse> {
            let request = v1::GetFactRequest {
                id: self.known.0.clone(),
                ..v1::GetFactRequest::default()
            };
            Ok(self
                .runtime
                .block_on(self.client.facts().get_fact(request))?
                .into_inner())
        };
        let history = || -> Outcome<v1::GetFactHistoryResponse> {
            let request = v1::GetFactHistoryRequest {
                id: self.changed.clone(),
                ..v1::GetFactHistoryRequest::default()
            };
            let answer = self
                .runtime
                .block_on(self.client.facts().get_fact_history(request))?;
            Ok(answer.into_inner())
        };
        let events = || -> Outcome<v1::GetEventsResponse> {
            let request = v1::GetEventsRequest {
                brain: EVENTS.into(),
                event_ids: vec![self.event],
                ..v1::GetEventsRequest::default()
            };
            let answer = self
                .runtime
                .block_on(self.client.queries().get_events(request))?;
            Ok(answer.into_inner())
        };
        let memory = get()?.fact.map(|fact| fact.memory).unwrap_or_default();
        same("GetFact", &memory, &self.known.1)?;
        same("GetFactHistory", &history()?.records.len(), &VERSIONS)?;
        let medians = Contest::new()
            .turn("get", || self.each(CALLS, &get))
            .turn("history", || self.each(CALLS, &history))
            .turn("events", || self.each(CALLS, &events))
            .run()?;
        for (row, name, note) in [
            (
                list::FACT_GET,
                "get",
                "the limit is a GetEvents of one event",
            ),
            (
                list::FACT_HISTORY,
                "history",
                "five versions; the limit is a GetEvents of one event",
            ),
        ] {
            findings.add(Measurement {
                row,
                ours: medians.of(name),
                limit: medians.of("events"),
                note: note.into(),
                ..Measurement::default()
            });
        }
        Ok(())
    }

    fn memory(&self, findings: &mut Findings) -> Outcome<()> {
        let id = self.peers.daemon_id().ok_or("the daemon has no process")?;
        let (own, mapped) = memory::of(id)?;
        findings.add(Measurement {
            row: list::FACT_MEMORY,
            ours: Some(own),
            note: format!(
                "{} memories; {mapped:.0} MiB of files mapped",
                self.scopes * SCOPE
            ),
            ..Measurement::default()
        });
        Ok(())
    }

    /// 100,000 entities in one scope, two in each memory; and a scope of 1,000 memories of 200 entities.
    fn graph(&self, findings: &mut Findings) -> Outcome<()> {
        let user = |name: &str| {
            Some(v1::Scope {
                user: Some(name.into()),
                ..v1::Scope::default()
            })
        };
        let relates = |person: u64, company: u64| {
            let (person, company) = (name(person), name(1_000_000 + company));
            format!("Anna {person} works at {company} Works")
        };
        for part in 0..ENTITIES / 2 / SCOPE {
            let texts = (0..SCOPE).map(|at| relates(part * SCOPE + at, part * SCOPE + at));
            self.added(as_they_are(user("many"), texts))?;
        }
        // Five memories name a person. Five more name its company: no word of a question about the person is in them.
        let texts = (0..SCOPE).map(|at| {
            let (person, company) = (name(at / 2 % 100), name(1_000_000 + at / 2 % 100));
            let note = text(50_000_000 + at);
            match at % 2 {
                0 => format!("{person} works at {company} Works, and {note}"),
                _ => format!("{company} Works has a canteen, and {note}"),
            }
        });
        self.added(as_they_are(user("few"), texts))?;
        let at = Cell::new(0);
        let entity = || -> Outcome<v1::GetEntityResponse> {
            at.set(at.get() + 1);
            let request = v1::GetEntityRequest {
                scope: user("many"),
                name: format!("anna {}", name(7_919 * at.get() % (ENTITIES / 2))),
                ..v1::GetEntityRequest::default()
            };
            let answer = self
                .runtime
                .block_on(self.client.facts().get_entity(request))?;
            Ok(answer.into_inner())
        };
        let found = entity()?;
        same("GetEntity", &found.facts.len(), &1)?;
        same("GetEntity", &found.relations.len(), &1)?;
        let search = |graph: bool| -> Outcome<v1::SearchFactsResponse> {
            at.set(at.get() + 1);
            let request = v1::SearchFactsRequest {
                query: format!("what does {} do", name(at.get() % 100)),
                scope: user("few"),
                graph,
                ..v1::SearchFactsRequest::default()
            };
            let answer = self
                .runtime
                .block_on(self.client.facts().search_facts(request))?;
            Ok(answer.into_inner())
        };
        let wider = search(true)?.hits;
        if wider.iter().all(|hit| hit.via.is_empty()) {
            return Err("a search that the graph did not widen".into());
        }
        let medians = Contest::new()
            .turn("entity", || self.each(CALLS, &entity))
            .turn("search", || self.each(CALLS, &|| search(false)))
            .turn("widened", || self.each(CALLS, &|| search(true)))
            .run()?;
        findings.add(Measurement {
            row: list::FACT_ENTITY,
            ours: medians.of("entity"),
            note: "its page: names, relations, memories and turns, over the socket".into(),
            ..Measurement::default()
        });
        findings.add(Measurement {
            row: list::FACT_WIDENED,
            ours: medians.of("widened"),
            limit: medians.of("search"),
            note: "the limit is the same search without the graph".into(),
            ..Measurement::default()
        });
        Ok(())
    }

    /// A conversation of 200 turns in one add, by patterns.
    fn talk(&self, findings: &mut Findings) -> Outcome<()> {
        let talk = || -> Outcome<v1::AddFactsResponse> {
            let first = self.take(TURNS);
            let says = |number: u64| {
                let (word, other) = (
                    data::word(number * 7 % 9_000),
                    data::word(number * 13 % 9_000),
                );
                let text = match number % 4 {
                    0 => format!(
                        "I moved to {} last week, and I really like the {other} there.",
                        capital(&word)
                    ),
                    1 => format!(
                        "My friend {} works at {} since the {other} closed.",
                        capital(&word),
                        capital(&other)
                    ),
                    2 => format!("We chose {} because it has a {other}.", capital(&word)),
                    _ => format!("What do you think of the {word} and the {other}?"),
                };
                v1::FactMessage {
                    text,
                    ..v1::FactMessage::default()
                }
            };
            let request = v1::AddFactsRequest {
                messages: (first..first + TURNS).map(says).collect(),
                scope: scope(self.scopes + first),
                ..v1::AddFactsRequest::default()
            };
            self.added(request)
        };
        let added = talk()?;
        if added.results.len() < TURNS as usize / 2 {
            return Err(format!("{} facts of {TURNS} turns", added.results.len()).into());
        }
        let medians = Contest::new().turn("ours", || self.each(3, &talk)).run()?;
        findings.add(Measurement {
            row: list::FACT_TALK,
            ours: medians.of("ours"),
            note: format!("{} facts found", added.results.len()),
            ..Measurement::default()
        });
        Ok(())
    }

    fn add(&self, findings: &mut Findings) -> Outcome<()> {
        let add = || self.added(as_they_are(scope(3), [text(self.take(1))].into_iter()));
        let event = || -> Outcome<v1::IngestResponse> {
            let request = ingest(text(self.take(1)));
            Ok(self
                .runtime
                .block_on(self.client.memory().ingest(request))?
                .into_inner())
        };
        let medians = Contest::new()
            .turn("add", || self.each(ADDS, &add))
            .turn("ingest", || self.each(ADDS, &event))
            .run()?;
        findings.add(Measurement {
            row: list::FACT_ADD,
            ours: medians.of("add"),
            limit: medians.of("ingest"),
            note: "the limit is an ingest of one event with the same text".into(),
            ..Measurement::default()
        });
        Ok(())
    }

    /// One sentence of a person, with what patterns and rules make of it.
    fn turn(&self, sync: f64, findings: &mut Findings) -> Outcome<()> {
        let said = || -> Outcome<v1::AddFactsResponse> {
            let number = self.take(1);
            let words = [
                data::word(number * 7 % 9_000),
                data::word(number * 13 % 9_000),
            ];
            let request = v1::AddFactsRequest {
                messages: vec![v1::FactMessage {
                    text: format!(
                        "I moved to {} last week, and I really like the {} there.",
                        capital(&words[0]),
                        words[1]
                    ),
                    ..v1::FactMessage::default()
                }],
                scope: scope(number % self.scopes),
                ..v1::AddFactsRequest::default()
            };
            let added = self.added(request)?;
            match added.results.is_empty() {
                true => Err("a sentence without a fact".into()),
                false => Ok(added),
            }
        };
        let medians = Contest::new()
            .turn("ours", || self.each(ADDS, &said))
            .run()?;
        findings.add(Measurement {
            row: list::FACT_TURN,
            ours: medians.of("ours"),
            slack: slack(sync),
            note: format!("the goal allows for a sync of {}", duration(sync)),
            ..Measurement::default()
        });
        Ok(())
    }

    fn batch(&self, sync: f64, findings: &mut Findings) -> Outcome<()> {
        let fill = || {
            let first = self.take(SCOPE);
            let number = self.scopes + first;
            self.added(as_they_are(scope(number), (first..first + SCOPE).map(text)))
        };
        let medians = Contest::new().turn("ours", || self.each(3, &fill)).run()?;
        findings.add(Measurement {
            row: list::FACT_BATCH,
            ours: medians.of("ours"),
            slack: slack(sync),
            note: format!("the goal allows for a sync of {}", duration(sync)),
            ..Measurement::default()
        });
        Ok(())
    }

    /// The median seconds of a call that is made some times.
    fn each<T>(&self, calls: u64, call: &impl Fn() -> Outcome<T>) -> Outcome<f64> {
        let mut times = Vec::new();
        for _ in 0..calls {
            let began = Instant::now();
            call()?;
            times.push(began.elapsed().as_secs_f64());
        }
        Ok(median(times))
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A name of letters that no other number has.
fn name(number: u64) -> String {
    let letters = (0..5).map(|at| char::from(b'a' + (number / 26u64.pow(at) % 26) as u8));
    capital(&letters.collect::<String>())
}

/// An ingest of one event with this text.
pub(super) fn ingest(text: String) -> v1::IngestRequest {
    v1::IngestRequest {
        brain: EVENTS.into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text,
            ..v1::NewEvent::default()
        }],
        ..v1::IngestRequest::default()
    }
}
