//! The cosines between a question and every event of a view, scaled: the least of any event is 0, the mean `ORDINARY`, the
//! greatest 1, with straight lines between.
//!
//! Most vectors of a brain have nothing to do with the question, and their cosines are about the mean. Where the least and
//! the greatest alone made the scale, each of those had a half, and lent it to its neighbours. The mean is that of
//! `SAMPLE` events at most, spread evenly over all: so it is the same before and after a checkpoint, and costs little.
//!
//! Codes bound them all; the extremes are found exactly among those whose bounds may be one, and any other is told when it
//! is asked for.

use super::vectors::{self, Direction, Vectors};
use crate::error::Result;
use crate::nearest::{Query, spread};
use crate::view::View;

/// If the greatest and the least of all differ by no more, they tell nothing: scaled up, it would be what 32 bits round.
const ALIKE: f32 = 1e-3;

/// What an event has whose cosine is the mean.
const ORDINARY: f32 = 0.1;
/// Events whose cosines make the mean, at most.
const SAMPLE: u64 = 256;

/// Cosines, told on demand.
#[derive(Debug)]
pub(super) struct Cosines<'v> {
    vectors: Vectors<'v>,
    /// None if all are taken to be alike.
    direction: Option<Direction>,
    least: f32,
    mean: f32,
    most: f32,
}

impl<'v> Cosines<'v> {
    /// `None` if they tell no two events apart. `uppers` becomes a bound of each event's cosine, by id; not a number
    /// where there is none.
    pub(super) fn new(
        view: &'v View,
        question: &[f32],
        uppers: &mut Vec<f32>,
    ) -> Result<Option<Self>> {
        vectors::check(view, question)?;
        let vectors = Vectors::new(view)?;
        let Some(direction) = Direction::of(question) else {
            return Ok(None);
        };
        let mut extremes = Extremes::default();
        uppers.clear();
        uppers.resize(view.nodes() as usize, f32::NAN);
        let cosine = |id: u32| cosine(&vectors, &direction, id);
        if let Some(codes) = view.brain().base().codes()? {
            let query = Query::new(direction.unit(), &codes);
            let in_place = &mut uppers[..vectors.in_place() as usize];
            for id in spread::bound(&codes, &query, vectors.changed(), in_place) {
                if let Some(cosine) = cosine(id)? {
                    extremes.add(cosine);
                    uppers[id as usize] = cosine;
                }
            }
        }
        vectors.for_each_moved(|id, vector, inverse| {
            if inverse != 0.0
                && let Some(cosine) = direction.cosine(vector, inverse)?
            {
                extremes.add(cosine);
                uppers[id as usize] = cosine;
            }
            Ok(())
        })?;
        let Extremes { least, most } = extremes;
        // The negation: there may be none, and then they are infinite.
        if !(most - least > ALIKE) {
            return Ok(None);
        }
        let (mut sum, mut count) = (0.0f64, 0u32);
        for id in (0..view.nodes() as u32).step_by(view.nodes().div_ceil(SAMPLE).max(1) as usize) {
            if let Some(cosine) = cosine(id)? {
                sum += f64::from(cosine);
                count += 1;
            }
        }
        let mean = match count {
            // None of those has a vector.
            0 => least,
            _ => (sum / f64::from(count)) as f32,
        };
        Ok(Some(Self {
            vectors,
            direction: Some(direction),
            least,
            mean: mean.clamp(least, most),
            most,
        }))
    }

    /// As if every vector that is not of zeros were the greatest: where nothing else was asked for, a brain's only vector
    /// is found, and so are those that all are the same.
    pub(super) fn all_alike(view: &'v View, uppers: &mut Vec<f32>) -> Result<Self> {
        let vectors = Vectors::new(view)?;
        uppers.clear();
        uppers.resize(view.nodes() as usize, f32::NAN);
        vectors.for_each(|id, _, inverse| {
            if inverse != 0.0 {
                uppers[id as usize] = 1.0;
            }
            Ok(())
        })?;
        Ok(Self {
            vectors,
            direction: None,
            least: 0.0,
            mean: 0.0,
            most: 1.0,
        })
    }

    /// What a cosine, or a bound of one, becomes.
    #[inline]
    pub(super) fn scale(&self, cosine: f32) -> f32 {
        let part = |from: f32, to: f32| match to > from {
            true => (cosine - from) / (to - from),
            false => 0.0,
        };
        match cosine > self.mean {
            true => ORDINARY + (1.0 - ORDINARY) * part(self.mean, self.most),
            false => ORDINARY * part(self.least, self.mean),
        }
    }

    /// The scaled cosine of an event; 0 if it has none.
    pub(super) fn scaled(&self, id: u32) -> Result<f32> {
        let Some(direction) = &self.direction else {
            let mut has_direction = false;
            vector(&self.vectors, id, |_, inverse| {
                has_direction = inverse != 0.0;
                Ok(())
            })?;
            return Ok(if has_direction { self.scale(1.0) } else { 0.0 });
        };
        let cosine = cosine(&self.vectors, direction, id)?;
        Ok(cosine.map_or(0.0, |cosine| self.scale(cosine)))
    }
}

/// The least and the greatest.
#[derive(Debug)]
struct Extremes {
    least: f32,
    most: f32,
}

impl Default for Extremes {
    fn default() -> Self {
        Self {
            least: f32::INFINITY,
            most: f32::NEG_INFINITY,
        }
    }
}

impl Extremes {
    fn add(&mut self, cosine: f32) {
        (self.least, self.most) = (self.least.min(cosine), self.most.max(cosine));
    }
}

/// The cosine of an event with a direction; `None` if it has no vector, or one of zeros.
fn cosine(vectors: &Vectors<'_>, direction: &Direction, id: u32) -> Result<Option<f32>> {
    let mut found = None;
    vector(vectors, id, |vector, inverse| {
        if inverse != 0.0 {
            found = direction.cosine(vector, inverse)?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Calls `f` with the vector of an event and 1 / its length, if it has one.
fn vector(
    vectors: &Vectors<'_>,
    id: u32,
    mut f: impl FnMut(&[f32], f32) -> Result<()>,
) -> Result<()> {
    match vectors.placed(id) {
        Some((vector, inverse)) => f(vector, inverse),
        None => vectors.look_at(id, &mut |_, vector, inverse| f(vector, inverse)),
    }
}
