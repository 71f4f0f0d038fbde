//! The head page: written once, names the journal and seeds its chain of checksums.
//!
//! The page begins with the section header that makes other readers stop (tag 0x7F, length 1 << 62).

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::bytes::{get_i64, get_u64, put_i64, put_u64};
use crate::error::{Error, Result};
use crate::types::{Generation, Lsn, Micros};

/// Bytes of the head page, and the alignment of the journal.
pub const PAGE: u64 = 4096;
/// The tag of the journal's section.
pub const TAG: u8 = 0x7F;
/// The constant in the section's length field: readers that don't know the tag stop there.
pub const LENGTH_FIELD: u64 = 1 << 62;

const MAGIC: &[u8; 8] = b"AMEMJRNL";
const AT_MAGIC: usize = 16;
const AT_LINEAGE: usize = 24;
const AT_INSTANCE: usize = 40;
const AT_GENERATION: usize = 56;
const AT_BASE_LSN: usize = 64;
const AT_BASE_TIME: usize = 72;
const AT_EPOCH: usize = 80;
const AT_CHECKSUM: usize = 88;
const LEN: usize = 96;

/// The fields of the head page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Shared by all brains that descend from one creation.
    pub lineage: Uuid,
    /// This owned file.
    pub instance: Uuid,
    /// The number of the base within the instance.
    pub generation: Generation,
    /// The LSN of the last commit in the base.
    pub base_lsn: Lsn,
    /// The recorded time of that commit.
    pub base_time: Micros,
    /// A random number of the writer that made the journal.
    pub epoch: u64,
}

impl Head {
    /// The head page's bytes, the rest of the page zero.
    pub fn encode(&self) -> Vec<u8> {
        let mut page = vec![0; PAGE as usize];
        page[0] = TAG;
        put_u64(&mut page, 1, LENGTH_FIELD);
        page[AT_MAGIC..AT_MAGIC + 8].copy_from_slice(MAGIC);
        page[AT_LINEAGE..AT_LINEAGE + 16].copy_from_slice(self.lineage.as_bytes());
        page[AT_INSTANCE..AT_INSTANCE + 16].copy_from_slice(self.instance.as_bytes());
        put_u64(&mut page, AT_GENERATION, self.generation.0);
        put_u64(&mut page, AT_BASE_LSN, self.base_lsn.0);
        put_i64(&mut page, AT_BASE_TIME, self.base_time.0);
        put_u64(&mut page, AT_EPOCH, self.epoch);
        let checksum = xxh3_64(&page[..AT_CHECKSUM]);
        put_u64(&mut page, AT_CHECKSUM, checksum);
        page
    }

    /// Reads a head page. `offset` is its position in the file.
    pub fn decode(page: &[u8], offset: u64) -> Result<Self> {
        let bad = |why: &str| Error::corrupt("journal head", offset, why);
        if page.len() < LEN {
            return Err(bad("shorter than a head"));
        }
        if page[0] != TAG
            || get_u64(page, 1) != LENGTH_FIELD
            || &page[AT_MAGIC..AT_MAGIC + 8] != MAGIC
        {
            return Err(bad("its tag, length or magic is wrong"));
        }
        if get_u64(page, AT_CHECKSUM) != xxh3_64(&page[..AT_CHECKSUM]) {
            return Err(bad("its checksum does not hold"));
        }
        let uuid = |at: usize| Uuid::from_bytes(std::array::from_fn(|i| page[at + i]));
        Ok(Self {
            lineage: uuid(AT_LINEAGE),
            instance: uuid(AT_INSTANCE),
            generation: Generation(get_u64(page, AT_GENERATION)),
            base_lsn: Lsn(get_u64(page, AT_BASE_LSN)),
            base_time: Micros(get_i64(page, AT_BASE_TIME)),
            epoch: get_u64(page, AT_EPOCH),
        })
    }

    /// The seed of the first frame's checksum: made of instance, generation and epoch, so that frames of
    /// another file, base or writer never continue this chain.
    pub fn seed(&self) -> u64 {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(self.instance.as_bytes());
        put_u64(&mut bytes, 16, self.generation.0);
        put_u64(&mut bytes, 24, self.epoch);
        xxh3_64(&bytes)
    }
}

const _: () = assert!(AT_CHECKSUM + 8 == LEN && LEN as u64 <= PAGE);

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            lineage: Uuid::from_u128(1),
            instance: Uuid::from_u128(2),
            generation: Generation(3),
            base_lsn: Lsn(4),
            base_time: Micros(5),
            epoch: 6,
        }
    }

    #[test]
    fn a_head_reads_back_and_any_flipped_bit_is_seen() {
        let page = head().encode();
        assert_eq!(Head::decode(&page, 0).unwrap(), head());
        for bit in 0..LEN * 8 {
            // The bytes between the section header and the magic are covered by the checksum as well.
            let mut page = page.clone();
            page[bit / 8] ^= 1 << (bit % 8);
            assert!(Head::decode(&page, 0).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn the_seed_differs_by_instance_generation_and_epoch() {
        let seed = head().seed();
        assert_ne!(
            seed,
            Head {
                instance: Uuid::from_u128(9),
                ..head()
            }
            .seed()
        );
        assert_ne!(
            seed,
            Head {
                generation: Generation(9),
                ..head()
            }
            .seed()
        );
        assert_ne!(seed, Head { epoch: 9, ..head() }.seed());
    }
}
