//! Random requests that make sense in a world.

use amem_format::{EdgeType, EventType, Micros, SessionId};
use amem_query::filter::Filter;
use amem_query::{AuthorNames, Axis, Follow, Order, Scope, Selection, ValueRange, Window};
use serde_json::json;

use super::described;
use super::world::World;
use crate::random::Random;

/// Makes requests.
pub struct Requests<'w> {
    /// Where chance comes from.
    pub random: &'w mut Random,
    /// The newest commit's time.
    pub now: Micros,
}

impl<'w> Requests<'w> {
    /// Requests to a world.
    pub fn of(world: &'w mut World) -> Self {
        let now = world.view().time();
        let random = &mut world.random;
        Self { random, now }
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    /// A scope, mostly an open one.
    pub fn scope(&mut self) -> Scope {
        if !self.chance(6) {
            return Scope::default();
        }
        let user = format!("u{}", self.random.below(2));
        let agent = self.chance(2).then(|| format!("a{}", self.random.below(2)));
        Scope {
            user: Some(user),
            agent,
            run: None,
            app: None,
        }
    }

    fn window(&mut self) -> Window {
        let now = self.now.0;
        let end = |random: &mut Random| {
            let back = random.below(60 * Micros::DAY as u64) as i64;
            (random.below(2) == 0).then_some(Micros(now - back))
        };
        let (a, b) = (end(self.random), end(self.random));
        match (a, b) {
            (Some(a), Some(b)) => Window {
                from: Some(a.min(b)),
                until: Some(a.max(b)),
            },
            (from, until) => Window { from, until },
        }
    }

    fn bounds(&mut self) -> ValueRange {
        let (a, b) = (self.random.unit(), self.random.unit());
        let (min, max) = (Some(a.min(b)), Some(a.max(b)));
        match self.random.below(3) {
            0 => ValueRange { min, max },
            1 => ValueRange { min, max: None },
            _ => ValueRange { min: None, max },
        }
    }

    /// A selection: mostly of one or two conditions.
    pub fn selection(&mut self) -> Selection {
        let mut selection = Selection {
            scope: self.scope(),
            include_forgotten: self.chance(4),
            include_compressed: self.chance(4),
            ..Selection::default()
        };
        if self.chance(4) {
            selection.types = vec![EventType(0), EventType(3), EventType(77)];
            selection.types.truncate(1 + self.random.below(3) as usize);
        }
        if self.chance(4) {
            let mut session = || SessionId(self.random.below(8) as u32);
            selection.sessions = vec![session(), session()];
        }
        if self.chance(4) {
            selection.recorded = self.window();
        }
        if self.chance(4) {
            selection.happened = self.window();
        }
        if self.chance(5) {
            selection.confidence = self.bounds();
        }
        if self.chance(5) {
            selection.strength = self.bounds();
        }
        if self.chance(4) {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let by: [&[&str]; 4] = [&[], &["uid:1"], &["uid:2", "token:t"], &["uid:3"]];
            let agents: [&[&str]; 4] = [&[], &[], &["a"], &["b", "c"]];
            selection.authors = AuthorNames {
                by: names(self.random.pick(&by)),
                agents: names(self.random.pick(&agents)),
            };
        }
        if self.chance(8) {
            selection.strength_at = Some(self.now);
        }
        if self.chance(4) {
            let words = [
                "stone",
                "the rivers",
                "walked garden",
                "東京",
                "paint the stone",
            ];
            selection.keyword = Some(self.random.pick(&words).to_owned());
        }
        if self.chance(3) {
            let described = described::filter(self.random);
            let filters = [
                json!({"n": {"gte": 5}}),
                json!({"tags": "x", "text": {"contains": "r"}}),
                json!({"or": [{"strength": {"lt": 0.5}}, {"type": "decision"}]}),
                json!({"and": [described.clone(), {"confidence": {"gte": 0.5}}]}),
                described,
            ];
            let filter = &filters[self.random.below(10).min(4) as usize];
            let filter = Filter::parse(filter).unwrap_or_else(|e| panic!("{filter}: {e}"));
            selection.filter = Some(filter);
        }
        selection
    }

    /// A filter about attributes.
    pub fn filter(&mut self) -> Filter {
        let filter = described::filter(self.random);
        Filter::parse(&filter).unwrap_or_else(|e| panic!("{filter}: {e}"))
    }

    /// An order.
    pub fn order(&mut self) -> Order {
        self.random.pick(&[
            Order::Newest(Axis::Recorded),
            Order::Oldest(Axis::Recorded),
            Order::Newest(Axis::Happened),
            Order::Oldest(Axis::Happened),
            Order::Strongest,
        ])
    }

    /// Which way edges are followed, and which edges.
    pub fn ways(&mut self) -> (Follow, Vec<EdgeType>) {
        let follow = [Follow::Outgoing, Follow::Incoming, Follow::Both];
        let types: [&[u8]; 4] = [&[], &[0, 1], &[3], &[4, 6, 99]];
        let types = self.random.pick(&types);
        (
            self.random.pick(&follow),
            types.iter().map(|&t| EdgeType(t)).collect(),
        )
    }
}
