//! Corrects single flipped bits and lost section headers by brute force, until the checksum of a range matches.
//!
//! With 64-bit checksums and some hundred thousand attempts, a false match is negligible.

use xxhash_rust::xxh3::xxh3_64;

use super::report::RepairReport;
use crate::verify::Finding;
use amem_format::base::chunk::Chunk;
use amem_format::base::header::Header;
use amem_format::base::section::{ALIGN, HEADER, SectionTable, tag};
use amem_format::bytes::{align_up, get_u64};
use amem_format::journal::frame;
use amem_format::journal::frame::FrameSlot;
use amem_format::journal::head::{Head, PAGE};
use amem_format::journal::scan;
use amem_format::journal::scan::{Position, ScanStep};
use amem_format::types::Lsn;

/// Longer ranges are skipped: each attempt computes the checksum of the range.
const TRIED_BYTES_MAX: usize = 32 << 10;
/// Headers of sections with more ranges (of 1 MiB each) are not restored.
const RANGES_TRIED_MAX: usize = 10_000;
/// Bytes of one entry of the checksums section.
const RANGE: usize = 24;
/// The first entry of every checksums section: offset and length of the header.
const FIRST_RANGE: [u64; 2] = [0, 64];

/// Corrects every range with one flipped bit.
pub(super) fn heal(bytes: &mut [u8], report: &mut RepairReport) {
    let Some((place, len)) = find_checksums(bytes).or_else(|| heal_checksums(bytes, report)) else {
        return;
    };
    let chunks = ranges(&bytes[place..place + len]);
    for (at, chunk) in chunks.iter().enumerate() {
        let Some(range) = slice_mut(bytes, chunk) else {
            continue;
        };
        if xxh3_64(range) == chunk.sum {
            continue;
        }
        if let Some(bit) = flip_until(range, |range| xxh3_64(range) == chunk.sum) {
            report_healed(report, "base", chunk.offset + bit as u64 / 8);
        } else if let Some(head) = section_head(chunk, &chunks[at + 1..]) {
            range.copy_from_slice(&head);
            report_healed(report, "section header", chunk.offset);
        }
    }
    let covered = chunks.last().map_or(0, |c| c.offset.saturating_add(c.len));
    if let Some(journal) = frame_base(bytes, covered, place as u64, len as u64, report) {
        heal_journal(bytes, journal, report);
    }
}

fn report_healed(report: &mut RepairReport, part: &str, at: u64) {
    report.healed.push(Finding {
        part: part.to_owned(),
        offset: Some(at),
        why: "restored; its checksum matches again".to_owned(),
    });
}

fn slice_mut<'b>(bytes: &'b mut [u8], chunk: &Chunk) -> Option<&'b mut [u8]> {
    let from = usize::try_from(chunk.offset).ok()?;
    let to = from.checked_add(usize::try_from(chunk.len).ok()?)?;
    bytes.get_mut(from..to)
}

/// Recovers a section header. A section covers the next ranges, so few lengths are possible.
fn section_head(chunk: &Chunk, behind: &[Chunk]) -> Option<[u8; HEADER as usize]> {
    if chunk.len != HEADER {
        return None;
    }
    let mut len = 0u64;
    let lens = behind.iter().map(|c| {
        len = len.saturating_add(c.len);
        len
    });
    for len in std::iter::once(0).chain(lens.take(RANGES_TRIED_MAX)) {
        for tag in 0..=u8::MAX {
            let mut head = [tag; HEADER as usize];
            head[1..].copy_from_slice(&len.to_le_bytes());
            if xxh3_64(&head) == chunk.sum {
                return Some(head);
            }
        }
    }
    None
}

