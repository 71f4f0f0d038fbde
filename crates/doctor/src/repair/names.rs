//! Repairs section boundaries, identity and settings, without which a base does not open.

use super::report::RepairReport;
use crate::verify::Finding;
use amem_format::base::checksums::Checksums;
use amem_format::base::header::Header;
use amem_format::base::section;
use amem_format::base::section::{HEADER, Section, SectionTable, tag};
use amem_format::base::settings::Settings;
use amem_format::bytes::{get_u64, put_i64, put_u64};
use amem_format::journal::head::{Head, PAGE};

/// Truncates the bytes before the first section that ends past the end of the file: the file was cut, or the length is
/// damaged.
pub(super) fn cut_to_sections(bytes: &mut Vec<u8>, report: &mut RepairReport) {
    let len = bytes.len() as u64;
    let Ok(header) = Header::decode(bytes, len) else {
        return;
    };
    let mut at = header.sections();
    while at < len {
        let front = bytes.get(at as usize..(at + HEADER) as usize);
        let (name, end) = match front {
            Some(front) if front[0] == tag::JOURNAL => return,
            Some(front) => (
                section::name(front[0]),
                (at + HEADER).checked_add(get_u64(front, 1)),
            ),
            None => ("section header", None),
        };
        match end.filter(|end| *end <= len) {
            Some(end) => at = end,
            None => {
                report.lost.push(Finding {
                    part: name.into(),
                    offset: Some(at),
                    why: "this section and everything after it: the section ends past the end of the file".into(),
                });
                return bytes.truncate(at as usize);
            }
        }
    }
}

/// Restores a damaged identity from the journal head, and replaces damaged settings by the defaults.
pub(super) fn restore(bytes: &mut [u8], report: &mut RepairReport) {
    let len = bytes.len() as u64;
    let table = Header::decode(bytes, len).and_then(|header| {
        SectionTable::walk(header.sections(), len, |at, len| {
            bytes.get(at as usize..at.checked_add(len)? as usize)
        })
    });
    let Ok(table) = table else { return };
    let body = |tag: u8| {
        let place = table.find(tag)?;
        let range = place.offset as usize..(place.offset + place.len) as usize;
        Some((range.clone(), place.offset, bytes.get(range)?))
    };
    let settings = body(tag::SETTINGS).and_then(|(range, offset, bytes)| {
        let tag = tag::SETTINGS;
        let read = Settings::read(Section { tag, offset, bytes });
        Some((range, read.err()?))
    });
    let identity = body(tag::IDENTITY).and_then(|(range, offset, bytes)| {
        let (_, at, checksums) = body(tag::CHECKSUMS)?;
        let checksums = Checksums::read(Section {
            tag: tag::CHECKSUMS,
            offset: at,
            bytes: checksums,
        });
        let chunk = checksums.ok()?.iter().find(|c| c.offset == offset)?;
        chunk.check(Some(bytes), "identity").err()?;
        Some(range)
    });
    let head = table
        .journal
        .and_then(|at| Head::decode(bytes.get(at as usize..(at + PAGE) as usize)?, at).ok());
    if let (Some(range), Some(head)) = (identity, head) {
        report.lost.push(Finding {
            part: "identity".into(),
            offset: Some(range.start as u64),
            why: "restored from the journal head; vector space, decay run and origin may be wrong"
                .into(),
        });
        put_head(&mut bytes[range], &head);
    }
    if let Some((range, error)) = settings {
        report.lost.push(error.into());
        // An empty JSON object, padded to the old length: the defaults.
        let body = &mut bytes[range];
        body.fill(b' ');
        if let Some(front) = body.get_mut(..2) {
            front.copy_from_slice(b"{}");
        }
    }
}

/// Overwrites the part of the identity section that the journal head repeats.
fn put_head(body: &mut [u8], head: &Head) {
    let Some(front) = body.get_mut(..56) else {
        return;
    };
    front[..16].copy_from_slice(head.lineage.as_bytes());
    front[16..32].copy_from_slice(head.instance.as_bytes());
    put_u64(front, 32, head.generation.0);
    put_u64(front, 40, head.base_lsn.0);
    put_i64(front, 48, head.base_time.0);
}
