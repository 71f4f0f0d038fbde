//! A simulated file's descriptor. It stays good when the file loses its name.

use std::io;
use std::ops::Range;

use amem_format::mapping::Map;
use amem_store::disk::{File, FileId, SourceFile, Stamp};

use super::log::EVERYTHING;
use super::sim::{SimDisk, State, id};
use super::{Content, Effect, Kind, Op};

/// Longer files are a mistake of the test, or of the store.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// An open file.
#[derive(Debug)]
pub(super) struct SimFile {
    pub(super) disk: SimDisk,
    pub(super) inode: u64,
}

impl State {
    fn content(&mut self, inode: u64) -> io::Result<&mut Content> {
        let file = self.image.files.get_mut(&inode);
        file.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&mut self, inode: u64, position: u64, bytes: &[u8]) -> io::Result<()> {
        let end = position.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > FILE_BYTES_MAX) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let content = self.content(inode)?;
        let len_before = content.len();
        content.write(position, bytes);
        if !bytes.is_empty() {
            self.log.ops.push(Op::Write {
                inode,
                position,
                bytes: bytes.into(),
                len_before,
            });
        }
        Ok(())
    }
}

impl SimFile {
    fn sync_range(&self, range: Range<u64>) -> io::Result<()> {
        let mut state = self.disk.state();
        let inode = self.inode;
        match state.strike(Kind::Sync) {
            None => {
                state.log.ops.push(Op::Sync { inode, range });
                Ok(())
            }
            Some(fault) => {
                state.log.ops.push(Op::SyncFailed { inode });
                Err(fault.error())
            }
        }
    }
}

impl SourceFile for SimFile {
    fn stamp(&self) -> io::Result<Stamp> {
        self.disk.perform(Kind::Len, |state| {
            let content = state.content(self.inode)?;
            Ok(Stamp {
                id: id(self.inode),
                bytes: content.len(),
                // A write that changes nothing is none that anybody could miss.
                modified: content.digest() as u64,
            })
        })
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        self.disk.perform(Kind::Len, |state| {
            Ok(state.content(self.inode)?.read_at(position, into))
        })
    }
}

impl File for SimFile {
    fn id(&self) -> FileId {
        id(self.inode)
    }

