//! Agents that do everything that can be done to their brains, meet in between, and agree in the end.
//!
//! What they agree on is all that the promise names: events with text, attributes, vector, flags, confidence, decay
//! rate, uses and when they happened; their sessions; edges and weights. Not what is each brain's own: its settings,
//! the strength of its last decay run, and the content of what one of them erased, which stays with those that have
//! not.

use std::collections::{BTreeMap, BTreeSet};

use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};
use amem_store::ORIGIN;
use amem_store::mutation::{Episode, Ingest, NewEdge, NewEvent, Part};
use amem_store::{Error, MergeReport, MergeSource, Mutation, Request, Store};
use amem_tests::random::Random;

use super::{Name, World, name};
use crate::{correction, fact, ingest};

/// Rates that no brain has, at a moment that no brain has come to: what fades, fades alike.
const RATES: [f32; 6] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
const LATER: Micros = Micros(4_000_000_000_000_000);

/// All that is seen of a brain, under names that do not depend on it.
pub(super) fn picture(view: &View) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id).unwrap();
        let own = name(view, id);
        let mut attributes = node.attributes().unwrap().unwrap_or_default();
        attributes.remove(ORIGIN);
        let content = (
            node.text().unwrap(),
            node.vector().unwrap().map(<[f32]>::to_vec),
            serde_json::to_string(&attributes).unwrap(),
        );
        let session = view.session(node.session()).unwrap();
        let session = session.filter(|session| session.explicit);
        let author = view.actor(node.author().unwrap()).unwrap();
        let flags = [Flags::PINNED, Flags::FORGOTTEN, Flags::COMPRESSED];
        let what = format!(
            "{:?} happened {:?} session {:?} confidence {} λ {} used {} at {} strength {} by {author:?}",
            flags.map(|flag| node.flags().has(flag)),
            node.happened().unwrap(),
            session.map(|s| (s.key, s.agent, s.closed.is_some(), s.outcome)),
            node.confidence(),
            node.lambda(),
            node.access_count(),
            node.last_accessed(),
            node.strength_with(LATER, &RATES),
        );
        if !node.is_erased() {
            seen.insert(format!("content of {own:?}"), format!("{content:?}"));
        }
        let before = seen.insert(format!("event {own:?}"), what);
        assert!(before.is_none(), "{own:?} twice");
        for tie in view.edges_of(id, Direction::Outgoing).unwrap().iter() {
            let edge = view.edge(id, Direction::Outgoing, &tie).unwrap();
            let key = format!("edge {own:?} {} {:?}", tie.edge_type, name(view, tie.other));
            seen.insert(key, edge.weight.to_string());
        }
    }
    seen
}

fn erased(view: &View) -> BTreeSet<Name> {
    let all = (0..view.nodes()).map(NodeId);
    all.filter(|&id| view.node(id).unwrap().is_erased())
        .map(|id| name(view, id))
        .collect()
}

fn names(view: &View) -> BTreeSet<Name> {
    (0..view.nodes()).map(|id| name(view, NodeId(id))).collect()
}

/// Everything that a brain can be asked for, by number; what is new in `Mutation` has to be drawn, too.
fn number(mutation: &Mutation) -> usize {
    match mutation {
        Mutation::Ingest(_) => 0,
        Mutation::Correct(_) => 1,
        Mutation::Link(_) => 2,
        Mutation::Unlink { .. } => 3,
        Mutation::Touch(_) => 4,
        Mutation::Pin(_) => 5,
        Mutation::Unpin(_) => 6,
        Mutation::Forget(_) => 7,
        Mutation::Restore(_) => 8,
        Mutation::Erase(_) => 9,
        Mutation::Compress { .. } => 10,
        Mutation::SetVector { .. } => 11,
        Mutation::SetAttributes { .. } => 12,
        Mutation::Decay => 13,
        Mutation::OpenSession { .. } => 14,
        Mutation::CloseSession { .. } => 15,
        Mutation::Merge(_) => 16,
        Mutation::SetSettings(_) => 17,
        Mutation::CompressPart(_) => 18,
    }
}

