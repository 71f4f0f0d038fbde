//! The vectors of a view, in order of id, and cosine similarity.
//!
//! Vectors of the base are read in place, those that the delta changed from the delta. Sums have a fixed order, so that
//! a similarity has the same bits in base and delta, on every machine.

use std::ops::Range;

use crate::base::history::PriorValue;
use crate::base::vectors::inverse_length;
use crate::delta::entry::ValueRef;
use crate::error::{Error, Result};
use crate::types::NodeId;
use crate::view::View;
use amem_kernels::{Kernels, LINE, prefetch};

/// Lengths and inverse lengths for which 32-bit sums neither overflow nor underflow.
pub const SAFE: std::ops::RangeInclusive<f32> = 1e-15..=1e15;

/// A vector of length 1, for cosines.
#[derive(Debug)]
pub struct UnitVector {
    unit: Vec<f32>,
    kernels: Kernels,
}

impl UnitVector {
    /// Normalises a vector; `None` for a vector of zeros.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let unit = unit(vector.iter().map(|&x| f64::from(x)))?;
        Some(Self {
            unit,
            kernels: Kernels::best(),
        })
    }

    /// The numbers of the vector.
    pub fn unit(&self) -> &[f32] {
        &self.unit
    }

    /// The cosine with a vector whose length is 1 / `inverse_length`; `None` for a vector of zeros. A number that is
    /// not finite is `Corrupt`.
    #[inline]
    pub fn cosine(&self, vector: &[f32], inverse_length: f32) -> Result<Option<f32>> {
        let cosine = if SAFE.contains(&inverse_length) {
            self.kernels.dot(&self.unit, vector) * inverse_length
        } else {
            f32::NAN
        };
        if cosine.is_finite() {
            return Ok(Some(cosine.clamp(-1.0, 1.0)));
        }
        self.wide_cosine(vector)
    }

    /// `cosine` in 64 bits, for lengths outside `SAFE`.
    #[cold]
    fn wide_cosine(&self, vector: &[f32]) -> Result<Option<f32>> {
        if vector.iter().any(|x| !x.is_finite()) {
            return Err(Error::corrupt("vectors", 0, "a number that is not finite"));
        }
        let (mut dot, mut square) = (0.0, 0.0f64);
        for (&u, &v) in self.unit.iter().zip(vector) {
            dot += f64::from(u) * f64::from(v);
            square += f64::from(v) * f64::from(v);
        }
        Ok((square > 0.0).then(|| ((dot / square.sqrt()) as f32).clamp(-1.0, 1.0)))
    }
}

fn unit(vector: impl Iterator<Item = f64> + Clone) -> Option<Vec<f32>> {
    let square: f64 = vector.clone().map(|x| x * x).sum();
    let length = square.sqrt();
    (length > 0.0).then(|| vector.map(|x| (x / length) as f32).collect())
}

/// Checks the vector of a request: its dimension, and that its numbers are finite.
pub fn check(view: &View, vector: &[f32]) -> Result<()> {
    let expected = view.vector_dimension();
    if vector.len() != expected as usize || expected == 0 {
        let found = vector.len();
        return Err(Error::Dimension { expected, found });
    }
    if vector.iter().any(|x| !x.is_finite()) {
        return Err(Error::invalid(
            "vector",
            "it has a number that is not finite",
        ));
    }
    Ok(())
}

/// The vectors of a view, base and delta joined.
#[derive(Debug)]
pub struct Vectors<'v> {
    view: &'v View,
    dimension: usize,
    base: &'v [f32],
    inverse_lengths: &'v [f32],
    /// Events below this are read from the base, except those in `changed`.
    in_place: u32,
    /// Base events whose vector the delta changed or erased, ascending.
    changed: Vec<u32>,
}

impl<'v> Vectors<'v> {
    /// Collects the base events whose vector changed.
    pub fn new(view: &'v View) -> Result<Self> {
        let brain = view.brain();
        let first = brain.base().nodes();
        let dimension = view.vector_dimension() as usize;
        if view.other_space().is_some() {
            return Ok(Self {
                view,
                dimension,
                base: &[],
                inverse_lengths: &[],
                in_place: 0,
                changed: Vec::new(),
            });
        }
        let mut changed = Vec::new();
        let states = &brain.delta().events.states;
        let until = states.partition_point(states.len(), |state| state.lsn <= view.lsn());
        for state in (0..until).filter_map(|at| states.get(at)) {
            if state.node.0 < first && state.vector != ValueRef::Initial {
                changed.push(state.node.0 as u32);
            }
        }
        if view.before_base() {
            for change in brain.base().history()?.iter() {
                let change = change?;
                if change.lsn > view.moment().0 && matches!(change.before, PriorValue::Vector(_)) {
                    changed.push(change.target.0 as u32);
                }
            }
        }
        changed.sort_unstable();
        changed.dedup();
        let in_place = first.min(view.nodes()) as u32;
        Ok(Self {
            view,
            dimension,
            base: brain.base().vectors()?,
            inverse_lengths: brain.base().inverse_lengths()?,
            in_place,
            changed,
        })
    }

