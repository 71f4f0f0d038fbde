//! The events most similar to a vector, for the related-to edges of a new event.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::nearest::{Similar, SimilarityTarget};

use crate::error::Result;

/// The `k` visible events of the largest cosine from `min` on, largest first, then newest.
pub(crate) fn nearest(
    view: &View,
    vector: &[f32],
    k: usize,
    min: f32,
) -> Result<Vec<(NodeId, f32)>> {
    if k == 0 {
        return Ok(Vec::new());
    }
    let query = Similar {
        like: SimilarityTarget::Vector(vector.to_vec()),
        limit: k,
        min_similarity: Some(min),
        ..Similar::default()
    };
    Ok(query.run(view)?.hits)
}
