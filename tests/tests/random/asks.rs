//! Random requests to a brain that is known: most make sense, some by chance do not, some never do.

use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::{EdgeType, EventType, Flags, Lsn, Micros, NodeId, SessionId};
use amem_query::Scope;
use amem_store::mutation::{
    Correct, End, Episode, Ingest, NewEdge, NewEvent, NewLink, Part, Relate,
};
use amem_store::{Mutation, Request};
use amem_tests::model::{Account, Event, SECRET, State, attributes, heads, text, vector};
use amem_tests::random::Random;
use uuid::Uuid;

/// Makes requests.
pub(crate) struct RequestMaker<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) account: &'a Account,
    pub(crate) dimension: u32,
    pub(crate) now: Micros,
}

/// A word that is said once.
fn token(random: &mut Random) -> String {
    let letter = |random: &mut Random| char::from(b'a' + random.below(26) as u8);
    (0..14).map(|_| letter(random)).collect()
}

impl RequestMaker<'_> {
    fn state(&self) -> &State {
        &self.account.known.state
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    /// An event, mostly one that is shown and whole; once in a while one that is not there.
    fn event(&mut self) -> NodeId {
        let count = self.state().events.len() as u64;
        if self.chance(60) {
            return NodeId(count);
        }
        let mut id = self.random.below(count.max(1));
        for _ in 0..self.random.pick(&[0, 3, 3, 3]) {
            let event = self.state().events.get(id as usize);
            let is_plain =
                |e: &Event| e.flags.without(Flags::PINNED.with(Flags::COMPRESSED)).0 == 0;
            if event.is_some_and(is_plain) {
                break;
            }
            id = self.random.below(count.max(1));
        }
        NodeId(id)
    }

    /// A session, mostly an open one, at times a closed one; once in a while one that is not there.
    fn session(&mut self) -> SessionId {
        let any = self.random.below(12);
        let all = &self.state().sessions;
        let open = all.iter().filter(|(_, session)| session.closed.is_none());
        let open: Vec<u32> = open.map(|(id, _)| *id).collect();
        let last = all.keys().next_back().copied().unwrap_or(0);
        let named: Vec<u32> = all.keys().copied().collect();
        match any {
            1..=2 if !named.is_empty() => SessionId(self.random.pick(&named)),
            0 => SessionId(self.random.below(u64::from(last) + 2) as u32),
            _ if open.is_empty() => SessionId(0),
            _ => SessionId(self.random.pick(&open)),
        }
    }

    /// A request with whatever a request may have.
    pub(crate) fn request(&mut self) -> Request {
        let mutation = match self.random.below(20) {
            0 => self.nonsense(),
            _ => self.mutation(),
        };
        let mut request = Request::new(mutation);
        if self.random.below(3) > 0 {
            let principal = self.random.pick(&["", "uid:1000", "uid:7"]);
            let agent = self.random.pick(&["", "first", "second", "größe"]);
            request = request.by(principal, agent);
        }
        if self.random.below(3) > 0 {
            request = request.with_id(self.id(self.now));
        }
        if self.chance(20) {
            let lsn = self.account.lsn().0;
            request.expected_lsn = Some(Lsn(lsn.saturating_sub(self.random.below(4))));
        }
        if self.chance(20) {
            let event = self.event();
            let known = self.state().events.len() as u64 > event.0;
            let head = if known {
                heads(&self.account.known, event.0, &Scope::default(), false)
            } else {
                Vec::new()
            };
            let other = self.event();
            let expected = head.first().copied().filter(|_| !self.chance(3));
            request.expected_head = Some((event, expected.unwrap_or(other)));
        }
        request
    }

    /// A new request id of a time.
    pub(crate) fn id(&mut self, at: Micros) -> Uuid {
        let (a, b) = (self.random.number(), self.random.number());
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&a.to_le_bytes());
        bytes[8..].copy_from_slice(&b.to_le_bytes()[..2]);
        uuid::Builder::from_unix_timestamp_millis((at.0 / 1000) as u64, &bytes).into_uuid()
    }

    /// What is refused whatever the brain has.
    fn nonsense(&mut self) -> Mutation {
        let event = self.new_event();
        let ingest = |events| {
            Mutation::Ingest(Ingest {
                events,
                ..Ingest::default()
            })
        };
        let other = event.clone();
        match self.random.below(8) {
            0 => ingest(Vec::new()),
            1 => ingest(vec![
                other,
                NewEvent {
                    text: String::new(),
                    ..event
                },
            ]),
            2 => ingest(vec![
                other,
                NewEvent {
                    confidence: 1.5,
                    ..event
                },
            ]),
            3 => ingest(vec![
                other,
                NewEvent {
                    lambda: Some(f32::NAN),
                    ..event
                },
            ]),
            4 => {
                let wrong = Some(vec![1.0; self.dimension as usize + 1]);
                ingest(vec![
                    other,
                    NewEvent {
                        vector: wrong,
                        ..event
                    },
                ])
            }
            5 => Mutation::Erase(Vec::new()),
            6 => Mutation::CloseSession {
                session: SessionId(0),
                outcome: String::new(),
            },
            _ => {
                let mut settings = Settings::default();
                settings.decay.skill = -1.0;
                Mutation::SetSettings(settings)
            }
        }
    }

    pub(crate) fn mutation(&mut self) -> Mutation {
        if self.state().events.len() < 3 {
            return self.ingest();
        }
        match self.random.below(70) {
            0..=15 => self.ingest(),
            16..=22 => self.correct(),
            23..=27 => {
                let (source, target) = (self.event(), self.event());
                Mutation::Link(NewEdge {
                    source,
                    target,
                    edge_type: self.edge_type(),
                    weight: self.random.unit(),
                })
            }
            28..=31 => self.unlink(),
            32..=34 => {
                let count = self.random.below(4);
                let touch = |asks: &mut Self| (asks.event(), asks.random.below(5) as u32 + 1);
                Mutation::Touch((0..count).map(|_| touch(self)).collect())
            }
            35..=36 => Mutation::Pin(self.event()),
            37 => Mutation::Unpin(self.event()),
            38..=41 => Mutation::Forget(self.event()),
            42..=45 => {
                let mut hidden = self
                    .state()
                    .events
                    .iter()
                    .filter(|e| e.flags.has(Flags::FORGOTTEN));
                let hidden = hidden.next().map(|e| NodeId(e.id));
                let any = self.event();
                Mutation::Restore(hidden.filter(|_| !self.chance(4)).unwrap_or(any))
            }
            46..=48 => {
                let count = self.random.pick(&[1, 1, 1, 2, 3]);
                Mutation::Erase((0..count).map(|_| self.event()).collect())
            }
            49..=50 => self.compress(),
            51..=52 => self.compress_part(),
            53..=55 => Mutation::SetVector {
                target: self.event(),
                vector: vector(self.random, self.dimension),
                space: self
                    .random
                    .pick(&[None, None, Some(Uuid::nil()), Some(Uuid::max())]),
            },
            56..=59 => Mutation::SetAttributes {
                target: self.event(),
                attributes: self.attributes(),
            },
            60..=61 => Mutation::Decay,
            62..=65 => {
                let key = self.random.pick(&["", "", "one", "two", "three", "four"]);
                Mutation::OpenSession { key: key.into() }
            }
            66..=67 => Mutation::CloseSession {
                session: self.session(),
                outcome: self.random.pick(&["", "done", "given up"]).into(),
            },
            _ => {
                let mut settings = Settings::default();
                settings.decay.fact = self.random.unit() / 10.0;
                settings.decay.inference = self.random.unit() / 10.0;
                settings.decay.episode = self.random.unit() / 10.0;
                Mutation::SetSettings(settings)
            }
        }
    }

    fn edge_type(&mut self) -> EdgeType {
        EdgeType(self.random.pick(&[0, 1, 2, 3, 3, 3, 4, 5, 6]))
    }

    fn attributes(&mut self) -> Option<Attributes> {
        let mut attributes = attributes(self.random)?;
        if self.chance(2) {
            attributes.insert(SECRET.into(), token(self.random).into());
        }
        Some(attributes)
    }

    fn new_event(&mut self) -> NewEvent {
        let text = format!("{} {}", text(self.random), token(self.random));
        let back = self.random.below(20 * Micros::DAY as u64) as i64;
        let happened = self
            .random
            .pick(&[Micros(self.now.0 - back), Micros(1_600_000_000_000_000)]);
        NewEvent {
            session: Some(self.session()).filter(|_| !self.chance(3)),
            confidence: self.random.pick(&[1.0, 0.9, 0.5, 0.25, 0.0]),
            event_time: Some(happened).filter(|_| self.chance(3)),
            lambda: self.random.pick(&[None, None, Some(0.0), Some(0.05)]),
            attributes: self.attributes(),
            vector: vector(self.random, self.dimension),
            space: self.random.pick(&[None, None, Some(Uuid::nil())]),
            ..NewEvent::new(EventType(self.random.pick(&[0, 0, 0, 1, 2, 3, 4, 5])), text)
        }
    }

    fn ingest(&mut self) -> Mutation {
        let count = self.random.pick(&[0, 1, 1, 1, 1, 2, 2, 3, 5]);
        let events: Vec<_> = (0..count).map(|_| self.new_event()).collect();
        let relate = self.chance(4).then(|| Relate {
            k: self.random.pick(&[0, 1, 2, 5]),
            min_similarity: self.random.pick(&[-1.0, 0.0, 0.5]),
        });
        let mut links = Vec::new();
        for _ in 0..self.random.below(4) {
            let (source, target) = (self.end(count), self.end(count));
            let is_careful = !self.chance(8);
            if is_careful && source == target {
                continue;
            }
            let mut edge_type = self.edge_type();
            if is_careful && edge_type == EdgeType::SUPERSEDES && matches!(target, End::New(_)) {
                // What is replaced must be there already.
                edge_type = EdgeType::CAUSED_BY;
            }
            if relate.is_some() && edge_type == EdgeType::RELATED_TO {
                // The model learns what is similar from the edges of this type.
                edge_type = EdgeType::SUPPORTS;
            }
            links.push(NewLink {
                source,
                target,
                edge_type,
                weight: self.random.pick(&[0.0, 0.25, 0.5, 0.75, 1.0]),
            });
        }
        Mutation::Ingest(Ingest {
            events,
            links,
            follow: self.chance(2),
            relate,
            forget: Vec::new(),
        })
    }

    fn end(&mut self, count: usize) -> End {
        if count == 0 || self.chance(2) {
            End::Event(self.event())
        } else {
            let past = u64::from(self.chance(20));
            End::New(self.random.below((count as u64 + past).max(1)) as usize)
        }
    }

    fn correct(&mut self) -> Mutation {
        let left = self.random.pick(&[0.0, 0.0, 0.1, 0.2, 0.5, 0.9]);
        let event_type = self.random.pick(&[EventType::CORRECTION, EventType::FACT]);
        Mutation::Correct(Correct {
            target: self.event(),
            to_head: self.chance(2),
            event: NewEvent {
                event_type,
                ..self.new_event()
            },
            target_confidence: self.chance(2).then_some(left),
            reason: self.chance(2).then(|| text(self.random)),
        })
    }

    fn unlink(&mut self) -> Mutation {
        let count = self.state().edges.len() as u64;
        let at = self.random.below(count.max(1)) as usize;
        let (source, target, edge_type) = match self.state().edges.keys().nth(at) {
            Some(&(source, target, edge_type)) => (NodeId(source), NodeId(target), edge_type),
            None => (self.event(), self.event(), 0),
        };
        Mutation::Unlink {
            source,
            target,
            edge_type: EdgeType(edge_type),
        }
    }

    fn compress(&mut self) -> Mutation {
        Mutation::Compress {
            session: self.session(),
            text: format!("{} {}", text(self.random), token(self.random)),
            vector: vector(self.random, self.dimension),
        }
    }

    fn compress_part(&mut self) -> Mutation {
        let episodes = self
            .state()
            .events
            .iter()
            .filter(|e| e.made.event_type == EventType::EPISODE);
        let episodes: Vec<(u64, u32)> = episodes.map(|e| (e.id, e.made.session)).collect();
        let new = Episode::New(format!("{} {}", text(self.random), token(self.random)));
        let (session, episode) = match episodes.as_slice() {
            [] => (self.session(), new),
            _ if self.chance(2) => (self.session(), new),
            known => {
                let (id, session) = self.random.pick(known);
                (SessionId(session), Episode::At(NodeId(id)))
            }
        };
        let count = 1 + self.random.below(6);
        Mutation::CompressPart(Part {
            session,
            episode,
            events: (0..count).map(|_| self.event()).collect(),
        })
    }
}
