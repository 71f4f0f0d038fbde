//! The check of quantised vectors: every row is that of its event's vector, and every vector is in one IVF list.
//!
//! Not checked: centroids and measured recall. They come from training and cannot be derived from the tables.

use super::finding::bad;
use amem_format::base::Base;
use amem_format::base::quantised_vectors::QuantisedVectors;
use amem_format::base::section::tag;
use amem_format::base_builder::quantiser::{NO_DIRECTION, row_of};
use amem_format::error::Result;
use amem_format::types::{Flags, NodeId};
use amem_kernels::unpack;

pub(super) fn check(base: &Base) -> Result<()> {
    let section = base.section(tag::CODES)?;
    let Some(codes) = base.codes()? else {
        let with =
            |id| Ok(base.record(NodeId(id))?.flags.has(Flags::VECTOR) && has_direction(base, id)?);
        for id in 0..base.nodes() {
            if with(id)? {
                return bad(section, format!("event {id} has a vector, but no row"));
            }
        }
        return Ok(());
    };
    let stride = codes.stride;
    let mut row = vec![0; stride];
    for id in 0..base.nodes() {
        let at = id as usize;
        let has = base.record(NodeId(id))?.flags.has(Flags::VECTOR);
        row.fill(0);
        let vector = has.then(|| base.vector(NodeId(id))).transpose()?;
        let (packed, off) = row_of(vector, codes.centre, &mut row);
        if packed != codes.scales[at] || row != codes.rows[at * stride..(at + 1) * stride] {
            return bad(
                section,
                format!("the row of event {id} does not match its vector"),
            );
        }
        let (_, error) = unpack(packed);
        if error.is_finite() && off > codes.reach {
            return bad(section, format!("event {id} is out of reach"));
        }
    }
    clusters(base, &codes)
}

fn has_direction(base: &Base, id: u64) -> Result<bool> {
    Ok(base.vector(NodeId(id))?.iter().any(|&x| x != 0.0))
}

fn clusters(base: &Base, codes: &QuantisedVectors<'_>) -> Result<()> {
    let section = base.section(tag::CODES)?;
    if codes.lists() == 0 {
        if codes.entries().is_empty() {
            return Ok(());
        }
        return bad(section, "events in clusters that do not exist");
    }
    let mut seen = vec![false; base.nodes() as usize];
    for cluster in 0..codes.lists() {
        let members = codes.list(cluster)?;
        if !members.is_sorted_by(|a, b| a < b) {
            return bad(section, format!("cluster {cluster} is unsorted"));
        }
        for &id in members {
            let at = codes.row_index(id)?;
            if codes.scales[at] == NO_DIRECTION || std::mem::replace(&mut seen[at], true) {
                return bad(
                    section,
                    format!("event {id} is in two clusters, or has no vector"),
                );
            }
        }
    }
    let rows = &codes.scales[..base.nodes() as usize];
    let missing = rows
        .iter()
        .zip(&seen)
        .position(|(&packed, &seen)| packed != NO_DIRECTION && !seen);
    match missing {
        Some(id) => bad(section, format!("event {id} is in no cluster")),
        None => Ok(()),
    }
}
