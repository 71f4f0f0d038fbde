//! The check of the attribute index of a base: its lists have every value of every event, and nothing else.

use super::finding::bad;
use amem_format::attributes::values_of;
use amem_format::base::Base;
use amem_format::base::section::tag;
use amem_format::error::Result;
use amem_format::types::NodeId;

pub(super) fn check(base: &Base) -> Result<()> {
    // Absent in bases of earlier versions and in bases without attributes.
    let Some(index) = base.values()? else {
        return Ok(());
    };
    let section = base.section(tag::VALUES)?;
    let (mut listed, mut ids) = (0, Vec::new());
    for at in 0..index.hashes().len() {
        let list = index.list(at)?;
        for block in 0..list.blocks() {
            index.decode(&list, block, &mut ids)?;
            listed += ids.len() as u64;
        }
    }
    let ascends = index.hashes().is_sorted_by(|a, b| a < b);
    if !ascends || !index.unlisted().is_sorted_by(|a, b| a < b) || !index.ends_with_its_lists() {
        return bad(section, "lists out of order, or bytes outside all lists");
    }
    let (mut expected, mut unlisted) = (0, 0);
    let attributes = base.attributes()?;
    for &id in attributes.ids() {
        let Some(json) = attributes.get(NodeId(id.into()))? else {
            continue;
        };
        let Some(hashes) = values_of(json) else {
            unlisted += 1;
            if index.unlisted().binary_search(&id).is_err() {
                return bad(section, format!("event {id} is in no list"));
            }
            continue;
        };
        expected += hashes.len() as u64;
        for hash in hashes {
            let is_listed = match index.find(hash)? {
                Some(list) => {
                    index.decode(&list, list.block_of(id), &mut ids)?;
                    ids.binary_search(&id).is_ok()
                }
                None => false,
            };
            if !is_listed {
                return bad(section, format!("a value of event {id} is not listed"));
            }
        }
    }
    if (listed, index.unlisted().len()) != (expected, unlisted) {
        return bad(section, "it lists values that no event has");
    }
    Ok(())
}
