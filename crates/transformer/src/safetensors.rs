//! `model.safetensors`: a header in JSON, then the numbers of the tensors, one after the other.
//!
//! Every place is checked against the file's length before anything is read, and a shape against the bytes of its place
//! before anything is allocated: so memory is bounded by the file's length. Numbers of 16 bits become numbers of 32.
//!
//! The names, shapes and bytes of the tensors that are read are hashed on the way, in the order of reading: other
//! tensors in the file, and their order, do not matter.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::files::ModelFolder;
use crate::limits::{HEADER_BYTES_MAX, WEIGHTS_BYTES_MAX};

pub(crate) const FILE: &str = "model.safetensors";

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 20;
/// Bytes in front of the header: its length.
const LENGTH_BYTES: u64 = 8;

/// A tensor as the header describes it.
#[derive(Debug, Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// The types of numbers that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberType {
    F32,
    F16,
    Bf16,
}

impl NumberType {
    fn of(name: &str) -> Option<Self> {
        match name {
            "F32" => Some(Self::F32),
            "F16" => Some(Self::F16),
            "BF16" => Some(Self::Bf16),
            _ => None,
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// Appends the numbers of little-endian bytes.
    fn decode(self, bytes: &[u8], out: &mut Vec<f32>) {
        match self {
            Self::F32 => {
                let (numbers, _) = bytes.as_chunks();
                out.extend(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            Self::F16 => {
                let (numbers, _) = bytes.as_chunks();
                out.extend(numbers.iter().map(|b| wide(u16::from_le_bytes(*b))));
            }
            Self::Bf16 => {
                let (numbers, _) = bytes.as_chunks();
                let wide = |b: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16);
                out.extend(numbers.iter().map(wide));
            }
        }
    }
}

/// A number of IEEE 754's 16 bits as one of 32; exact.
fn wide(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let size = u32::from(half & 0x7fff) << 13;
    // The exponents differ by 112; the product is right for numbers below the normal ones as well.
    let value = if size >= 0x0f80_0000 {
        f32::from_bits(size | 0x7f80_0000)
    } else {
        f32::from_bits(size) * 2f32.powi(112)
    };
    f32::from_bits(value.to_bits() | sign)
}

/// An open file of tensors.
pub(crate) struct TensorFile<'a> {
    folder: &'a ModelFolder,
    file: File,
    /// Where the numbers begin.
    start: u64,
    tensors: HashMap<String, TensorEntry>,
    hash: Xxh3,
    piece: Vec<u8>,
}

impl<'a> TensorFile<'a> {
    /// Opens the file and checks its header.
    pub(crate) fn open(folder: &'a ModelFolder) -> Result<Self> {
        let Some((mut file, bytes)) = folder.file(FILE, WEIGHTS_BYTES_MAX)? else {
            return Err(without_weights(folder));
        };
        let short = |what: &str| folder.damaged(FILE, format!("it ends inside {what}"));
        let mut length = [0; LENGTH_BYTES as usize];
        file.read_exact(&mut length)
            .map_err(|_| short("the length of its header"))?;
        let header_bytes = u64::from_le_bytes(length);
        if header_bytes > HEADER_BYTES_MAX {
            return Err(Error::Limit {
                path: folder.path(FILE),
                what: "the header's length in bytes".into(),
                found: header_bytes,
                most: HEADER_BYTES_MAX,
            });
        }
        let start = LENGTH_BYTES + header_bytes;
        if start > bytes {
            let what = format!("its header, which has {header_bytes} bytes");
            return Err(short(&what));
        }
        let mut header = vec![0; header_bytes as usize];
        file.read_exact(&mut header)
            .map_err(|_| short("its header"))?;
        let TensorHeader(tensors) = serde_json::from_slice(&header)
            .map_err(|e| folder.damaged(FILE, format!("its header: {e}")))?;
        validate(folder, &tensors, bytes - start)?;
        Ok(Self {
            folder,
            file,
            start,
            tensors,
            hash: Xxh3::new(),
            piece: Vec::new(),
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// The numbers of a tensor of a shape.
    pub(crate) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let folder = self.folder;
        let Some(entry) = self.tensors.get(name) else {
            let remedy =
                "fetch the files of a whole sentence-transformer; config.json asks for this tensor";
            return Err(folder.missing(FILE, &format!("the tensor {name:?}"), remedy));
        };
        if !entry
            .shape
            .iter()
            .eq(shape.iter().map(|n| *n as u64).collect::<Vec<_>>().iter())
        {
            return Err(Error::Mismatch {
                path: folder.path(FILE),
                what: format!("the shape of the tensor {name:?}"),
                found: format!("{:?}", entry.shape),
                expected: format!("{shape:?} as config.json says"),
            });
        }
        let Some(kind) = NumberType::of(&entry.dtype) else {
            let what = format!("the type {:?} of the tensor {name:?}", entry.dtype);
            let remedy = "choose a model of the types F32, F16 or BF16";
            return Err(folder.unsupported(FILE, what, remedy));
        };
        // The places were checked against the file's length, and the shape against the place.
        let (front, back) = entry.data_offsets;
        self.hash.update(name.as_bytes());
        self.hash.update(entry.dtype.as_bytes());
        for size in &entry.shape {
            self.hash.update(&size.to_le_bytes());
        }
        let failed = |source| Error::Io {
            action: "read",
            path: folder.path(FILE),
            source,
        };
        self.file
            .seek(SeekFrom::Start(self.start + front))
            .map_err(failed)?;
        let mut left = (back - front) as usize;
        let mut numbers = Vec::with_capacity(left / kind.bytes() as usize);
        while left > 0 {
            let bytes = left.min(PIECE_BYTES);
            self.piece.resize(bytes, 0);
            self.file.read_exact(&mut self.piece).map_err(failed)?;
            self.hash.update(&self.piece);
            kind.decode(&self.piece, &mut numbers);
            left -= bytes;
        }
        Ok(numbers)
    }

    /// The hash of what was read.
    pub(crate) fn hash(&self) -> u128 {
        self.hash.digest128()
    }
}

/// The error for a folder without the file: which remedy depends on what is there instead.
fn without_weights(folder: &ModelFolder) -> Error {
    let there = |name: &str| folder.path(name).exists();
    let remedy = if there("model.safetensors.index.json") {
        "weights in several files are not supported: save the model with one file"
    } else if there("pytorch_model.bin") {
        "pytorch_model.bin is not read, since it holds programs: save the model as safetensors"
    } else {
        "give the folder of a sentence-transformer, with config.json and model.safetensors"
    };
    folder.missing(FILE, "the file", remedy)
}

/// The tensors of a header.
#[derive(Debug)]
struct TensorHeader(HashMap<String, TensorEntry>);

impl<'de> Deserialize<'de> for TensorHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HeaderVisitor;

        impl<'de> Visitor<'de> for HeaderVisitor {
            type Value = TensorHeader;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut tensors = HashMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let entry = map.next_value();
                    let entry =
                        entry.map_err(|e| A::Error::custom(format!("tensor {name:?}: {e}")))?;
                    if let Some(TensorEntry { .. }) = tensors.insert(name.clone(), entry) {
                        return Err(A::Error::custom(format!("two tensors {name:?}")));
                    }
                }
                Ok(TensorHeader(tensors))
            }
        }

        deserializer.deserialize_map(HeaderVisitor)
    }
}

