//! Writes the vectors of a new base, and computes their lengths.

use super::copy_plan::CopyPlan;
use super::source_table;
use crate::base::Base;
use crate::base::image::{Sink, Stream};
use crate::base::vectors::inverse_length;
use crate::error::Result;
use crate::types::NodeId;

/// Writes the vectors of all events; returns 1 / length of each.
pub(super) fn write(
    plan: &CopyPlan<'_>,
    stream: &mut Stream,
    sink: &mut dyn Sink,
) -> Result<Vec<f32>> {
    let none = vec![0.0f32; plan.view.vector_dimension() as usize];
    let mut inverse_lengths = Vec::with_capacity(plan.view.nodes() as usize);
    if let Some(base) = plan.base() {
        copy(plan, base, &mut inverse_lengths, stream, sink)?;
    }
    for id in plan.new_events() {
        let node = plan.view.node(id)?;
        let vector = node.vector()?;
        stream.write(sink, bytemuck::cast_slice(vector.unwrap_or(&none)))?;
        inverse_lengths.push(vector.map_or(0.0, inverse_length));
    }
    Ok(inverse_lengths)
}

/// Copies vectors in long runs.
fn copy(
    plan: &CopyPlan<'_>,
    base: &Base,
    inverse_lengths: &mut Vec<f32>,
    stream: &mut Stream,
    sink: &mut dyn Sink,
) -> Result<()> {
    let h = base.header();
    let old = source_table::stream(base, "vectors", h.vectors, h.sections())?;
    let len = u64::from(h.dimension) * 4;
    inverse_lengths.extend_from_slice(base.inverse_lengths()?);
    let none = vec![0.0f32; h.dimension as usize];
    let mut from = 0;
    for &id in &plan.vectors {
        let id = NodeId(id.into());
        stream.copy(sink, &old, from * len..id.0 * len)?;
        let node = plan.view.node(id)?;
        let vector = node.vector()?;
        stream.write(sink, bytemuck::cast_slice(vector.unwrap_or(&none)))?;
        from = id.0 + 1;
        inverse_lengths[id.0 as usize] = vector.map_or(0.0, inverse_length);
    }
    stream.copy(sink, &old, from * len..plan.first * len)
}
