//! The vectors of a new base, and what cosine needs of them.

use super::image::{Sink, Stream};
use super::kept::Kept;
use super::old::Old;
use crate::base::Base;
use crate::error::Result;
use crate::types::{Flags, NodeId};

/// What section 0x4F says of the vectors.
pub(super) struct Sums {
    pub(super) count: u64,
    pub(super) sum: Vec<f64>,
    pub(super) inverse_lengths: Vec<f32>,
}

impl Sums {
    fn add(&mut self, vector: &[f32]) {
        self.sum
            .iter_mut()
            .zip(vector)
            .for_each(|(sum, &x)| *sum += f64::from(x));
    }
}

/// Writes the vectors of all events.
pub(super) fn write(kept: &Kept<'_>, stream: &mut Stream, sink: &mut dyn Sink) -> Result<Sums> {
    let dimension = kept.view.vector_dimension() as usize;
    let none = vec![0.0f32; dimension];
    let mut sums = Sums {
        count: 0,
        sum: vec![0.0; dimension],
        inverse_lengths: Vec::with_capacity(kept.view.nodes() as usize),
    };
    if let Some(base) = kept.base() {
        keep(kept, base, &mut sums, stream, sink)?;
    }
    for id in kept.new_events() {
        let node = kept.view.node(id)?;
        let vector = node.vector()?;
        stream.write(sink, bytemuck::cast_slice(vector.unwrap_or(&none)))?;
        sums.inverse_lengths
            .push(vector.map_or(0.0, inverse_length));
        if let Some(vector) = vector {
            sums.count += 1;
            sums.add(vector);
        }
    }
    Ok(sums)
}

/// Kept vectors are copied in long runs. Their sum is the base's as long as all of them are: added in order of id, it
/// has the same bits then.
fn keep(
    kept: &Kept<'_>,
    base: &Base,
    sums: &mut Sums,
    stream: &mut Stream,
    sink: &mut dyn Sink,
) -> Result<()> {
    let h = base.header();
    let old = Old::new(base, "vectors", h.vectors, h.sections())?;
    let known = base.vector_sums()?;
    let len = u64::from(h.dimension) * 4;
    sums.count = known.count;
    sums.inverse_lengths
        .extend_from_slice(known.inverse_lengths);
    let none = vec![0.0f32; h.dimension as usize];
    let mut from = 0;
    for &id in &kept.vectors {
        let id = NodeId(id.into());
        stream.copy(sink, &old, from * len..id.0 * len)?;
        let node = kept.view.node(id)?;
        let vector = node.vector()?;
        stream.write(sink, bytemuck::cast_slice(vector.unwrap_or(&none)))?;
        from = id.0 + 1;
        let had = base.record(id)?.flags.has(Flags::VECTOR);
        sums.count = (sums.count + u64::from(vector.is_some())).saturating_sub(u64::from(had));
        sums.inverse_lengths[id.0 as usize] = vector.map_or(0.0, inverse_length);
    }
    stream.copy(sink, &old, from * len..kept.first * len)?;
    if kept.vectors.is_empty() {
        sums.sum.copy_from_slice(known.sum);
        return Ok(());
    }
    let mut changed = kept.vectors.iter().copied().peekable();
    for id in (0..kept.first).map(NodeId) {
        if changed.next_if(|&next| u64::from(next) == id.0).is_some() {
            if let Some(vector) = kept.view.node(id)?.vector()? {
                sums.add(vector);
            }
        } else if sums.inverse_lengths[id.0 as usize] != 0.0 {
            // A vector of zeros changes no sum.
            sums.add(base.vector(id)?);
        }
    }
    Ok(())
}

/// 1 / length of a vector, 0 for one of zeros. Summed in f64, so that no vector overflows, in eight lanes, so that no
/// addition waits for the one before.
pub(crate) fn inverse_length(vector: &[f32]) -> f32 {
    let (chunks, rest) = vector.as_chunks::<8>();
    let mut lanes = [0.0f64; 8];
    for chunk in chunks {
        for i in 0..8 {
            lanes[i] += f64::from(chunk[i]) * f64::from(chunk[i]);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += f64::from(x) * f64::from(x);
    }
    let square: f64 = lanes.iter().sum();
    if square > 0.0 {
        (1.0 / square.sqrt()) as f32
    } else {
        0.0
    }
}
