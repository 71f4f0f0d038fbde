//! The vectors of a brain's events in another space, as they are made: a file that grows, event by event.
//!
//! `.amemd/NAME.vectors`: a header of 64 bytes (magic, instance, space, dimension), then a row for each event: its
//! numbers (f32, little-endian), whether it has a vector (u32, 1 or 0), and XXH3-64 of its id, the time when it was
//! recorded, and these. The file is no brain's: it only saves that a text is embedded twice. A row whose checksum is
//! wrong, because it was cut or is of another event, and all after it, are made again.

use std::io::ErrorKind;
use std::sync::Arc;

use amem_format::NodeId;
use amem_format::mapping::Map;
use amem_format::other_space::EventVectors;
use amem_format::view::View;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::disk::File;
use crate::error::{Error, Result};
use crate::names::folder::{Folder, OWN, TMP, vector_rows};

const MAGIC: &[u8; 8] = b"AMEMVEC1";
const HEADER: u64 = 64;
const FLAG: u64 = 4;
const CHECKSUM: u64 = 8;

/// Whose vectors a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowsOf {
    pub(crate) instance: Uuid,
    pub(crate) space: Uuid,
    pub(crate) dimension: u32,
}

impl RowsOf {
    fn header(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(self.instance.as_bytes());
        out.extend_from_slice(self.space.as_bytes());
        out.extend_from_slice(&self.dimension.to_le_bytes());
        out.resize(HEADER as usize, 0);
        out
    }

    fn row(&self) -> u64 {
        u64::from(self.dimension) * 4 + FLAG + CHECKSUM
    }
}

/// The file.
#[derive(Debug)]
pub(crate) struct VectorRows {
    of: RowsOf,
    path: String,
    file: Arc<dyn File>,
    /// Rows that are whole.
    count: u64,
}

impl VectorRows {
    /// Opens the file of a brain, with the rows that are whole; makes one if it has none, or one of another space.
    pub(crate) fn open(folder: &Folder, brain: &str, of: RowsOf, view: &View) -> Result<Self> {
        let path = vector_rows(brain);
        let disk = folder.disk();
        match disk.open(&path) {
            Ok(file) => match whole_rows(&*file, &of, &path, view)? {
                Some(count) => {
                    return Ok(Self {
                        of,
                        path,
                        file,
                        count,
                    });
                }
                None => folder.remove(&path)?,
            },
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(Error::disk("open", &path, e)),
        }
        let random = u128::from_le_bytes(disk.random());
        let new = format!("{TMP}/{brain}-{random:032x}");
        let failed = |action: &'static str| {
            let new = new.clone();
            move |e| Error::disk(action, new, e)
        };
        let file = disk.create(&new).map_err(failed("create"))?;
        file.write_at(0, &of.header()).map_err(failed("write"))?;
        file.sync().map_err(failed("sync"))?;
        disk.publish(&new, &path).map_err(failed("rename"))?;
        folder.sync(OWN)?;
        Ok(Self {
            of,
            path,
            file,
            count: 0,
        })
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn of(&self) -> &RowsOf {
        &self.of
    }

    /// False if the file was removed: something was erased whose vector it has.
    pub(crate) fn is_there(&self, folder: &Folder) -> Result<bool> {
        Ok(folder.identity(&self.path)? == Some(self.file.id()))
    }

    /// Adds the vectors of the next events of a view, durably.
    pub(crate) fn append(&mut self, view: &View, vectors: &[Option<Vec<f32>>]) -> Result<()> {
        let mut bytes = Vec::with_capacity(vectors.len() * self.of.row() as usize);
        let none = vec![0.0; self.of.dimension as usize];
        for (at, vector) in vectors.iter().enumerate() {
            let numbers = vector.as_ref().unwrap_or(&none);
            if numbers.len() != none.len() {
                return Err(amem_format::Error::Dimension {
                    expected: self.of.dimension,
                    found: numbers.len(),
                }
                .into());
            }
            if numbers.iter().any(|x| !x.is_finite()) {
                let why = "the embedder gives a number that is not finite";
                return Err(Error::invalid("vector", why));
            }
            let from = bytes.len();
            bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend_from_slice(&u32::from(vector.is_some()).to_le_bytes());
            let sum = checksum(view, self.count + at as u64, &bytes[from..])?;
            bytes.extend_from_slice(&sum.to_le_bytes());
        }
        let at = HEADER + self.count * self.of.row();
        let written = self.file.write_at(at, &bytes);
        written.map_err(|e| Error::disk("write", &self.path, e))?;
        let synced = self.file.sync();
        synced.map_err(|e| Error::disk("sync", &self.path, e))?;
        self.count += vectors.len() as u64;
        Ok(())
    }

    /// The rows that there are now.
    pub(crate) fn mapped(&self) -> Result<MappedRows> {
        let bytes = HEADER + self.count * self.of.row();
        let map = self.file.map(bytes);
        Ok(MappedRows {
            map: map.map_err(|e| Error::disk("map", &self.path, e))?,
            of: self.of,
            count: self.count,
        })
    }
}

/// Rows of the file, in place.
#[derive(Debug)]
pub(crate) struct MappedRows {
    map: Map,
    of: RowsOf,
    count: u64,
}

impl EventVectors for MappedRows {
    fn vector(&self, id: NodeId) -> amem_format::Result<Option<&[f32]>> {
        let bad = |why: String| amem_format::Error::corrupt("vectors of the new space", 0, why);
        let row = self.of.row();
        // It came while commits waited.
        if id.0 >= self.count {
            return Ok(None);
        }
        let bytes = self.map.slice(HEADER + id.0 * row, row - CHECKSUM);
        let bytes = bytes.ok_or_else(|| bad(format!("that of event {id} is missing")))?;
        let (numbers, flag) = bytes.split_at(bytes.len() - FLAG as usize);
        if flag.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let numbers: &[f32] = bytemuck::try_cast_slice(numbers)
            .map_err(|e| bad(format!("that of event {id}: {e}")))?;
        Ok(Some(numbers))
    }
}

fn checksum(view: &View, id: u64, row: &[u8]) -> Result<u64> {
    let recorded = view.node(NodeId(id))?.created_at();
    let mut bytes = Vec::with_capacity(16 + row.len());
    bytes.extend_from_slice(&id.to_le_bytes());
    bytes.extend_from_slice(&recorded.0.to_le_bytes());
    bytes.extend_from_slice(row);
    Ok(xxh3_64(&bytes))
}

/// How many rows of a file are whole, and of the events of a view; `None` if it is another brain's or of another space.
fn whole_rows(file: &dyn File, of: &RowsOf, path: &str, view: &View) -> Result<Option<u64>> {
    let failed = |e| Error::disk("read", path, e);
    let len = file.len().map_err(failed)?;
    let map = file.map(len).map_err(failed)?;
    if map.slice(0, HEADER) != Some(of.header().as_slice()) {
        return Ok(None);
    }
    let row = of.row();
    let rows = ((len - HEADER) / row).min(view.nodes());
    for id in 0..rows {
        let at = HEADER + id * row;
        let own = map.slice(at, row - CHECKSUM);
        let sum = map.slice(at + row - CHECKSUM, CHECKSUM);
        let expected = own.map(|own| checksum(view, id, own)).transpose()?;
        if sum.is_none()
            || sum
                != expected
                    .map(u64::to_le_bytes)
                    .as_ref()
                    .map(<[u8; 8]>::as_slice)
        {
            return Ok(Some(id));
        }
    }
    Ok(Some(rows))
}
