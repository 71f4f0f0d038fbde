//! Section 0x4F, vector lengths: cosines need them, so that a comparison reads each vector once.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | f32 × n | 1 / length of each vector; 0 without one |

use super::section::Section;
use crate::base::image::Body;
use crate::error::Result;

/// Returns 1 / length of each vector.
pub fn read(section: Section<'_>, nodes: u64) -> Result<&[f32]> {
    if section.u64(0)? != nodes {
        return Err(section.bad(0, format!("it must cover the base's {nodes} events")));
    }
    section.array(8, nodes)
}

/// Writes the section.
pub fn write(body: &mut Body<'_>, inverse_lengths: &[f32]) -> Result<()> {
    body.u64(inverse_lengths.len() as u64)?;
    body.array(inverse_lengths)
}

/// 1 / length of a vector, or 0 for a vector of zeros. Sums in f64, so that no vector overflows, and in eight lanes, so
/// that additions do not wait for each other.
pub fn inverse_length(vector: &[f32]) -> f32 {
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
