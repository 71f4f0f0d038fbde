//! The check of every byte of a base: covered by a matching checksum, or padding.

use super::finding::Findings;
use amem_format::base::Base;
use amem_format::base::section;
use amem_format::base::section::{ALIGN, HEADER, tag};
use amem_format::bytes::{align_up, get_u64};
use amem_format::error::Result;
use amem_format::journal::head::PAGE;

/// Bytes of the checksums section beside its entries: their count and its own checksum.
const CHECKSUMS_BESIDES: u64 = 16;
/// Bytes of one entry.
const CHECKSUMS_RANGE: u64 = 24;

/// Checks all checksums, their coverage, and the bytes around them. Returns their number.
pub(super) fn check(base: &Base, findings: &mut Findings) -> u64 {
    let Some(checksums) = findings.take(base.checksums()) else {
        return 0;
    };
    let (mut covered, mut count) = (0u64, 0u64);
    for chunk in checksums.iter() {
        count += 1;
        if chunk.offset != covered {
            let why = format!(
                "bytes {covered}..{} have no checksum or two of them",
                chunk.offset
            );
            findings.add("checksums", covered, why);
        }
        covered = chunk.offset.saturating_add(chunk.len);
        let bytes = base.map().slice(chunk.offset, chunk.len);
        findings.take(chunk.check(bytes, part(base, chunk.offset)));
    }
    let framed = check_frame(base, covered, count, findings);
    findings.take(framed);
    count
}

/// The bytes without a checksum are the checksums section and padding, which have one valid form.
fn check_frame(base: &Base, covered: u64, count: u64, findings: &mut Findings) -> Result<()> {
    let section = base.section(tag::CHECKSUMS)?;
    let len = section.bytes.len() as u64;
    if len != CHECKSUMS_BESIDES + CHECKSUMS_RANGE * count {
        let why = format!("{len} bytes for {count} ranges");
        findings.add("checksums", section.offset, why);
    }
    check_padding(
        base,
        covered,
        section.offset - HEADER,
        (ALIGN, HEADER),
        findings,
    );
    let end = section.offset + len;
    let after = base.journal().unwrap_or(base.map().len());
    check_padding(base, end, after, (PAGE, 0), findings);
    Ok(())
}

/// Checks that the range is empty or one padding section of zeros that ends `ahead` bytes before a multiple of `align`.
fn check_padding(
    base: &Base,
    from: u64,
    to: u64,
    (align, ahead): (u64, u64),
    findings: &mut Findings,
) {
    let needed = from.saturating_add(ahead);
    let expected = if needed.is_multiple_of(align) {
        Some(from)
    } else {
        align_up(needed.saturating_add(HEADER), align).map(|end| end - ahead)
    };
    let Some(len) = to.checked_sub(from).filter(|_| expected == Some(to)) else {
        findings.add("padding", from, format!("it does not end at byte {to}"));
        return;
    };
    if len == 0 {
        return;
    }
    let bytes = base.map().slice(from, len).unwrap_or_default();
    let whole = bytes.len() as u64 == len
        && bytes[0] == tag::PADDING
        && get_u64(bytes, 1) == len - HEADER
        && bytes[HEADER as usize..].iter().all(|&b| b == 0);
    if !whole {
        findings.add("padding", from, "it is not a padding section of zeros");
    }
}

/// The name of the part at a position of a base.
pub(super) fn part(base: &Base, at: u64) -> &'static str {
    let h = base.header();
    let tables = [
        (h.node_table, "header"),
        (h.edge_table, "node table"),
        (h.content, "edge table"),
        (h.vectors, "texts"),
        (h.sections(), "vectors"),
    ];
    if let Some((_, name)) = tables.iter().find(|(end, _)| at < *end) {
        return name;
    }
    let place = base.table().at(at);
    place.map_or("padding", |place| section::name(place.tag))
}