const KINDS: usize = 19;

/// An agent at its brain.
struct Agent<'w> {
    store: &'w mut Store,
    random: &'w mut Random,
    who: usize,
    at: u64,
}

impl Agent<'_> {
    /// Any event, and often one of a few, or one that came by a merge.
    fn event(&mut self) -> NodeId {
        let count = self.store.view().nodes();
        match self.random.below(4) {
            0..=1 => NodeId(self.random.below(count.min(5))),
            2 => NodeId(self.random.below(count)),
            _ => self.merged(),
        }
    }

    fn session(&mut self) -> SessionId {
        let last = self.store.view().next_session().unwrap().0;
        SessionId(self.random.below(u64::from(last)) as u32)
    }

    fn vector(&mut self) -> Vec<f32> {
        let dimension = self.store.view().vector_dimension();
        (0..dimension).map(|_| self.random.unit()).collect()
    }

    fn told(&mut self) -> Attributes {
        let told = format!("{}-{}", self.who, self.at);
        Attributes::from_iter([("by".to_owned(), told.into())])
    }

    fn events(&mut self) -> Mutation {
        let (who, at) = (self.who, self.at);
        let mut event = NewEvent::new(EventType::DECISION, format!("agent {who} says {at}"));
        event.attributes = Some(self.told());
        event.lambda = Some(self.random.unit());
        event.confidence = self.random.unit();
        event.event_time = Some(Micros(self.random.below(1 << 40) as i64));
        let session = self.session();
        let view = self.store.view();
        let open = view.session(session).unwrap();
        event.session = open.filter(|s| s.closed.is_none()).map(|s| s.id);
        Mutation::Ingest(Ingest {
            events: vec![event, fact(&format!("agent {who} saw {at}"))],
            follow: true,
            ..Ingest::default()
        })
    }

    /// An edge; one that replaces goes back in time, so that no two brains make a cycle.
    fn link(&mut self) -> Mutation {
        let (mut source, mut target) = (self.event(), self.event());
        let view = self.store.view();
        if name(&view, source) < name(&view, target) {
            (source, target) = (target, source);
        }
        Mutation::Link(NewEdge {
            source,
            target,
            edge_type: self.random.pick(&EdgeType::ALL),
            weight: self.random.unit(),
        })
    }

    /// One of the edges that are there, set again or retracted.
    fn edge(&mut self) -> Option<(NodeId, NodeId, EdgeType)> {
        let source = self.event();
        let view = self.store.view();
        let ties = view.edges_of(source, Direction::Outgoing).unwrap();
        let ties: Vec<_> = ties.iter().map(|tie| (tie.other, tie.edge_type)).collect();
        let (target, edge_type) = *ties.get(self.random.below(ties.len().max(1) as u64) as usize)?;
        Some((source, target, edge_type))
    }

    fn part(&mut self) -> Mutation {
        let session = self.session();
        let view = self.store.view();
        Mutation::CompressPart(Part {
            session,
            episode: Episode::New(format!("a part, by {} at {}", self.who, self.at)),
            events: view.of_session(session).unwrap().iter().take(2).collect(),
        })
    }

    fn choose(&mut self) -> Option<Mutation> {
        let (who, at) = (self.who, self.at);
        Some(match self.random.below(28) {
            0..=3 => self.events(),
            4 => {
                let mut correct = correction(0, &format!("agent {who} corrects {at}"));
                (correct.target, correct.target_confidence) = (self.event(), None);
                Mutation::Correct(correct)
            }
            5..=6 => self.link(),
            7..=8 => {
                let (source, target, edge_type) = self.edge()?;
                let weight = self.random.unit();
                Mutation::Link(NewEdge {
                    source,
                    target,
                    edge_type,
                    weight,
                })
            }
            9..=10 => {
                let (source, target, edge_type) = self.edge()?;
                Mutation::Unlink {
                    source,
                    target,
                    edge_type,
                }
            }
            11 => Mutation::Touch(vec![(self.event(), 1 + self.random.below(2) as u32)]),
            12 => Mutation::Pin(self.event()),
            13 => Mutation::Unpin(self.event()),
            14 => Mutation::Forget(self.event()),
            15..=16 => Mutation::Restore(self.event()),
            17 => Mutation::Erase(vec![self.merged()]),
            18 => Mutation::SetVector {
                target: self.event(),
                vector: Some(self.vector()),
                space: None,
            },
            19..=20 => Mutation::SetAttributes {
                target: self.event(),
                attributes: Some(self.told()),
            },
            21 => Mutation::SetAttributes {
                target: self.event(),
                attributes: None,
            },
            22 => Mutation::Decay,
            23 => Mutation::OpenSession {
                key: format!("of {who} at {at}"),
            },
            24 => Mutation::CloseSession {
                session: self.session(),
                outcome: format!("ended by {who} at {at}"),
            },
            25 => self.part(),
            26 => Mutation::Compress {
                session: self.session(),
                text: format!("an episode, by {who} at {at}"),
                vector: None,
            },
            _ => Mutation::SetSettings(Settings {
                fading_below: self.random.unit(),
                ..Settings::default()
            }),
        })
    }

    /// An event that came by a merge, if there is one.
    fn merged(&mut self) -> NodeId {
        let view = self.store.view();
        let all = (0..view.nodes()).map(NodeId);
        let came = all.filter(|&id| name(&view, id).0 != view.node(id).unwrap().created_at().0);
        let came: Vec<NodeId> = came.collect();
        match came.len() as u64 {
            0 => NodeId(self.random.below(view.nodes())),
            count => came[self.random.below(count) as usize],
        }
    }

    /// Does something, and says what it was. What can't be done, to what was forgotten, erased or closed, is not done.
    fn act(&mut self) -> Option<Mutation> {
        let mutation = self.choose()?;
        let request = Request::new(mutation.clone());
        let agent = format!("agent {}", self.who);
        match self.store.execute(request.by("uid:1", &agent)) {
            Ok(_) => Some(mutation),
            Err(error @ Error::OutcomeUnknown { .. }) => panic!("{agent}: {error}"),
            Err(_) => None,
        }
    }
}

