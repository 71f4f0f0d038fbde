//! Section 0x50, strengths: events by their strength at the last decay run.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u32 × n | events by (strength descending, id descending) |

use super::section::Section;
use crate::base::image::Body;
use crate::base::merge::{MergeRun, merge};
use crate::error::{Error, Result};

/// Returns the events, strongest first.
pub fn read(section: Section<'_>, nodes: u64) -> Result<&[u32]> {
    if section.u64(0)? != nodes {
        return Err(section.bad(0, format!("it must cover the base's {nodes} events")));
    }
    section.array(8, nodes)
}

/// Writes the section: the order of an older base, with the events in `newer` moved.
///
/// `strength` gives the strength of the others, which has not changed.
pub fn write(
    body: &mut Body<'_>,
    nodes: u64,
    older: &[u32],
    newer: &[(u32, f32)],
    strength: impl Fn(u32) -> f32,
) -> Result<()> {
    let mut moved = vec![false; nodes as usize];
    let mut newer: Vec<u64> = newer
        .iter()
        .map(|&(id, strength)| {
            moved[id as usize] = true;
            key(id, strength)
        })
        .collect();
    newer.sort_unstable();
    let is_unmoved = |&&id: &&u32| moved.get(id as usize) == Some(&false);
    let unmoved: Vec<u32> = older.iter().filter(is_unmoved).copied().collect();
    let mut order = Vec::with_capacity(nodes as usize);
    merge(
        unmoved.len(),
        |at| key(unmoved[at], strength(unmoved[at])),
        newer.into_iter().map(|key| (key, !(key as u32))),
        |piece| -> Result<()> {
            match piece {
                MergeRun::Older(range) => order.extend_from_slice(&unmoved[range]),
                MergeRun::Newer(id) => order.push(id),
            }
            Ok(())
        },
    )?;
    if order.len() as u64 != nodes {
        let why = format!("it lists {} of {nodes} events", order.len());
        return Err(Error::corrupt("strengths", 0, why));
    }
    body.u64(nodes)?;
    body.array(&order)
}

/// A key that ascends in the section's order.
fn key(id: u32, strength: f32) -> u64 {
    let bits = strength.to_bits();
    // The order of `total_cmp`: flip all bits of a negative number, and only the sign of others.
    let ascending = bits ^ if bits >> 31 == 1 { u32::MAX } else { 1 << 31 };
    u64::from(!ascending) << 32 | u64::from(!id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_the_section_says() {
        let strengths = [0.0f32, -0.0, 1.0, 0.5, -1.0, f32::MIN_POSITIVE, 2.0];
        for a in strengths {
            for b in strengths {
                let right = b.total_cmp(&a).then(7u32.cmp(&3));
                assert_eq!(key(3, a).cmp(&key(7, b)), right, "{a} {b}");
            }
        }
    }
}
