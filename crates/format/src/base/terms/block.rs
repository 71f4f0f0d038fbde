//! A block: up to 128 postings of one term, packed to the bits they need.
//!
//! Ids are stored as the distance from the previous one, less one; frequencies less one. A block's directory record
//! bounds the scores of its postings, so that a search may skip the block.

use crate::bytes::{get_u16, get_u32, get_u64};

/// Postings of a full block; only the last block of a term has fewer.
pub const BLOCK_POSTINGS: u32 = 128;

const ID_BITS_MAX: u8 = 32;
const TF_BITS_MAX: u8 = 16;
/// The packed ids of a full block, plus eight bytes: a word can be loaded at any bit.
const PADDED_BYTES: usize = BLOCK_POSTINGS as usize * 4 + 8;

/// A block's record in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostingBlock {
    /// The last event.
    pub last: u32,
    /// Where it begins in its term's bytes.
    pub offset: u32,
    /// The greatest frequency.
    pub max_tf: u16,
    /// Terms in the shortest text.
    pub min_length: u16,
    /// Bits of a distance between ids.
    pub id_bits: u8,
    /// Bits of a frequency.
    pub tf_bits: u8,
}

impl PostingBlock {
    /// Bytes of a record.
    pub const BYTES: u64 = 16;

    /// Decodes a record at the start of `bytes`.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Self {
        Self {
            last: get_u32(bytes, 0),
            offset: get_u32(bytes, 4),
            max_tf: get_u16(bytes, 8),
            min_length: get_u16(bytes, 10),
            id_bits: bytes[12],
            tf_bits: bytes[13],
        }
    }

    /// Appends the record.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.last.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.max_tf.to_le_bytes());
        out.extend_from_slice(&self.min_length.to_le_bytes());
        out.extend_from_slice(&[self.id_bits, self.tf_bits, 0, 0]);
    }

    /// Bytes of `count` packed postings.
    pub(super) fn packed_bytes(&self, count: u32) -> u64 {
        packed(self.id_bits, count) + packed(self.tf_bits, count)
    }

    /// Packs at most 128 postings onto `data`: ids ascending from `first` on, frequencies from 1. Returns the block's
    /// record, with the given offset.
    pub(super) fn pack(
        postings: &[(u32, u32)],
        first: u64,
        offset: u32,
        min_length: u16,
        data: &mut Vec<u8>,
    ) -> Self {
        debug_assert!(!postings.is_empty() && postings.len() <= BLOCK_POSTINGS as usize);
        let mut gaps = [0u32; BLOCK_POSTINGS as usize];
        let mut tfs = [0u32; BLOCK_POSTINGS as usize];
        let (mut next, mut gap_all, mut tf_all, mut max_tf) = (first, 0, 0, 0);
        for ((&(id, tf), gap), less) in postings.iter().zip(&mut gaps).zip(&mut tfs) {
            *gap = (u64::from(id) - next) as u32;
            *less = tf - 1;
            next = u64::from(id) + 1;
            gap_all |= *gap;
            tf_all |= *less;
            max_tf = max_tf.max(tf);
        }
        let bits = |all: u32| (32 - all.leading_zeros()) as u8;
        let (id_bits, tf_bits) = (bits(gap_all), bits(tf_all));
        pack_bits(&gaps[..postings.len()], id_bits, data);
        pack_bits(&tfs[..postings.len()], tf_bits, data);
        Self {
            last: (next - 1) as u32,
            offset,
            max_tf: max_tf as u16,
            min_length,
            id_bits,
            tf_bits,
        }
    }

    /// Unpacks `count` postings, ids ascending from `first` to `last`; the error says what is damaged.
    pub(super) fn unpack(
        &self,
        data: &[u8],
        first: u64,
        count: u32,
        out: &mut DecodedBlock,
    ) -> Result<(), &'static str> {
        out.count = 0;
        if self.id_bits > ID_BITS_MAX || self.tf_bits > TF_BITS_MAX {
            return Err("too many bits for a number");
        }
        let id_bytes = packed(self.id_bits, count) as usize;
        let bytes = data
            .get(self.offset as usize..)
            .and_then(|data| data.get(..self.packed_bytes(count) as usize))
            .ok_or("postings outside the index")?;
        let (ids, tfs) = bytes.split_at(id_bytes);
        let count = count as usize;
        unpack_bits(ids, self.id_bits, &mut out.ids[..count]);
        unpack_bits(tfs, self.tf_bits, &mut out.tfs[..count]);
        let mut next = first;
        for id in &mut out.ids[..count] {
            let this = next + u64::from(*id);
            *id = this as u32;
            next = this + 1;
        }
        for tf in &mut out.tfs[..count] {
            *tf += 1;
        }
        if next != u64::from(self.last) + 1 {
            return Err("the last posting differs from the directory");
        }
        out.count = count;
        Ok(())
    }
}