/// Every order of three things.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// Three brains, and what is known of them without asking them.
struct Story<'d> {
    world: World,
    random: Random,
    /// How often each kind of mutation was done.
    done: &'d mut [u64; KINDS],
    /// What was erased in each.
    gone: [BTreeSet<Name>; 3],
}

impl Story<'_> {
    fn views(&self) -> Vec<View> {
        self.world.brains.iter().map(Store::view).collect()
    }

    fn quarrel(&mut self) {
        let meets = self.random.below(2) == 0;
        for at in 0..40 {
            for who in 0..3 {
                self.act(who, at);
                if self.random.below(30) == 0 {
                    self.world.brains[who].checkpoint().unwrap();
                }
                let other = (who + 1 + self.random.below(2) as usize) % 3;
                if meets && self.random.below(12) == 0 {
                    self.merge(who, other);
                }
            }
        }
    }

    fn act(&mut self, who: usize, at: u64) {
        self.world.disk.advance(1_000_000);
        let before = self.world.brains[who].view();
        let mut agent = Agent {
            store: &mut self.world.brains[who],
            random: &mut self.random,
            who,
            at,
        };
        if let Some(done) = agent.act() {
            self.done[number(&done)] += 1;
            if let Mutation::Erase(ids) = done {
                self.gone[who].extend(ids.iter().map(|&id| name(&before, id)));
            }
        }
    }

    /// Has one brain take what another has; what was erased in it stays so, under its name.
    fn merge(&mut self, into: usize, from: usize) -> MergeReport {
        self.world.disk.advance(1_000_000);
        let before = self.world.brains[into].view();
        let merged = self.world.merge(into, from);
        let after = self.world.brains[into].view();
        let left = erased(&after);
        assert!(
            left.is_superset(&self.gone[into]) && left.is_superset(&erased(&before)),
            "what was erased came back"
        );
        assert_eq!(
            names(&after).len() as u64,
            after.nodes(),
            "one is here twice"
        );
        self.done[number(&Mutation::Merge(MergeSource::new(before)))] += 1;
        merged
    }

    fn agree(&self, what: &str) {
        let views = self.views();
        let gone: BTreeSet<Name> = views.iter().flat_map(erased).collect();
        let content = |own: &Name| format!("content of {own:?}");
        let gone: BTreeSet<String> = gone.iter().map(content).collect();
        let pictures: Vec<_> = views.iter().map(picture).collect();
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let keys = pictures[one].keys().chain(pictures[other].keys());
            for key in keys.collect::<BTreeSet<_>>() {
                let both = [one, other].map(|at| pictures[at].get(key));
                // A brain that erased an event brings nothing of it.
                if !(gone.contains(key) && both.contains(&None)) {
                    assert_eq!(both[0], both[1], "{what}: brains {one}, {other}: {key}");
                }
            }
        }
    }
}

