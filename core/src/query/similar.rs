//! Similar: the events whose vectors point the same way.
//!
//! Every vector is compared, exactly. Events without a vector, and with one of zeros, are like nothing.

use super::answer::{Answered, check_limit};
use super::scope::Sight;
use super::selected::Selected;
use super::selection::Selection;
use super::vectors::{self, Direction, Vectors};
use crate::error::{Error, Result};
use crate::text::{Scored, Top};
use crate::types::NodeId;
use crate::view::View;

/// What others are to be like.
#[derive(Debug, Clone, PartialEq)]
pub enum Like {
    /// A vector of the brain's dimension and vector space.
    Vector(Vec<f32>),
    /// The vector of an event, which is not in the answer itself.
    Event(NodeId),
}

/// Asks for events by the cosine between vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// Like what.
    pub like: Like,
    /// Which events.
    pub selection: Selection,
    /// Events of the answer, 1 to `limits::PAGE_MAX`; 10 unless told otherwise.
    pub limit: usize,
    /// None below this, −1 to 1.
    pub min_similarity: Option<f32>,
}

impl Default for Similar {
    fn default() -> Self {
        Self {
            like: Like::Vector(Vec::new()),
            selection: Selection::default(),
            limit: 10,
            min_similarity: None,
        }
    }
}

/// The most similar events.
#[derive(Debug, Clone, PartialEq)]
pub struct Alike {
    /// Who answered.
    pub answered: Answered,
    /// Events and their similarity, −1 to 1, the greatest first; of equals, the highest id.
    pub hits: Vec<(NodeId, f32)>,
}

impl Similar {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Alike> {
        check_limit(self.limit)?;
        let least = self.min_similarity.unwrap_or(-1.0);
        if !(-1.0..=1.0).contains(&least) {
            let why = format!("{least} is not within -1 and 1");
            return Err(Error::invalid("min_similarity", why));
        }
        let (direction, itself) = self.direction(view)?;
        let mut selected = Selected::new(view, &self.selection, view.nodes())?;
        let (driver, shortest) = selected.driver()?;
        let vectors = Vectors::new(view)?;
        let mut top = Top::new(self.limit);
        let mut rate = |selected: &mut Selected<'_>, id: u32, vector: &[f32], inverse: f32| {
            let Some(score) = direction.cosine(vector, inverse)? else {
                return Ok(());
            };
            let scored = Scored { score, id };
            let node = NodeId(id.into());
            if score >= least
                && top.takes(scored)
                && Some(node) != itself
                && selected.admits_id(node)?
            {
                top.push(scored);
            }
            Ok(())
        };
        // Reading in order is an order of magnitude faster than looking here and there.
        if shortest < view.nodes() / 8 {
            let mut walk = driver.walk(selected.ids.clone(), false);
            while let Some(id) = walk.next()? {
                vectors.look_at(id.0 as u32, &mut |id, vector, inverse| {
                    rate(&mut selected, id, vector, inverse)
                })?;
            }
        } else {
            vectors.for_each(|id, vector, inverse| rate(&mut selected, id, vector, inverse))?;
        }
        Ok(Alike {
            answered: Answered::by(view),
            hits: top
                .into_sorted()
                .map(|(id, score)| (NodeId(id.into()), score))
                .collect(),
        })
    }

    /// What others are compared with, and the event that it is the vector of.
    fn direction(&self, view: &View) -> Result<(Direction, Option<NodeId>)> {
        let no_direction = |what, why| Error::invalid(what, why);
        match &self.like {
            Like::Vector(vector) => {
                vectors::check(view, vector)?;
                let direction = Direction::of(vector)
                    .ok_or_else(|| no_direction("vector", "it is all zeros: nothing is like it"))?;
                Ok((direction, None))
            }
            Like::Event(id) => {
                let selection = &self.selection;
                let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
                let node = sight.open(view, *id)?;
                let direction = node.vector()?.and_then(Direction::of).ok_or_else(|| {
                    let why = format!("{id} has no vector: set one, or search by its text");
                    Error::invalid("event", why)
                })?;
                Ok((direction, Some(*id)))
            }
        }
    }
}
