//! The cosines between a question and every event of a view or of a scope in it, scaled: the greatest becomes 1 and the
//! mean `MEAN_SCORE`, linear between them. Below the mean they fall towards 0: `MEAN_SCORE` divided by 1 plus the
//! distance below the mean, measured in distances from the mean to the greatest.
//!
//! Most vectors of a brain are unrelated to the question and have about the mean cosine. A scale from the least to the
//! greatest would give each of them about one half, and spread it to their neighbours. The mean is that of at most
//! `SAMPLE` events, spread evenly over all: it is the same before and after a checkpoint, and cheap.
//!
//! Quantised vectors bound all cosines. The greatest is computed exactly among those that may be it; others are
//! computed on demand.

use amem_format::error::Result;
use amem_format::nearest::{Query, spread};
use amem_format::vectors::{self, UnitVector, Vectors};
use amem_format::view::View;

/// If the greatest is at most this far above the mean, the cosines distinguish no events: scaling would only amplify
/// the rounding of 32-bit floats.
const EQUAL_WITHIN: f32 = 1e-3;

/// The scaled value of the mean.
const MEAN_SCORE: f32 = 0.1;
/// Raises a bound, for the slope of its line: several times the rounding of 32-bit floats up to 1.
const BOUND_SLACK: f32 = 1e-6;
/// A scope of more events than the brain's divided by this reads quantised vectors first.
const EXACT_SHARE: u64 = 8;
/// Maximum events in the sample for the mean.
const SAMPLE: u64 = 256;

/// Cosines, computed on demand.
#[derive(Debug)]
pub(crate) struct Cosines<'v> {
    vectors: Vectors<'v>,
    /// `None` if all count as equal.
    direction: Option<UnitVector>,
    mean: f32,
    max: f32,
}

impl<'v> Cosines<'v> {
    /// `None` if the cosines distinguish no events; with a `scope`, ids ascending, only its events have one, and with
    /// a `few` of them only these, relative to the mean of the scope. Fills
    /// `upper_bounds` with a bound of each event's cosine, by id, or by place in the scope; NaN for events without one.
    pub(crate) fn new(
        view: &'v View,
        scope: Option<&[u32]>,
        few: Option<&[u32]>,
        question: &[f32],
        upper_bounds: &mut Vec<f32>,
    ) -> Result<Option<Self>> {
        let listed = few.or(scope);
        vectors::check(view, question)?;
        let vectors = Vectors::new(view)?;
        let Some(direction) = UnitVector::of(question) else {
            return Ok(None);
        };
        let mut max = f32::NEG_INFINITY;
        upper_bounds.clear();
        let events = listed.map_or(view.nodes() as usize, <[u32]>::len);
        upper_bounds.resize(events, f32::NAN);
        let cosine = |id: u32| cosine(&vectors, &direction, id);
        if let Some(ids) = listed {
            max = of_scope(view, &vectors, &direction, ids, upper_bounds)?;
        } else if let Some(codes) = view.brain().base().codes()? {
            let query = Query::new(direction.unit(), &codes);
            let in_place = &mut upper_bounds[..vectors.in_place() as usize];
            for id in spread::bound(&codes, &query, vectors.changed(), in_place) {
                if let Some(cosine) = cosine(id)? {
                    max = max.max(cosine);
                    upper_bounds[id as usize] = cosine;
                }
            }
        }
        if listed.is_none() {
            vectors.for_each_moved(|id, vector, inverse| {
                if inverse != 0.0
                    && let Some(cosine) = direction.cosine(vector, inverse)?
                {
                    max = max.max(cosine);
                    upper_bounds[id as usize] = cosine;
                }
                Ok(())
            })?;
        }
        // Without a vector in the sample, every cosine is above the mean.
        let mean = mean_of_sample(view, scope, &vectors, &direction)?.unwrap_or(-1.0);
        // Of few events all may be below the mean: they differ nevertheless.
        if few.is_some() && max.is_finite() {
            max = max.max(mean + 2.0 * EQUAL_WITHIN);
        }
        // `None` if no event has a cosine.
        Ok((max - mean > EQUAL_WITHIN).then_some(Self {
            vectors,
            direction: Some(direction),
            mean,
            max,
        }))
    }

