//! Checksums put right, so that changed bytes are looked at and not refused at the door.

use amem_format::base::header::Header;
use amem_format::base::section::{SectionPlace, SectionTable, tag};
use amem_format::bytes::{get_u32, get_u64, put_u32, put_u64};
use amem_format::journal::head::PAGE;
use amem_format::limits::FRAME_BYTES_MAX;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes of the head that are under its checksum, which stands behind them.
const HEAD: usize = 88;
/// Bytes in front of a frame's payload.
const FRAME: usize = 40;
/// Bytes of one range in the checksums section.
const RANGE: usize = 24;

/// Where the sections and the journal are, as far as the bytes tell.
pub(super) fn table(bytes: &[u8]) -> Option<SectionTable> {
    let len = bytes.len() as u64;
    let header = Header::decode(bytes, len).ok()?;
    SectionTable::walk(header.sections(), len, |at, len| slice(bytes, at, len)).ok()
}

fn slice(bytes: &[u8], at: u64, len: u64) -> Option<&[u8]> {
    bytes.get(at as usize..at.checked_add(len)? as usize)
}

/// The checksums of the base, of the journal's head and of the frames behind it are made to agree.
pub fn mend(bytes: &mut [u8]) {
    let Some(table) = table(bytes) else { return };
    if let Some(place) = table.find(tag::CHECKSUMS) {
        base(bytes, place);
    }
    if let Some(at) = table.journal {
        journal(bytes, at as usize, table.find(tag::IDENTITY));
    }
}

fn base(bytes: &mut [u8], place: SectionPlace) {
    let (from, to) = (place.offset as usize, (place.offset + place.len) as usize);
    if to - from < 16 {
        return;
    }
    for at in (from + 8..to.saturating_sub(8 + RANGE - 1)).step_by(RANGE) {
        let [offset, len] = [0, 8].map(|field| get_u64(bytes, at + field));
        if let Some(range) = slice(bytes, offset, len) {
            let sum = xxh3_64(range);
            put_u64(bytes, at + 16, sum);
        }
    }
    let sum = xxh3_64(&bytes[from..to - 8]);
    put_u64(bytes, to - 8, sum);
}

fn journal(bytes: &mut [u8], at: usize, identity: Option<SectionPlace>) {
    if bytes.len() < at + 2 * PAGE as usize {
        return;
    }
    // The head is that of this base, whatever was done to either.
    if let Some(place) = identity.filter(|place| place.len >= 56) {
        let base = bytes[place.offset as usize..][..56].to_vec();
        bytes[at + 24..at + 80].copy_from_slice(&base);
    }
    let sum = xxh3_64(&bytes[at..at + HEAD]);
    put_u64(bytes, at + HEAD, sum);
    let mut seed = [0; 32];
    seed[..24].copy_from_slice(&bytes[at + 40..at + 64]);
    seed[24..].copy_from_slice(&bytes[at + 80..at + HEAD]);
    let lsn = get_u64(bytes, at + 64);
    frames(&mut bytes[at + 2 * PAGE as usize..], lsn, xxh3_64(&seed));
}

/// Frames that follow on each other, whatever their payloads are, up to zeros or the end.
fn frames(bytes: &mut [u8], mut lsn: u64, mut seed: u64) {
    let mut at = 0;
    while bytes.len() >= at + FRAME && bytes[at..at + FRAME].iter().any(|&b| b != 0) {
        let rest = bytes.len() - at - FRAME;
        let len = (get_u32(bytes, at) as usize)
            .min(rest)
            .min(FRAME_BYTES_MAX - FRAME);
        // The end of the bytes ends the last frame as well.
        let len = if (FRAME + len).next_multiple_of(8) > rest + FRAME {
            rest / 8 * 8
        } else {
            len
        };
        lsn = lsn.wrapping_add(1);
        put_u32(bytes, at, len as u32);
        put_u64(bytes, at + 8, lsn);
        let mut hasher = Xxh3::with_seed(seed);
        hasher.update(&bytes[at..at + 32]);
        hasher.update(&bytes[at + FRAME..at + FRAME + len]);
        seed = hasher.digest();
        put_u64(bytes, at + 32, seed);
        at += (FRAME + len).next_multiple_of(8);
    }
}
