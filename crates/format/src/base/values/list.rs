//! One list: ascending events as distances, in blocks of 128 that are decoded one by one.
//!
//! A list is its number of events; above 128, a table with the last event (u32) and the end (u32, relative to the first
//! block) of every block but the last; then the distances (id − previous id − 1; the first from −1). Numbers without a
//! width are varints: 7 bits a byte, the lowest first, the upper bit set in all but the last byte.

use crate::bytes::{get_u32, put_u32};

/// Events of a block; only the last block of a list has fewer.
pub(super) const BLOCK: u32 = 128;
/// Bytes of a block's entry in the table.
const ENTRY: usize = 8;
/// Payload bits of a varint's byte.
const BITS: u32 = 7;

/// A list, read in place.
#[derive(Debug, Clone, Copy)]
pub struct EventList<'a> {
    count: u32,
    table: &'a [u8],
    data: &'a [u8],
}

impl<'a> EventList<'a> {
    /// Reads the list in exactly these bytes; the error says what is damaged.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let mut rest = bytes;
        let count = varint(&mut rest)?;
        if count == 0 {
            return Err("an empty list");
        }
        let table = (count.div_ceil(BLOCK) - 1) as usize * ENTRY;
        let (table, data) = rest
            .split_at_checked(table)
            .ok_or("a list without its block table")?;
        Ok(Self { count, table, data })
    }

    /// The number of events, from a list's first bytes.
    pub(super) fn count_of(mut bytes: &[u8]) -> Result<u32, &'static str> {
        varint(&mut bytes)
    }

    /// The number of events.
    #[expect(clippy::len_without_is_empty, reason = "an empty list is not stored")]
    pub fn len(&self) -> u32 {
        self.count
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u32 {
        self.count.div_ceil(BLOCK)
    }

    /// The first block that may have `id` or a later event; the last block if none has.
    pub fn block_of(&self, id: u32) -> u32 {
        let (mut from, mut to) = (0, self.blocks() - 1);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.entry(middle).0 < id {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Replaces the contents of `out` with the events of a block below `blocks()`; the error says what is damaged.
    pub fn decode(&self, block: u32, out: &mut Vec<u32>) -> Result<(), &'static str> {
        out.clear();
        self.append(block, out)
    }

    /// Appends all events.
    pub fn append_all(&self, out: &mut Vec<u32>) -> Result<(), &'static str> {
        (0..self.blocks()).try_for_each(|block| self.append(block, out))
    }

    fn append(&self, block: u32, out: &mut Vec<u32>) -> Result<(), &'static str> {
        let is_last = block + 1 == self.blocks();
        let (mut next, from) = match block.checked_sub(1).map(|before| self.entry(before)) {
            None => (0, 0),
            Some((last, end)) => (u64::from(last) + 1, end as usize),
        };
        let entry = (!is_last).then(|| self.entry(block));
        let to = entry.map_or(self.data.len(), |(_, end)| end as usize);
        let count = if is_last {
            self.count - block * BLOCK
        } else {
            BLOCK
        };
        let mut rest = self.data.get(from..to).ok_or("a block outside its list")?;
        for _ in 0..count {
            let id = next + u64::from(varint(&mut rest)?);
            out.push(u32::try_from(id).map_err(|_| "an event id over 32 bits")?);
            next = id + 1;
        }
        if !rest.is_empty() {
            return Err("bytes after a block");
        }
        if entry.is_some_and(|(last, _)| u64::from(last) + 1 != next) {
            return Err("a block whose last event differs from the table");
        }
        Ok(())
    }

    /// A block's last event, and its end.
    fn entry(&self, block: u32) -> (u32, u32) {
        let at = block as usize * ENTRY;
        (get_u32(self.table, at), get_u32(self.table, at + 4))
    }
}