    /// Counts every non-zero vector as the greatest. If the question has no words, a brain's only vector, and vectors
    /// that are all equal, are then found.
    pub(crate) fn all_equal(
        view: &'v View,
        scope: Option<&[u32]>,
        upper_bounds: &mut Vec<f32>,
    ) -> Result<Self> {
        let vectors = Vectors::new(view)?;
        upper_bounds.clear();
        match scope {
            Some(ids) => {
                for &id in ids {
                    let mut bound = f32::NAN;
                    vector(&vectors, id, |_, inverse| {
                        bound = if inverse != 0.0 { 1.0 } else { f32::NAN };
                        Ok(())
                    })?;
                    upper_bounds.push(bound);
                }
            }
            None => {
                upper_bounds.resize(view.nodes() as usize, f32::NAN);
                vectors.for_each(|id, _, inverse| {
                    if inverse != 0.0 {
                        upper_bounds[id as usize] = 1.0;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(Self {
            vectors,
            direction: None,
            mean: 0.0,
            max: 1.0,
        })
    }

    /// An event's cosine as a relevance; 0 if it has none, or if all count as equal.
    pub(crate) fn relevance(&self, id: u32) -> Result<f32> {
        let Some(direction) = &self.direction else {
            return Ok(0.0);
        };
        let cosine = cosine(&self.vectors, direction, id)?;
        Ok(cosine.map_or(0.0, |cosine| relevance(cosine, self.mean)))
    }

    /// Scales a cosine, or a bound of one.
    #[inline]
    pub(crate) fn scale(&self, cosine: f32) -> f32 {
        let part = (cosine - self.mean) / (self.max - self.mean);
        if part > 0.0 {
            MEAN_SCORE + (1.0 - MEAN_SCORE) * part
        } else {
            MEAN_SCORE / (1.0 - part)
        }
    }

    /// Turns bounds of cosines into bounds of scaled cosines times a weight. NaN becomes 0.
    pub(crate) fn scale_bounds(&self, weight: f32, bounds: &mut [f32]) {
        // Free of branches, and rounded differently from `scale`: hence the slack.
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

/// A cosine as a relevance: the part of the way from the mean cosine to 1, which an unrelated event does not go.
pub(crate) fn relevance(cosine: f32, mean: f32) -> f32 {
    ((cosine - mean) / (1.0 - mean).max(EQUAL_WITHIN)).clamp(0.0, 1.0)
}

/// The cosine from which on the relevance is at least this.
pub(crate) fn of_relevance(relevance: f32, mean: f32) -> f32 {
    mean + relevance * (1.0 - mean)
}

/// The mean cosine of the sample of a view or a scope; `None` if no event of it has a vector.
pub(crate) fn mean_of_sample(
    view: &View,
    scope: Option<&[u32]>,
    vectors: &Vectors<'_>,
    direction: &UnitVector,
) -> Result<Option<f32>> {
    let (mut sum, mut count) = (0.0f64, 0u32);
    for id in sample(view, scope) {
        if let Some(cosine) = cosine(vectors, direction, id)? {
            sum += f64::from(cosine);
            count += 1;
        }
    }
    Ok((count > 0).then(|| (sum / f64::from(count)) as f32))
}

/// The events of the sample.
fn sample(view: &View, scope: Option<&[u32]>) -> impl Iterator<Item = u32> {
    let events = scope.map_or(view.nodes(), |ids| ids.len() as u64);
    let step = events.div_ceil(SAMPLE).max(1) as usize;
    (0..events as u32)
        .step_by(step)
        .map(move |at| scope.map_or(at, |ids| ids[at as usize]))
}

/// A question's direction less the mean direction of the sample, which is common to all texts; `None` if that leaves
/// next to nothing, or there is no vector to compare with.
pub(crate) fn centred(
    view: &View,
    scope: Option<&[u32]>,
    question: &[f32],
) -> Result<Option<Vec<f32>>> {
    vectors::check(view, question)?;
    let vectors = Vectors::new(view)?;
    let Some(direction) = UnitVector::of(question) else {
        return Ok(None);
    };
    let (mut sums, mut count) = (vec![0.0f64; question.len()], 0u32);
    for id in sample(view, scope) {
        vector(&vectors, id, |vector, inverse| {
            if inverse != 0.0 {
                count += 1;
                for (sum, &x) in sums.iter_mut().zip(vector) {
                    *sum += f64::from(x) * f64::from(inverse);
                }
            }
            Ok(())
        })?;
    }
    if count == 0 {
        return Ok(None);
    }
    let unit = direction.unit().iter();
    let centred = unit.zip(&sums).map(|(&x, sum)| {
        let mean = sum / f64::from(count);
        (f64::from(x) - mean) as f32
    });
    let centred: Vec<f32> = centred.collect();
    let squares: f32 = centred.iter().map(|x| x * x).sum();
    Ok((squares.sqrt() > EQUAL_WITHIN).then_some(centred))
}

/// Fills the bounds of a scope's events, by place in it, and returns the greatest cosine. A small scope is computed
/// exactly; of a large one the quantised vectors bound all cosines, and those that may be the greatest are computed.
fn of_scope(
    view: &View,
    vectors: &Vectors<'_>,
    direction: &UnitVector,
    ids: &[u32],
    upper_bounds: &mut [f32],
) -> Result<f32> {
    let mut max = f32::NEG_INFINITY;
    let mut exact = |id: u32, bound: &mut f32| {
        *bound = cosine(vectors, direction, id)?.unwrap_or(f32::NAN);
        max = max.max(*bound);
        Ok(max)
    };
    let codes = view.brain().base().codes()?;
    let is_large = ids.len() as u64 > view.nodes() / EXACT_SHARE;
    let Some(codes) = codes.filter(|_| is_large) else {
        for (&id, bound) in ids.iter().zip(upper_bounds) {
            exact(id, bound)?;
        }
        return Ok(max);
    };
    let query = Query::new(direction.unit(), &codes);
    let mut all = vec![f32::NAN; view.nodes() as usize];
    let in_place = vectors.in_place() as usize;
    spread::bound(&codes, &query, vectors.changed(), &mut all[..in_place]);
    let bound_of = |&at: &usize| all[ids[at] as usize];
    let best = (0..ids.len()).filter(|at| bound_of(at) < f32::INFINITY);
    let best = best.max_by(|a, b| bound_of(a).total_cmp(&bound_of(b)));
    let mut floor = f32::NEG_INFINITY;
    if let Some(best) = best {
        floor = exact(ids[best], &mut upper_bounds[best])?;
    }
    for (&id, bound) in ids.iter().zip(upper_bounds) {
        let known = all[id as usize];
        // The bound of a vector that the journal changed is not a number.
        if known.is_nan() || known >= floor {
            floor = exact(id, bound)?;
        } else {
            *bound = known;
        }
    }
    Ok(max)
}

/// The cosine of an event and a direction; `None` without a non-zero vector.
fn cosine(vectors: &Vectors<'_>, direction: &UnitVector, id: u32) -> Result<Option<f32>> {
    let mut found = None;
    vector(vectors, id, |vector, inverse| {
        if inverse != 0.0 {
            found = direction.cosine(vector, inverse)?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Calls `f` with the vector of an event, if it has one, and 1 / its length.
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