/// The unpacked postings of one block.
#[derive(Debug, Clone)]
pub struct DecodedBlock {
    ids: [u32; BLOCK_POSTINGS as usize],
    tfs: [u32; BLOCK_POSTINGS as usize],
    count: usize,
}

impl Default for DecodedBlock {
    fn default() -> Self {
        Self {
            ids: [0; BLOCK_POSTINGS as usize],
            tfs: [0; BLOCK_POSTINGS as usize],
            count: 0,
        }
    }
}

impl DecodedBlock {
    /// The events.
    #[inline]
    pub fn ids(&self) -> &[u32] {
        &self.ids[..self.count]
    }

    /// The frequencies.
    #[inline]
    pub fn tfs(&self) -> &[u32] {
        &self.tfs[..self.count]
    }

    /// The events with their frequencies.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.ids().iter().copied().zip(self.tfs().iter().copied())
    }
}

fn packed(bits: u8, count: u32) -> u64 {
    (u64::from(bits) * u64::from(count)).div_ceil(8)
}

fn pack_bits(values: &[u32], bits: u8, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u64, 0u32);
    for &value in values {
        word |= u64::from(value) << filled;
        filled += u32::from(bits);
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(word as u8);
    }
}

/// `bytes` has exactly the values' bits; `bits` is at most 32.
fn unpack_bits(bytes: &[u8], bits: u8, out: &mut [u32]) {
    if bits == 0 {
        out.fill(0);
        return;
    }
    let mut padded = [0u8; PADDED_BYTES];
    padded[..bytes.len()].copy_from_slice(bytes);
    let bits = usize::from(bits);
    let mask = (1u64 << bits) - 1;
    for (i, value) in out.iter_mut().enumerate() {
        let bit = i * bits;
        *value = ((get_u64(&padded, bit / 8) >> (bit % 8)) & mask) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(postings: &[(u32, u32)], first: u64) {
        let mut data = vec![7; 3];
        let block = PostingBlock::pack(postings, first, 3, 9, &mut data);
        let mut record = Vec::new();
        block.encode(&mut record);
        assert_eq!(record.len() as u64, PostingBlock::BYTES);
        assert_eq!(PostingBlock::decode(&record), block);
        assert_eq!(
            data.len() as u64,
            3 + block.packed_bytes(postings.len() as u32)
        );
        let mut out = DecodedBlock::default();
        block
            .unpack(&data, first, postings.len() as u32, &mut out)
            .unwrap();
        assert_eq!(out.iter().collect::<Vec<_>>(), postings);
        let short = &data[..data.len() - 1];
        if data.len() > 3 {
            assert!(
                block
                    .unpack(short, first, postings.len() as u32, &mut out)
                    .is_err()
            );
        }
    }

    #[test]
    fn the_widest_and_the_narrowest_block_come_back() {
        round_trip(&[(0, 1)], 0);
        round_trip(&[(u32::MAX - 2, 65_535)], 0);
        round_trip(&[(5, 1), (u32::MAX - 2, 2)], 5);
        let run: Vec<_> = (100..228).map(|id| (id, 1)).collect();
        round_trip(&run, 100);
        let mut data = Vec::new();
        assert_eq!(PostingBlock::pack(&run, 100, 0, 0, &mut data).id_bits, 0);
        assert!(data.is_empty(), "a run of neighbours takes no bytes");
    }

    #[test]
    fn a_wrong_last_id_or_width_is_reported() {
        let mut data = Vec::new();
        let block = PostingBlock::pack(&[(3, 1), (9, 4)], 0, 0, 1, &mut data);
        let mut out = DecodedBlock::default();
        let wrong = |b: PostingBlock, out: &mut DecodedBlock| b.unpack(&data, 0, 2, out).is_err();
        assert!(!wrong(block, &mut out));
        assert!(wrong(PostingBlock { last: 10, ..block }, &mut out));
        assert!(wrong(
            PostingBlock {
                id_bits: 33,
                ..block
            },
            &mut out
        ));
        assert!(wrong(
            PostingBlock {
                tf_bits: 17,
                ..block
            },
            &mut out
        ));
        assert!(wrong(
            PostingBlock {
                offset: u32::MAX,
                ..block
            },
            &mut out
        ));
        assert!(out.ids().is_empty(), "nothing is left of a bad block");
    }

    proptest! {
        #[test]
        fn every_block_comes_back(
            gaps in prop::collection::vec((0u32..1 << 20, 1u32..=65_535), 1..=128),
            first in 0u32..1000,
            width in 0u32..20,
        ) {
            let mut next = first;
            let postings: Vec<_> = gaps
                .iter()
                .map(|&(gap, tf)| {
                    let id = next + (gap >> width);
                    next = id + 1;
                    (id, tf >> width.min(15) | 1)
                })
                .collect();
            round_trip(&postings, u64::from(first));
        }
    }
}