    fn len(&self) -> io::Result<u64> {
        self.disk
            .perform(Kind::Len, |state| Ok(state.content(self.inode)?.len()))
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        SourceFile::read_at(self, position, into)
    }

    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let Some(fault) = state.strike(Kind::Write) else {
            return state.write(self.inode, position, bytes);
        };
        let written = match fault.effect {
            Effect::Nothing => 0,
            Effect::Half => bytes.len() / 2,
            Effect::Everything => bytes.len(),
        };
        state.write(self.inode, position, &bytes[..written])?;
        Err(fault.error())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_range(EVERYTHING)
    }

    fn sync_part(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let range = position..position + bytes.len() as u64;
        {
            let mut state = self.disk.state();
            let content = state.content(self.inode)?;
            if content.read(range.end).get(position as usize..) != Some(bytes) {
                let why = "a part is synced that has other bytes";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
        }
        self.sync_range(range)
    }

    fn write_out(&self) -> io::Result<()> {
        self.disk.perform(Kind::WriteOut, |_| Ok(()))
    }

    fn map(&self, len: u64) -> io::Result<Map> {
        self.disk.perform(Kind::Map, |state| {
            let map = state.content(self.inode)?.map(len);
            map.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        })
    }

    fn store_cell(&self, page: u64, offset: u64, value: u64) -> io::Result<()> {
        self.disk.perform(Kind::StoreCell, |state| {
            let position = page.checked_add(offset).filter(|p| p % 8 == 0);
            let len = state.content(self.inode)?.len();
            let within = |p: &u64| p.checked_add(8).is_some_and(|end| end <= len);
            let Some(position) = position.filter(within) else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a cell must be aligned and within the file",
                ));
            };
            state.write(self.inode, position, &value.to_le_bytes())
        })
    }

    fn protect(&self, _readers: Option<u32>) -> io::Result<()> {
        let inode = self.inode;
        self.disk.perform(Kind::Protect, |state| {
            state.protected.insert(inode);
            state.log.ops.push(Op::Protect { inode });
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use amem_store::disk::{Disk, LockError};

    use super::super::{Among, EIO, ENOSPC, Fault};
    use super::*;

    #[test]
    fn a_simulated_file_behaves_like_a_file() -> io::Result<()> {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
        assert_eq!(
            disk.create("a/b").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        disk.create_folder("a/c")?;
        let file = disk.create("a/c/x")?;
        assert_eq!(
            disk.create("a/c/x").unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        file.write_at(6, b"xy")?;
        assert_eq!(file.len()?, 8);
        file.store_cell(0, 0, 0x4142)?;
        assert_eq!(file.map(8)?.slice(0, 8), Some(&b"BA\0\0\0\0\0\0"[..]));
        assert!(file.store_cell(0, 8, 1).is_err());
        assert!(file.map(9).is_err());

        disk.publish("a/c/x", "y")?;
        let other = disk.create("a/c/x")?;
        assert_eq!(disk.list("a/c")?, ["x"]);
        assert_eq!(disk.list("")?, ["y"]);
        assert_eq!(
            disk.publish("a/c/x", "y").unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        disk.exchange("a/c/x", "y")?;
        assert_eq!(disk.identity("y")?, other.id());
        disk.remove("a/c/x")?;
        assert_eq!(file.len()?, 8, "a nameless file stays good");
        assert_ne!(disk.create("a/c/x")?.id(), file.id());
        Ok(())
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let disk = SimDisk::new(1);
        let held = disk.lock("lock", "pid 7\n").unwrap();
        assert!(
            matches!(disk.lock("lock", "pid 8"), Err(LockError::Held(text)) if text == "pid 7")
        );
        drop(held);
        assert!(disk.lock("lock", "pid 8").is_ok());
    }

    #[test]
    fn without_exchange_a_file_is_replaced_and_its_other_names_remain() -> io::Result<()> {
        let disk = SimDisk::new(1).without_exchange();
        let (new, old) = (disk.create("new")?, disk.create("old")?);
        let refused = disk.exchange("new", "old").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
        assert_eq!(disk.list("")?, ["new", "old"]);
        disk.link("old", "beside")?;
        assert_eq!(
            disk.link("old", "beside").unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        disk.replace("new", "old")?;
        assert_eq!(disk.list("")?, ["beside", "old"]);
        assert_eq!(disk.identity("old")?, new.id());
        assert_eq!(disk.identity("beside")?, old.id());
        Ok(())
    }

    #[test]
    fn a_fault_strikes_the_chosen_operation_once_or_for_good() -> io::Result<()> {
        let rows = [
            (false, Effect::Nothing, [true, false, true, true], 6),
            (false, Effect::Half, [true, false, true, true], 6),
            (true, Effect::Nothing, [true, false, false, false], 2),
            (true, Effect::Everything, [true, false, false, false], 8),
        ];
        for (lasting, effect, expected, bytes) in rows {
            let disk = SimDisk::new(1);
            let file = disk.create("x")?;
            disk.fail(Fault {
                after: 1,
                among: Among::Only(Kind::Write),
                error: ENOSPC,
                effect,
                lasting,
            });
            let done = [0, 1, 2, 3].map(|i| {
                let done = file.write_at(2 * i, b"ab");
                if let Err(e) = &done {
                    assert_eq!(e.kind(), io::ErrorKind::StorageFull);
                }
                done.is_ok()
            });
            let there = disk.contents("x").unwrap_or_default();
            let there = there.iter().filter(|&&b| b != 0).count();
            let half = usize::from(effect == Effect::Half);
            assert_eq!((done, there), (expected, bytes + half), "{effect:?}");
            assert_eq!(disk.operations(Among::Only(Kind::Write)), 4);
            disk.heal();
            file.write_at(0, b"z")?;
        }
        Ok(())
    }

    #[test]
    fn a_failed_read_is_an_error_too() -> io::Result<()> {
        let disk = SimDisk::new(1);
        let file = disk.create("x")?;
        disk.fail(Fault {
            after: 0,
            among: Among::All,
            error: EIO,
            effect: Effect::Nothing,
            lasting: true,
        });
        assert!(file.map(0).is_err() && disk.open("x").is_err() && disk.list("").is_err());
        Ok(())
    }
}