    /// Calls `f` with id, vector and 1 / length of every event that has a vector, in order of id. For a vector of zeros
    /// 1 / length is 0.
    pub fn for_each(&self, f: impl FnMut(u32, &[f32], f32) -> Result<()>) -> Result<()> {
        self.for_each_of(0..self.view.nodes() as u32, f)
    }

    /// `for_each` over a range of ids.
    pub fn for_each_of(
        &self,
        ids: Range<u32>,
        mut f: impl FnMut(u32, &[f32], f32) -> Result<()>,
    ) -> Result<()> {
        if self.dimension == 0 {
            return Ok(());
        }
        let before = self.changed.partition_point(|&id| id < ids.start);
        let mut changed = self.changed[before..].iter().copied().peekable();
        let (from, to) = (ids.start as usize, ids.end.min(self.in_place) as usize);
        let range = from.min(to)..to;
        let numbers = range.start * self.dimension..range.end * self.dimension;
        let vectors = self.base[numbers].chunks_exact(self.dimension);
        let in_place = (ids.start..).zip(vectors.zip(&self.inverse_lengths[range]));
        for (id, (vector, &inverse)) in in_place {
            if changed.next_if_eq(&id).is_some() || inverse == 0.0 {
                self.look_at(id, &mut f)?;
            } else {
                f(id, vector, inverse)?;
            }
        }
        (self.in_place.max(ids.start)..ids.end).try_for_each(|id| self.look_at(id, &mut f))
    }

    /// `for_each` over the events that are not read in place: changed base events and newer events.
    pub fn for_each_moved(&self, mut f: impl FnMut(u32, &[f32], f32) -> Result<()>) -> Result<()> {
        if self.dimension == 0 {
            return Ok(());
        }
        let changed = self
            .changed
            .iter()
            .copied()
            .filter(|&id| id < self.in_place);
        let newer = self.in_place..self.view.nodes() as u32;
        changed
            .chain(newer)
            .try_for_each(|id| self.look_at(id, &mut f))
    }

    /// Events below this are read in place, except those in `changed`.
    pub fn in_place(&self) -> u32 {
        self.in_place
    }

    /// Base events whose vector changed, ascending.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// The vector of an event that is read in place, and 1 / its length; `None` for other events.
    pub fn placed(&self, id: u32) -> Option<(&'v [f32], f32)> {
        if id >= self.in_place || self.changed.binary_search(&id).is_ok() {
            return None;
        }
        let at = id as usize;
        let vector = self
            .base
            .get(at * self.dimension..(at + 1) * self.dimension)?;
        Some((vector, *self.inverse_lengths.get(at)?))
    }

    /// Prefetches the vector of an event in the base.
    #[inline]
    pub fn expect(&self, id: u32) {
        let at = id as usize;
        prefetch(self.inverse_lengths, at);
        let numbers = at * self.dimension..(at + 1) * self.dimension;
        for line in numbers.step_by(LINE / size_of::<f32>()) {
            prefetch(self.base, line);
        }
    }

    /// `for_each` for one event.
    pub fn look_at(
        &self,
        id: u32,
        f: &mut impl FnMut(u32, &[f32], f32) -> Result<()>,
    ) -> Result<()> {
        match self.view.node(NodeId(id.into()))?.vector()? {
            Some(vector) => f(id, vector, inverse_length(vector)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u64, count: usize) -> Vec<f32> {
        let mut x = seed;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn similarity_is_the_cosine_at_every_length() {
        for len in 1..100 {
            let (a, b) = (numbers(1, len), numbers(2, len));
            let wide = |v: &[f32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (wide_a, wide_b) = (wide(&a), wide(&b));
            let expected =
                dot(&wide_a, &wide_b) / (dot(&wide_a, &wide_a) * dot(&wide_b, &wide_b)).sqrt();
            let direction = UnitVector::of(&a).unwrap();
            let found = direction.cosine(&b, inverse_length(&b)).unwrap().unwrap();
            assert!(
                (f64::from(found) - expected).abs() < 1e-5,
                "{len}: {found} {expected}"
            );
        }
    }

    #[test]
    fn very_long_and_very_short_vectors_have_a_direction_too() {
        let (a, b) = (numbers(1, 50), numbers(2, 50));
        let scaled = |v: &[f32], by: f32| v.iter().map(|x| x * by).collect::<Vec<f32>>();
        let expected = UnitVector::of(&a).unwrap().cosine(&b, inverse_length(&b));
        let expected = expected.unwrap().unwrap();
        for by in [1e-37, 1e-20, 1e20, 1e37] {
            let b = scaled(&b, by);
            for a in [a.clone(), scaled(&a, by)] {
                let direction = UnitVector::of(&a).unwrap();
                let found = direction.cosine(&b, inverse_length(&b)).unwrap().unwrap();
                assert!((found - expected).abs() < 1e-4, "{by}: {found} {expected}");
            }
        }
    }

    #[test]
    fn a_vector_of_zeros_has_no_cosine() {
        assert!(UnitVector::of(&[0.0, 0.0]).is_none());
        let direction = UnitVector::of(&[1.0, 0.0]).unwrap();
        assert_eq!(direction.cosine(&[0.0, 0.0], 0.0).unwrap(), None);
        assert!(direction.cosine(&[f32::NAN, 0.0], 1.0).is_err());
        assert!(direction.cosine(&[f32::INFINITY, 0.0], 1.0).is_err());
    }
}