#[test]
fn three_diverging_agents_agree_after_merges_in_any_order() {
    let mut done = [0; KINDS];
    for (seed, [hub, second, third]) in (0..).zip(ORDERS.repeat(5)) {
        let mut story = Story {
            world: World::of(3, seed),
            random: Random::new(seed),
            done: &mut done,
            gone: Default::default(),
        };
        story.quarrel();
        let before: BTreeSet<Name> = story.views().iter().flat_map(names).collect();
        // One collects all, and gives all back; but for what it has erased itself.
        for (into, from) in [(hub, second), (hub, third), (second, hub), (third, hub)] {
            story.merge(into, from);
        }
        story.merge(second, third);
        story.merge(third, second);
        assert_eq!(names(&story.views()[hub]), before, "seed {seed}");
        story.agree(&format!("seed {seed}"));
        if seed % 2 == 0 {
            story.world.brains[second].checkpoint().unwrap();
        }
        // A further merge brings nothing.
        for (into, from) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)] {
            let views = story.views();
            let gone = [into, from].map(|at| erased(&views[at]));
            let nothing = MergeReport {
                matched: before.len() as u64,
                erased_there: gone[1].difference(&gone[0]).count() as u64,
                ..MergeReport::default()
            };
            let merged = story.merge(into, from);
            assert_eq!(merged, nothing, "seed {seed}: {into} from {from}");
            let after = story.world.brains[into].view();
            assert_eq!(after.lsn(), views[into].lsn(), "nothing is committed");
        }
    }
    for (kind, times) in done.iter().enumerate() {
        assert!(*times > 10, "mutation {kind} was done {times} times");
    }
}

#[test]
fn events_of_one_agent_stay_in_the_session_of_another() {
    let mut world = World::of(2, 31);
    let open = Mutation::OpenSession {
        key: "shared".into(),
    };
    let opened = crate::run(&mut world.brains[0], open).unwrap().session;
    let mut event = fact("the first");
    event.session = opened;
    crate::run(&mut world.brains[0], ingest(vec![event])).unwrap();
    world.merge(1, 0);
    let session = world.brains[1].view().session_by_key("shared").unwrap();
    let mut event = fact("the second");
    event.session = session;
    crate::run(&mut world.brains[1], ingest(vec![event])).unwrap();
    world.merge(0, 1);
    let view = world.brains[0].view();
    let said = view.of_session(opened.unwrap()).unwrap().iter().count();
    assert_eq!(said, 2);
}
