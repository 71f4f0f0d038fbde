//! The cluster map of a spec-1 file.
//!
//! One pass: centroids are evenly spaced vectors of the graph, and every vector is assigned to the most similar one, so
//! assignments match the centroids as written. Events without a direction (no vector, or zeros) are in no cluster and
//! come last.

use super::verify::NO_CLUSTER;
use amem_format::error::Result;
use amem_format::event::Graph;

/// Minimum number of vectors for clustering.
const VECTORS_MIN: usize = 4;
/// Maximum number of clusters: each costs one comparison per vector.
const CLUSTERS_MAX: usize = 64;

/// The cluster map under construction.
pub(super) struct ClusterMap {
    centroids: Vec<Vec<f32>>,
    /// Cluster and position.
    assigned: Vec<(u32, u32)>,
}

impl ClusterMap {
    /// Chooses centroids among the events at `with_vector`.
    pub(super) fn choose(graph: &dyn Graph, with_vector: &[u64]) -> Result<Self> {
        let count = with_vector.len();
        let mut centroids = Vec::new();
        if count >= VECTORS_MIN {
            let clusters = count.isqrt().min(CLUSTERS_MAX);
            for cluster in 0..clusters {
                let position = with_vector[cluster * count / clusters];
                centroids.extend(graph.event_at(position)?.vector);
            }
        }
        Ok(Self {
            centroids,
            assigned: Vec::new(),
        })
    }

    /// Assigns the event of the next position.
    pub(super) fn push(&mut self, vector: Option<&[f32]>) {
        let cluster = vector.and_then(|v| self.nearest(v)).unwrap_or(NO_CLUSTER);
        let position = self.assigned.len() as u32;
        self.assigned.push((cluster, position));
    }

    /// The most similar centroid by cosine; of equals the first.
    fn nearest(&self, vector: &[f32]) -> Option<u32> {
        if vector.iter().all(|&n| n == 0.0) {
            return None;
        }
        let mut best = None;
        for (cluster, centroid) in (0..).zip(&self.centroids) {
            let similarity = cosine(vector, centroid);
            if best.is_none_or(|(most, _)| similarity > most) {
                best = Some((similarity, cluster));
            }
        }
        best.map(|(_, cluster)| cluster)
    }

    /// Encodes the index; `dimension` is that of the header.
    pub(super) fn encode(mut self, dimension: u16) -> Vec<u8> {
        let count = self.centroids.len() as u32;
        let mut out = [4, count, dimension.into()].map(u32::to_le_bytes).concat();
        for number in self.centroids.iter().flatten() {
            out.extend_from_slice(&number.to_le_bytes());
        }
        self.assigned.sort_unstable();
        for (cluster, position) in self.assigned {
            out.extend_from_slice(&cluster.to_le_bytes());
            out.extend_from_slice(&position.to_le_bytes());
        }
        out
    }
}

/// Computed in f64 to avoid overflow; 0 if either vector has no direction.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let (mut dot, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (&a, &b) in a.iter().zip(b) {
        let (a, b) = (f64::from(a), f64::from(b));
        dot += a * b;
        aa += a * a;
        bb += b * b;
    }
    let norms = (aa * bb).sqrt();
    if norms == 0.0 { 0.0 } else { dot / norms }
}
