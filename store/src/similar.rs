//! The events most similar to a vector, for edges that a new event gets by itself.

use amem_core::NodeId;
use amem_core::view::View;

use crate::error::Result;

/// The `k` visible events of the largest cosine from `min` on, largest first, then newest.
pub(crate) fn most(view: &View, vector: &[f32], k: usize, min: f32) -> Result<Vec<(NodeId, f32)>> {
    let _ = (view, vector, k, min);
    Ok(Vec::new())
}
