//! Section 0x50, strengths: events by their strength at the last decay run.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u32 × n | events by (strength descending, id descending) |

use super::section::Section;
use crate::error::Result;
use crate::fold::image::Body;

/// Reads the section: events, strongest first.
pub fn read(section: Section<'_>, nodes: u64) -> Result<&[u32]> {
    if section.u64(0)? != nodes {
        return Err(section.bad(0, format!("it is of other than the brain's {nodes} events")));
    }
    section.array(8, nodes)
}

/// Writes the section from the strength of each event.
pub fn write(body: &mut Body<'_>, strengths: &[f32]) -> Result<()> {
    let mut order: Vec<u32> = (0..strengths.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        strengths[b as usize]
            .total_cmp(&strengths[a as usize])
            .then(b.cmp(&a))
    });
    body.u64(order.len() as u64)?;
    body.array(&order)
}