/// Checks that the tensors cover the bytes behind the header, each byte once, and that shapes fit their places.
fn validate(
    folder: &ModelFolder,
    tensors: &HashMap<String, TensorEntry>,
    bytes: u64,
) -> Result<()> {
    let damaged = |what: String| Err(folder.damaged(FILE, what));
    let mut order: Vec<_> = tensors.iter().collect();
    order.sort_by_key(|(name, entry)| (entry.data_offsets, *name));
    let mut end = 0;
    for (name, entry) in order {
        let (front, back) = entry.data_offsets;
        if back < front || back > bytes {
            return damaged(format!(
                "the tensor {name:?} is at bytes {front} to {back} of {bytes}"
            ));
        }
        if front < end {
            return damaged(format!(
                "the tensor {name:?} overlaps the one before: it begins at byte {front}, not {end}"
            ));
        }
        if front > end {
            return damaged(format!(
                "bytes {end} to {front} in front of the tensor {name:?} are no tensor's"
            ));
        }
        end = back;
        let Some(kind) = NumberType::of(&entry.dtype) else {
            continue;
        };
        let product = |product: u64, size: &u64| product.checked_mul(*size);
        let expected = entry.shape.iter().try_fold(kind.bytes(), product);
        if expected != Some(back - front) {
            return damaged(format!(
                "the tensor {name:?} has {} bytes, which is not its shape {:?} of {}",
                back - front,
                entry.shape,
                entry.dtype
            ));
        }
    }
    if end != bytes {
        return damaged(format!("bytes {end} to {bytes} at its end are no tensor's"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_become_the_same_numbers() {
        for (half, expected) in [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(wide(half).to_bits(), f32::to_bits(expected), "{half:04x}");
        }
        assert!(wide(0x7e00).is_nan() && wide(0xfc01).is_nan());
        // Every number of 16 bits, computed from its three parts.
        for half in 0..0x7c00u16 {
            let (exponent, digits) = (i32::from(half >> 10), f64::from(half & 0x3ff));
            let expected = match exponent {
                0 => digits * 2f64.powi(-24),
                _ => (1024.0 + digits) * 2f64.powi(exponent - 25),
            };
            assert_eq!(f64::from(wide(half)).to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn numbers_of_each_type_are_decoded() {
        let check = |kind: NumberType, bytes: &[u8], expected: &[f32]| {
            let mut found = Vec::new();
            kind.decode(bytes, &mut found);
            assert_eq!(found, expected, "{kind:?}");
        };
        check(
            NumberType::F32,
            &[0, 0, 128, 63, 0, 0, 0, 192],
            &[1.0, -2.0],
        );
        check(NumberType::F16, &[0, 60, 0, 192], &[1.0, -2.0]);
        check(NumberType::Bf16, &[128, 63, 0, 192], &[1.0, -2.0]);
    }
}
