//! The cosines between a question and every event of a view, scaled: the greatest is 1, the mean `ORDINARY`, with a
//! straight line between; below the mean they fall towards 0, as `ORDINARY` over 1 and how many times further below it
//! they are than the greatest is above.
//!
//! Most vectors of a brain have nothing to do with the question, and their cosines are about the mean. Where the least
//! and the greatest alone made the scale, each of those had a half, and lent it to its neighbours. The mean is that of
//! `SAMPLE` events at most, spread evenly over all: so it is the same before and after a checkpoint, and costs little.
//!
//! Codes bound them all; the greatest is found exactly among those whose bounds may be it, and any other is told when
//! it is asked for.

use amem_format::error::Result;
use amem_format::nearest::{Query, spread};
use amem_format::vectors::{self, Direction, Vectors};
use amem_format::view::View;

/// If the greatest is no further above the mean, they tell nothing: scaled up, it would be what 32 bits round.
const EQUAL_WITHIN: f32 = 1e-3;

/// What an event has whose cosine is the mean.
const MEAN_SCORE: f32 = 0.1;
/// What a bound is raised by, for the steepness of its line: several times what 32 bits round of numbers up to 1.
const BOUND_SLACK: f32 = 1e-6;
/// Events whose cosines make the mean, at most.
const SAMPLE: u64 = 256;

/// Cosines, told on demand.
#[derive(Debug)]
pub(crate) struct Cosines<'v> {
    vectors: Vectors<'v>,
    /// None if all are taken to be alike.
    direction: Option<Direction>,
    mean: f32,
    max: f32,
}

impl<'v> Cosines<'v> {
    /// `None` if they tell no two events apart. `uppers` becomes a bound of each event's cosine, by id; not a number
    /// where there is none.
    pub(crate) fn new(
        view: &'v View,
        question: &[f32],
        upper_bounds: &mut Vec<f32>,
    ) -> Result<Option<Self>> {
        vectors::check(view, question)?;
        let vectors = Vectors::new(view)?;
        let Some(direction) = Direction::of(question) else {
            return Ok(None);
        };
        let mut max = f32::NEG_INFINITY;
        upper_bounds.clear();
        upper_bounds.resize(view.nodes() as usize, f32::NAN);
        let cosine = |id: u32| cosine(&vectors, &direction, id);
        if let Some(codes) = view.brain().base().codes()? {
            let query = Query::new(direction.unit(), &codes);
            let in_place = &mut upper_bounds[..vectors.in_place() as usize];
            for id in spread::bound(&codes, &query, vectors.changed(), in_place) {
                if let Some(cosine) = cosine(id)? {
                    max = max.max(cosine);
                    upper_bounds[id as usize] = cosine;
                }
            }
        }
        vectors.for_each_moved(|id, vector, inverse| {
            if inverse != 0.0
                && let Some(cosine) = direction.cosine(vector, inverse)?
            {
                max = max.max(cosine);
                upper_bounds[id as usize] = cosine;
            }
            Ok(())
        })?;
        let (mut sum, mut count) = (0.0f64, 0u32);
        for id in (0..view.nodes() as u32).step_by(view.nodes().div_ceil(SAMPLE).max(1) as usize) {
            if let Some(cosine) = cosine(id)? {
                sum += f64::from(cosine);
                count += 1;
            }
        }
        let mean = match count {
            // None of those has a vector.
            0 => -1.0,
            _ => (sum / f64::from(count)) as f32,
        };
        // None if no event has a cosine.
        Ok((max - mean > EQUAL_WITHIN).then_some(Self {
            vectors,
            direction: Some(direction),
            mean,
            max,
        }))
    }

    /// As if every vector that is not of zeros were the greatest: where nothing else was asked for, a brain's only
    /// vector is found, and so are those that all are the same.
    pub(crate) fn all_equal(view: &'v View, upper_bounds: &mut Vec<f32>) -> Result<Self> {
        let vectors = Vectors::new(view)?;
        upper_bounds.clear();
        upper_bounds.resize(view.nodes() as usize, f32::NAN);
        vectors.for_each(|id, _, inverse| {
            if inverse != 0.0 {
                upper_bounds[id as usize] = 1.0;
            }
            Ok(())
        })?;
        Ok(Self {
            vectors,
            direction: None,
            mean: 0.0,
            max: 1.0,
        })
    }

    /// What a cosine, or a bound of one, becomes.
    #[inline]
    pub(crate) fn scale(&self, cosine: f32) -> f32 {
        let part = (cosine - self.mean) / (self.max - self.mean);
        match part > 0.0 {
            true => MEAN_SCORE + (1.0 - MEAN_SCORE) * part,
            false => MEAN_SCORE / (1.0 - part),
        }
    }

    /// Makes bounds of cosines bounds of what `scale` makes of them times a weight. What is not a number becomes 0.
    pub(crate) fn scale_bounds(&self, weight: f32, bounds: &mut [f32]) {
        // Without a branch, and rounded otherwise than `scale`: so a little is added.
        let inverse = 1.0 / (self.max - self.mean);
        let slack = BOUND_SLACK * (1.0 + inverse);
        for bound in bounds {
            let part = (*bound - self.mean) * inverse + slack;
            let (above, below) = (
                MEAN_SCORE + (1.0 - MEAN_SCORE) * part,
                MEAN_SCORE / (1.0 - part),
            );
            let scaled = weight * (if part > 0.0 { above } else { below } + BOUND_SLACK);
            *bound = if scaled > 0.0 { scaled } else { 0.0 };
        }
    }

    /// The scaled cosine of an event; 0 if it has none.
    pub(crate) fn scaled(&self, id: u32) -> Result<f32> {
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
