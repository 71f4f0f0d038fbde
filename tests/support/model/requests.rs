//! Random requests that make sense in a world.

use amem_core::query::filter::Filter;
use amem_core::query::{Axis, Bounds, Follow, Order, Scope, Selection, Window};
use amem_core::{EdgeType, EventType, Micros, SessionId};
use serde_json::json;

use super::described;
use super::world::World;

/// Makes requests.
pub struct Requests<'w>(pub &'w mut World);

impl Requests<'_> {
    fn chance(&mut self, one_in: u64) -> bool {
        self.0.random.below(one_in) == 0
    }

    /// A scope, mostly an open one.
    pub fn scope(&mut self) -> Scope {
        if !self.chance(6) {
            return Scope::default();
        }
        let user = format!("u{}", self.0.random.below(2));
        let agent = self
            .chance(2)
            .then(|| format!("a{}", self.0.random.below(2)));
        Scope {
            user: Some(user),
            agent,
            run: None,
        }
    }

    fn window(&mut self) -> Window {
        let now = self.0.view().time().0;
        let end = |world: &mut World| {
            let back = world.random.below(60 * Micros::DAY as u64) as i64;
            (world.random.below(2) == 0).then_some(Micros(now - back))
        };
        let (a, b) = (end(self.0), end(self.0));
        match (a, b) {
            (Some(a), Some(b)) => Window {
                from: Some(a.min(b)),
                until: Some(a.max(b)),
            },
            (from, until) => Window { from, until },
        }
    }

    fn bounds(&mut self) -> Bounds {
        let (a, b) = (self.0.random.unit(), self.0.random.unit());
        let (min, max) = (Some(a.min(b)), Some(a.max(b)));
        match self.0.random.below(3) {
            0 => Bounds { min, max },
            1 => Bounds { min, max: None },
            _ => Bounds { min: None, max },
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
            selection
                .types
                .truncate(1 + self.0.random.below(3) as usize);
        }
        if self.chance(4) {
            let mut session = || SessionId(self.0.random.below(8) as u32);
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
        if self.chance(8) {
            selection.strength_at = Some(self.0.view().time());
        }
        if self.chance(4) {
            let words = [
                "stone",
                "the rivers",
                "walked garden",
                "東京",
                "paint the stone",
            ];
            selection.keyword = Some(self.0.random.pick(&words).to_owned());
        }
        if self.chance(3) {
            let described = described::filter(&mut self.0.random);
            let filters = [
                json!({"n": {"gte": 5}}),
                json!({"tags": "x", "text": {"contains": "r"}}),
                json!({"or": [{"strength": {"lt": 0.5}}, {"type": "decision"}]}),
                json!({"and": [described.clone(), {"confidence": {"gte": 0.5}}]}),
                described,
            ];
            let filter = &filters[self.0.random.below(10).min(4) as usize];
            let filter = Filter::parse(filter).unwrap_or_else(|e| panic!("{filter}: {e}"));
            selection.filter = Some(filter);
        }
        selection
    }

    /// A filter about attributes.
    pub fn filter(&mut self) -> Filter {
        let filter = described::filter(&mut self.0.random);
        Filter::parse(&filter).unwrap_or_else(|e| panic!("{filter}: {e}"))
    }

    /// An order.
    pub fn order(&mut self) -> Order {
        self.0.random.pick(&[
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
        let types = self.0.random.pick(&types);
        (
            self.0.random.pick(&follow),
            types.iter().map(|&t| EdgeType(t)).collect(),
        )
    }
}