/// Appends the list of at least one event; `ids` ascend.
pub(super) fn encode(ids: &[u32], out: &mut Vec<u8>) {
    put_varint(ids.len() as u32, out);
    let table = out.len();
    let entries = ids.len().div_ceil(BLOCK as usize) - 1;
    out.resize(table + entries * ENTRY, 0);
    let (data, mut next) = (out.len(), 0u64);
    for (block, ids) in ids.chunks(BLOCK as usize).enumerate() {
        for &id in ids {
            put_varint((u64::from(id) - next) as u32, out);
            next = u64::from(id) + 1;
        }
        if block < entries {
            // The distances take at most one byte for each id up to the last, so the end fits 32 bits.
            let (last, end) = ((next - 1) as u32, (out.len() - data) as u32);
            let at = table + block * ENTRY;
            put_u32(out, at, last);
            put_u32(out, at + 4, end);
        }
    }
}

fn put_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >> BITS > 0 {
        out.push(value as u8 | 1 << BITS);
        value >>= BITS;
    }
    out.push(value as u8);
}

#[inline]
fn varint(rest: &mut &[u8]) -> Result<u32, &'static str> {
    let mut value = 0u64;
    for shift in (0..5).map(|i| i * BITS) {
        let (&byte, behind) = rest.split_first().ok_or("a truncated list")?;
        *rest = behind;
        value |= u64::from(byte & !(1 << BITS)) << shift;
        if byte >> BITS == 0 {
            return u32::try_from(value).map_err(|_| "a number over 32 bits");
        }
    }
    Err("a number over 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(ids: &[u32]) {
        let mut bytes = Vec::new();
        encode(ids, &mut bytes);
        let list = EventList::read(&bytes).unwrap();
        assert_eq!(list.len() as usize, ids.len());
        assert_eq!(EventList::count_of(&bytes).unwrap() as usize, ids.len());
        let mut out = Vec::new();
        list.append_all(&mut out).unwrap();
        assert_eq!(out, ids);
        for (at, &id) in ids.iter().enumerate() {
            assert_eq!(list.block_of(id), at as u32 / BLOCK, "{id}");
        }
        for block in 0..list.blocks() {
            list.decode(block, &mut out).unwrap();
            let from = (block * BLOCK) as usize;
            assert_eq!(out, ids[from..ids.len().min(from + BLOCK as usize)]);
        }
        for len in 0..bytes.len() {
            let cut = EventList::read(&bytes[..len]);
            let is_bad = cut.is_err() || cut.is_ok_and(|l| l.append_all(&mut out).is_err());
            assert!(is_bad, "{len} of {} bytes", bytes.len());
        }
        bytes.push(0);
        let longer = EventList::read(&bytes).unwrap();
        assert!(longer.append_all(&mut Vec::new()).is_err());
    }

    #[test]
    fn lists_of_one_event_of_neighbours_and_of_the_last_ids_come_back() {
        round_trip(&[0]);
        round_trip(&[u32::MAX - 2]);
        round_trip(&[0, u32::MAX - 2]);
        for len in [127, 128, 129, 256, 257, 1000] {
            round_trip(&(5..5 + len).collect::<Vec<_>>());
        }
        let mut one = Vec::new();
        encode(&[70], &mut one);
        assert_eq!(one, [1, 70], "a list of one event takes two bytes");
    }

    #[test]
    fn an_id_over_32_bits_and_a_wrong_last_event_are_reported() {
        let list =
            |bytes: &[u8]| EventList::read(bytes).and_then(|l| l.append_all(&mut Vec::new()));
        assert!(list(&[2, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]).is_err());
        assert!(list(&[1, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]).is_err());
        assert!(list(&[1, 0x80, 0x80, 0x80, 0x80, 0x80, 0]).is_err());
        assert!(list(&[0]).is_err());
        let mut bytes = Vec::new();
        encode(&(0..200).collect::<Vec<_>>(), &mut bytes);
        assert!(list(&bytes).is_ok());
        bytes[2] ^= 1;
        assert!(list(&bytes).is_err());
    }

    proptest! {
        #[test]
        fn every_list_comes_back(
            gaps in prop::collection::vec(0u32..1 << 22, 1..600), width in 0u32..22,
        ) {
            let mut next = 0;
            let ids: Vec<u32> = gaps.iter().map(|gap| {
                let id = next + (gap >> width);
                next = id + 1;
                id
            }).collect();
            round_trip(&ids);
        }
    }
}
