//! Files of the next version: with an operation, a kind, a section and header flags that this one does not know.

use std::sync::Arc;

use amem_doctor::{repair, verify};
use amem_format::base::section::{HEADER, tag};
use amem_format::bytes::{get_u64, put_u32, put_u64};
use amem_format::mapping::Map;
use amem_format::{Micros, NodeId};
use amem_store::disk::Disk;
use amem_store::{Folder, IncomingFile, Store};
use amem_tests::disk::SimDisk;
use amem_tests::fuzz::mend;
use uuid::Uuid;

use crate::{fact, ingest, open, run};

/// What the next version adds to a file.
#[derive(Debug, Clone, Copy)]
enum Addition {
    /// A frame of this kind, with an operation of this code.
    Frame(u8, u8),
    /// A section of this tag.
    Section(u8),
    /// These flags in the header.
    Flags(u32),
}

/// What this version may do with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Nothing,
    Read,
    Write,
}

use Access::{Nothing, Read, Write};
use Addition::{Flags, Frame, Section};

const ROWS: [(Addition, Access); 9] = [
    (Frame(1, 0x20), Nothing),
    (Frame(1, 0x7F), Nothing),
    (Frame(77, 0x90), Nothing),
    (Flags(1 << 16), Nothing),
    (Frame(1, 0xC1), Read),
    (Section(0x5E), Read),
    (Flags(1 << 31), Read),
    (Frame(1, 0x90), Write),
    (Section(0x55), Write),
];

/// A closed brain with one event, which the next version has written to.
fn brain(addition: Addition) -> (Arc<SimDisk>, Folder, Vec<u8>) {
    let (disk, mut store) = open(31);
    run(&mut store, ingest(vec![fact("one")])).unwrap();
    store.checkpoint().unwrap();
    let (view, folder) = (store.view(), store.folder().clone());
    let base = view.brain().base();
    let sections = base.header().sections() as usize;
    let (start, lsn, time) = (
        view.brain().start().unwrap().at as usize,
        view.lsn(),
        view.time(),
    );
    drop(view);
    store.close().unwrap();
    let mut bytes = disk.contents("b.amem").unwrap();
    match addition {
        Flags(flags) => put_u32(&mut bytes, 12, flags),
        Section(of) => {
            // What was padding, which checksums cover as well.
            let mut at = sections;
            while bytes[at] != tag::PADDING {
                at += HEADER as usize + get_u64(&bytes, at + 1) as usize;
            }
            bytes[at] = of;
        }
        Frame(kind, code) => {
            let payload = [&[code, 3, 0, 0, 0][..], b"new"].concat();
            bytes.resize(bytes.len().max(start + 4096), 0);
            put_u32(&mut bytes, start, payload.len() as u32);
            bytes[start + 4] = kind;
            put_u64(&mut bytes, start + 8, lsn.0 + 1);
            put_u64(&mut bytes, start + 16, time.0 as u64 + 1);
            bytes[start + 40..][..payload.len()].copy_from_slice(&payload);
        }
    }
    mend(&mut bytes);
    disk.open("b.amem").unwrap().write_at(0, &bytes).unwrap();
    (disk, folder, bytes)
}

/// An error names the version, and neither damage nor a repair.
fn check_error(what: &str, error: &dyn std::fmt::Display) {
    let text = error.to_string();
    assert!(text.contains("newer version"), "{what}: {text}");
    for word in ["repair", "damaged"] {
        assert!(!text.contains(word), "{what}: {text}");
    }
}

#[test]
fn files_of_the_next_version_are_refused_read_or_written_as_they_say() {
    for (addition, access) in ROWS {
        let what = format!("{addition:?}");
        let (disk, folder, before) = brain(addition);
        let opened = Store::open(&folder, "b");
        if access == Nothing {
            check_error(&what, &opened.unwrap_err());
        } else {
            let mut store = opened.unwrap();
            let text = store
                .view()
                .node(NodeId(0))
                .unwrap()
                .text()
                .unwrap()
                .into_owned();
            assert_eq!(text, "one", "{what}");
            let written = run(&mut store, ingest(vec![fact("two")]));
            if access == Write {
                written.unwrap();
                store.checkpoint().unwrap();
                assert_eq!(store.view().nodes(), 2, "{what}");
                continue;
            }
            check_error(&what, &written.unwrap_err());
            check_error(&what, &store.checkpoint().unwrap_err());
            store.close().unwrap();
        }
        let after = disk.contents("b.amem").unwrap();
        assert!(before == after, "{what}: its file has changed");
    }
}

#[test]
fn files_of_the_next_version_are_neither_damaged_nor_repaired_nor_adopted() {
    for (addition, access) in ROWS {
        let what = format!("{addition:?}");
        let (_disk, folder, bytes) = brain(addition);
        let verified = verify::native(Arc::new(Map::owned(&bytes)), None);
        match verified {
            Err(error) if access == Nothing => check_error(&what, &error),
            verified => assert!(verified.unwrap().is_whole(), "{what}"),
        }
        let repaired = repair::repair(&bytes, Uuid::from_u128(1), Micros(1));
        let mut incoming = IncomingFile::begin(&folder, "c", bytes.len() as u64).unwrap();
        incoming.push(&bytes).unwrap();
        let adopted = incoming.finish(true);
        if access == Write {
            assert!(repaired.is_ok() && adopted.is_ok(), "{what}: {adopted:?}");
        } else {
            check_error(&what, &repaired.unwrap_err());
            check_error(&what, &adopted.unwrap_err());
        }
    }
}

#[test]
fn flags_that_damage_has_set_in_a_header_are_damage() {
    let (_disk, _folder, mut bytes) = brain(Section(0x55));
    for bit in 16..32 {
        bytes[12 + bit / 8] ^= 1 << (bit % 8);
        let error = verify::native(Arc::new(Map::owned(&bytes)), None).unwrap_err();
        assert!(
            error.to_string().contains("damaged header"),
            "{bit}: {error}"
        );
        let healed = repair::repair(&bytes, Uuid::from_u128(1), Micros(1)).unwrap();
        assert_eq!(healed.view.nodes(), 1);
        bytes[12 + bit / 8] ^= 1 << (bit % 8);
    }
}