/// Flips one bit at a time until `is_right`; leaves the bytes unchanged if no flip helps.
fn flip_until(bytes: &mut [u8], is_right: impl Fn(&[u8]) -> bool) -> Option<usize> {
    if bytes.len() > TRIED_BYTES_MAX {
        return None;
    }
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        if is_right(bytes) {
            return Some(bit);
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    None
}

/// Searches the file for the checksums section, by its first entry and its own checksum.
fn find_checksums(bytes: &[u8]) -> Option<(usize, usize)> {
    let first = FIRST_RANGE.map(u64::to_le_bytes).concat();
    (0..bytes.len()).step_by(ALIGN as usize).find_map(|at| {
        if bytes.get(at + 8..at + 24)? != first {
            return None;
        }
        let count = usize::try_from(get_u64(bytes, at)).ok()?;
        let own = count.checked_mul(RANGE)?.checked_add(8)?;
        let section = bytes.get(at..at.checked_add(own)?.checked_add(8)?)?;
        (get_u64(section, own) == xxh3_64(&section[..own])).then_some((at, own + 8))
    })
}

/// Corrects a damaged checksums section at the place where the section table has it.
fn heal_checksums(bytes: &mut [u8], report: &mut RepairReport) -> Option<(usize, usize)> {
    let len = bytes.len() as u64;
    let header = Header::decode(bytes, len).ok()?;
    let table = SectionTable::walk(header.sections(), len, |at, len| {
        bytes.get(at as usize..at.checked_add(len)? as usize)
    });
    let place = table.ok()?.find(tag::CHECKSUMS)?;
    let range = place.offset as usize..(place.offset + place.len) as usize;
    let section = bytes.get_mut(range.clone())?;
    let own = section.len().checked_sub(8).filter(|&own| own >= 8)?;
    let right = |section: &[u8]| {
        get_u64(section, 0).checked_mul(RANGE as u64) == Some(own as u64 - 8)
            && get_u64(section, own) == xxh3_64(&section[..own])
    };
    flip_until(section, right)?;
    report_healed(report, "checksums", place.offset);
    Some((range.start, range.len()))
}

fn ranges(section: &[u8]) -> Vec<Chunk> {
    let list = &section[8..section.len() - 8];
    list.chunks_exact(RANGE)
        .map(|range| Chunk {
            offset: get_u64(range, 0),
            len: get_u64(range, 8),
            sum: get_u64(range, 16),
        })
        .collect()
}

/// Restores the bytes around the checksums section, which have one valid form: padding, the section header, and padding
/// up to the journal. Returns the offset of the journal.
fn frame_base(
    bytes: &mut [u8],
    covered: u64,
    place: u64,
    len: u64,
    report: &mut RepairReport,
) -> Option<u64> {
    let head = place.checked_sub(HEADER)?;
    let journal = if (place + len).is_multiple_of(PAGE) {
        place + len
    } else {
        align_up(place + len + HEADER, PAGE)?
    };
    let mut right = padding(covered, head)?;
    right.push(tag::CHECKSUMS);
    right.extend_from_slice(&len.to_le_bytes());
    overwrite(bytes, covered, &right, report);
    overwrite(bytes, place + len, &padding(place + len, journal)?, report);
    Some(journal)
}

/// A padding section between two positions; empty if they are equal.
fn padding(from: u64, to: u64) -> Option<Vec<u8>> {
    let len = to.checked_sub(from)?;
    if len == 0 {
        return Some(Vec::new());
    }
    if len > PAGE + HEADER {
        return None;
    }
    let mut section = vec![tag::PADDING];
    section.extend_from_slice(&len.checked_sub(HEADER)?.to_le_bytes());
    section.resize(len as usize, 0);
    Some(section)
}

fn overwrite(bytes: &mut [u8], at: u64, right: &[u8], report: &mut RepairReport) {
    let range = at as usize..at as usize + right.len();
    if let Some(found) = bytes.get_mut(range)
        && found != right
    {
        found.copy_from_slice(right);
        report_healed(report, "padding", at);
    }
}

/// Corrects the head page, then every frame with one flipped bit.
fn heal_journal(bytes: &mut [u8], at: u64, report: &mut RepairReport) {
    let Some(page) = bytes.get_mut(at as usize..(at + PAGE) as usize) else {
        return;
    };
    let head = match Head::decode(page, at) {
        Ok(head) => head,
        Err(_) => {
            let front = &mut page[..HEAD_TRIED];
            if flip_until(front, |front| Head::decode(front, at).is_ok()).is_none() {
                return;
            }
            report_healed(report, "journal head", at);
            match Head::decode(page, at) {
                Ok(head) => head,
                Err(_) => return,
            }
        }
    };
    overwrite(bytes, at, &head.encode(), report);
    let mut position = Position {
        at: at + 2 * PAGE,
        lsn: head.base_lsn,
        checksum: head.seed(),
    };
    loop {
        let Some(rest) = bytes.get_mut(position.at as usize..) else {
            return;
        };
        match scan::next(rest, position) {
            Ok(ScanStep::Transaction { after, .. }) => position = after,
            Ok(ScanStep::End { torn: Some(_) }) => {
                let Some(healed) = heal_frame(rest, position) else {
                    return;
                };
                report_healed(report, "journal", healed);
            }
            _ => return,
        }
    }
}

/// Bytes of the head page that its checksum covers, plus the checksum.
const HEAD_TRIED: usize = 96;

/// Corrects the first damaged frame of a transaction. Returns the offset of the flipped bit.
fn heal_frame(bytes: &mut [u8], from: Position) -> Option<u64> {
    let mut at = from;
    loop {
        let skip = (at.at - from.at) as usize;
        let rest = bytes.get_mut(skip..)?;
        let expected = Lsn(at.lsn.0.wrapping_add(1));
        if let FrameSlot::Frame(frame) = frame::decode(rest, at.at, expected, at.checksum) {
            at = Position {
                at: frame.end,
                lsn: frame.header.lsn,
                checksum: frame.checksum,
            };
            continue;
        }
        // The length itself may be damaged, so it is a hint only.
        let is_frame = |rest: &[u8]| {
            matches!(
                frame::decode(rest, at.at, expected, at.checksum),
                FrameSlot::Frame(_)
            )
        };
        let len = rest.len();
        let claimed = frame::encoded_len(amem_format::bytes::get_u32(rest.get(..4)?, 0) as usize);
        let tried = claimed.clamp(frame::HEADER, TRIED_BYTES_MAX).min(len);
        for bit in 0..tried * 8 {
            rest[bit / 8] ^= 1 << (bit % 8);
            if is_frame(rest) {
                return Some(at.at + bit as u64 / 8);
            }
            rest[bit / 8] ^= 1 << (bit % 8);
        }
        return None;
    }
}
