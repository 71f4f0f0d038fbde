//! The index of attributes of a base: its lists have every value of every event, and nothing else.

use super::finding::bad;
use amem_format::attributes::values_of;
use amem_format::base::Base;
use amem_format::base::section::tag;
use amem_format::error::Result;
use amem_format::types::NodeId;

pub(super) fn check(base: &Base) -> Result<()> {
    // Bases of earlier versions have none, and those in which no event has attributes.
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
        return bad(section, "lists out of order, or bytes that are in none");
    }
    let (mut held, mut untold) = (0, 0);
    let attributes = base.attributes()?;
    for &id in attributes.ids() {
        let Some(json) = attributes.get(NodeId(id.into()))? else {
            continue;
        };
        let Some(hashes) = values_of(json) else {
            untold += 1;
            if index.unlisted().binary_search(&id).is_err() {
                return bad(section, format!("event {id} is in no list"));
            }
            continue;
        };
        held += hashes.len() as u64;
        for hash in hashes {
            let is_listed = match index.find(hash)? {
                Some(list) => {
                    index.decode(&list, list.block_of(id), &mut ids)?;
                    ids.binary_search(&id).is_ok()
                }
                None => false,
            };
            if !is_listed {
                return bad(section, format!("a value of event {id} is not told of"));
            }
        }
    }
    if (listed, index.unlisted().len()) != (held, untold) {
        return bad(section, "it tells of values that no event has");
    }
    Ok(())
}
