//! Every bit of a small brain.

use std::sync::Arc;
use std::thread;

use super::*;
use crate::sample;
use amem_format::base::section::{HEADER, tag};
use amem_format::base::settings::Settings;
use amem_format::base_builder;
use amem_format::base_builder::build::Build;
use amem_format::base_builder::{Options, write_base};
use amem_format::bytes::put_u64;
use amem_format::event::Attributes;
use amem_format::journal::frame;
use amem_format::journal::frame::{Header, Kind};
use amem_format::journal::head::PAGE;
use amem_format::journal::live;
use amem_format::journal::op;
use amem_format::journal::op::Op;
use amem_format::stamp::EventFields;
use amem_format::types::{ActorId, EdgeType, Flags, Lsn, Micros, NodeId, SessionId};
use amem_interop::Layout;
use uuid::Uuid;

const NOW: Micros = Micros(1_800_000_000_000_000);

/// A brain of five events with everything in it: attributes, event times, a named session; changed, with a checkpoint,
/// and changed again in its journal.
pub(crate) fn brain() -> Vec<u8> {
    let identity = base_builder::new_identity(
        Uuid::from_u128(1),
        Uuid::from_u128(2),
        Uuid::from_u128(3),
        NOW,
    );
    let mut build = Build::new(&identity, sample::DIMENSION, &Settings::default()).unwrap();
    let mut graph = sample::graph(5);
    graph.events[1].event_time = Some(Micros(77));
    let attributes = Attributes::from_iter([("speaker".to_owned(), "Ada".into())]);
    graph.events[2].attributes = Some(attributes);
    graph.events[2].flags = graph.events[2].flags.with(Flags::ATTRIBUTES);
    build.push_graph(&graph).unwrap();
    let open = Op::OpenSession {
        session: SessionId(7),
        key: "conv/7",
        agent: "tester",
        at: NOW,
    };
    build.push(&open).unwrap();
    let view = build.finish().unwrap();
    let first = with_journal(&view, &Build::options(&view, &identity), &[]);
    let changes = [
        vec![Op::Belief {
            target: NodeId(0),
            confidence: 0.25,
            flags: Flags::FORGOTTEN,
            lambda: 0.5,
        }],
        vec![
            Op::Unlink {
                source: NodeId(0),
                target: NodeId(1),
                edge_type: EdgeType(0),
            },
            Op::Attributes {
                target: NodeId(2),
                json: r#"{"speaker":"Grace"}"#,
            },
            Op::Stamp {
                target: NodeId(2),
                fields: EventFields::ATTRIBUTES,
                at: NOW,
            },
            Op::StampEdge {
                source: NodeId(0),
                target: NodeId(1),
                edge_type: EdgeType(0),
                at: NOW,
            },
            Op::StampSession {
                session: SessionId(7),
                at: NOW,
            },
        ],
    ];
    let view = open_bytes(&with_frames(first, &changes));
    let base = with_journal(&view, &Options::next(&view, NOW), &[]);
    with_frames(base, &changes[..1])
}

/// A brain's bytes as a view.
pub(crate) fn open_bytes(bytes: &[u8]) -> amem_format::view::View {
    let brain = Arc::new(Brain::open(Map::owned(bytes)).unwrap());
    let replayed = brain.replay(brain.start().unwrap(), u64::MAX).unwrap();
    assert_eq!(replayed.torn, None);
    brain.view()
}

pub(crate) fn with_journal(
    view: &amem_format::view::View,
    options: &Options,
    tail: &[u8],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let end = write_base(view, options, &mut bytes).unwrap();
    base_builder::journal(&options.identity, 9, end, &mut bytes).unwrap();
    bytes.extend_from_slice(tail);
    bytes
}

/// The same brain with transactions in its journal, and room behind them.
pub(crate) fn with_frames(mut bytes: Vec<u8>, transactions: &[Vec<Op<'_>>]) -> Vec<u8> {
    let view = open_bytes(&bytes);
    let start = view.brain().start().unwrap();
    let mut checksum = start.checksum;
    for (i, ops) in (1..).zip(transactions) {
        let mut payload = Vec::new();
        ops.iter().for_each(|op| op::encode(&mut payload, op));
        let header = Header {
            kind: Kind::Correct,
            more: false,
            lsn: Lsn(start.lsn.0 + i),
            time: Micros(view.time().0 + i as i64),
            actor: ActorId(0),
        };
        checksum = frame::encode(&mut bytes, &header, &payload, checksum).unwrap();
    }
    bytes.extend_from_slice(&[0; 64]);
    bytes
}

fn check(bytes: &[u8]) -> Result<VerifyReport> {
    native(Arc::new(Map::owned(bytes)), None)
}

#[test]
fn a_whole_brain_is_whole() {
    let report = check(&brain()).unwrap();
    assert_eq!(report.findings, []);
    assert_eq!(report.tail, None);
    assert_eq!((report.events, report.edges, report.commits), (5, 9, 1));
    assert!(report.checksums > 20);
}

#[test]
fn every_flipped_bit_is_found() {
    let bytes = brain();
    let start = open_bytes(&bytes).brain().start().unwrap().at;
    let live_page = (start - PAGE) as usize..start as usize;
    let missed: Vec<usize> = thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            let (bytes, live_page) = (&bytes, &live_page);
            scope.spawn(move || {
                let mut bytes = bytes.clone();
                let mut missed = Vec::new();
                for bit in (half..bytes.len() * 8).step_by(2) {
                    if live_page.contains(&(bit / 8)) {
                        continue;
                    }
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    if check(&bytes).is_ok_and(|report| report.is_whole()) {
                        missed.push(bit);
                    }
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
                missed
            })
        });
        let found = halves.map(|half| half.join().unwrap());
        found.concat()
    });
    let places: Vec<_> = missed.iter().map(|bit| (bit / 8, bit % 8)).collect();
    assert_eq!(places, [], "of {} bytes", bytes.len());
}

#[test]
fn every_cut_is_found_or_ends_the_journal() {
    let bytes = brain();
    let start = open_bytes(&bytes).brain().start().unwrap().at;
    let frames_end = bytes.len() - 64;
    for len in 0..bytes.len() {
        let whole = check(&bytes[..len]).is_ok_and(|report| report.is_whole());
        // Behind the head pages and behind the last frame a shorter journal is as good.
        let may_be_whole = len as u64 == start || len >= frames_end;
        assert_eq!(whole, may_be_whole, "{len} of {}", bytes.len());
    }
}

#[test]
fn commits_that_the_live_page_tells_of_are_missed() {
    let bytes = brain();
    let (start, end) = (
        open_bytes(&bytes).brain().start().unwrap().at,
        bytes.len() - 64,
    );
    for (cell, value) in [
        (live::COMMITTED, end as u64),
        (live::COMMITTED, end as u64 | live::LOOK),
        (live::CLEAN, end as u64),
    ] {
        let mut told = bytes.clone();
        put_u64(&mut told, (start - PAGE + cell) as usize, value);
        assert!(check(&told).unwrap().is_whole(), "cell {cell}");
        // A frame that was committed is no torn tail, and its absence no end.
        told[end - 1] ^= 1;
        for found in [check(&told), check(&told[..start as usize])] {
            let report = found.unwrap();
            let places: Vec<_> = report
                .findings
                .iter()
                .map(|f| (f.part.as_str(), f.offset))
                .collect();
            assert_eq!(
                (places, report.tail),
                (vec![("journal", Some(start))], None),
                "cell {cell}"
            );
        }
    }
}

#[test]
fn a_live_file_that_was_cut_within_its_frames_is_not_whole() {
    use std::os::unix::fs::MetadataExt;

    let mut bytes = brain();
    let (start, end) = (
        open_bytes(&bytes).brain().start().unwrap().at,
        bytes.len() as u64 - 64,
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    let meta = file.path().metadata().unwrap();
    let boot = amem_format::reader::boot_id();
    let page = (start - PAGE) as usize;
    for (cell, value) in [
        (live::COMMITTED, end),
        (live::OWNER, boot[0]),
        (live::OWNER + 8, boot[1]),
        (live::OWNER + 16, meta.dev()),
        (live::OWNER + 24, meta.ino()),
    ] {
        put_u64(&mut bytes, page + cell as usize, value);
    }
    // Written over, as another file would be another inode.
    std::fs::write(file.path(), &bytes).unwrap();
    let whole = super::file(file.path()).unwrap();
    assert!(whole.is_whole(), "{whole:?}");
    for len in [end - 1, start + 8, start] {
        file.as_file().set_len(len).unwrap();
        let cut = super::file(file.path()).unwrap();
        let places: Vec<_> = cut
            .findings
            .iter()
            .map(|f| (f.part.as_str(), f.offset))
            .collect();
        assert_eq!(places, [("journal", Some(start))], "{len}");
        assert_eq!((cut.live, cut.bytes), (whole.live, len));
        assert!(!cut.is_whole() && cut.checksums == whole.checksums);
    }
}

#[test]
fn one_section_of_ours_tells_whose_file_it_is() {
    let bytes = brain();
    let view = open_bytes(&bytes);
    for place in &view.brain().base().table().places {
        let mut damaged = bytes.clone();
        damaged[place.offset as usize - HEADER as usize] = 0x20;
        let told = foreign::verify(&damaged).unwrap();
        assert_eq!(told.layout, Layout::Native);
        assert!(!told.is_whole(), "{place:?}");
        assert!(
            !check(&damaged).is_ok_and(|report| report.is_whole()),
            "{place:?}"
        );
    }
}

#[test]
fn indexes_that_lie_under_right_checksums_are_found() {
    use xxhash_rust::xxh3::xxh3_64;

    let lies = [
        (tag::ADJACENCY, 16 + 4 * 6 * 2, "adjacency"),
        (tag::KINDS, 8 + 257 * 4, "kinds"),
        (tag::SESSIONS, 16, "sessions"),
        (tag::SPANS, 0, "spans"),
        (tag::EVENT_TIMES, 16, "event times"),
        (tag::STRENGTHS, 8, "strengths"),
        (tag::CONFLICTS, 16, "conflicts"),
        (tag::VECTORS, 8, "vector lengths"),
        (tag::CODES, 64, "codes"),
        (tag::TERMS, 64, "term index"),
        (tag::VALUES, 16, "attribute values"),
        (tag::HISTORY, 16, "history"),
        (tag::CHANGE_STAMPS, 16, "change stamps"),
        (tag::CLOCK, 8, "clock"),
    ];
    for (tag, at, name) in lies {
        let mut bytes = brain();
        let view = open_bytes(&bytes);
        let base = view.brain().base();
        let place = base.table().find(tag).unwrap();
        let checksums = base.table().find(tag::CHECKSUMS).unwrap();
        bytes[place.offset as usize + at] ^= 1;
        // The checksums are made to agree.
        let mut section = bytes[checksums.offset as usize..][..checksums.len as usize].to_vec();
        let own = section.len() - 8;
        for range in section[8..own].chunks_exact_mut(24) {
            let [offset, len] = [0, 8].map(|at| amem_format::bytes::get_u64(range, at) as usize);
            let sum = xxh3_64(&bytes[offset..offset + len]);
            range[16..].copy_from_slice(&sum.to_le_bytes());
        }
        let sum = xxh3_64(&section[..own]);
        section[own..].copy_from_slice(&sum.to_le_bytes());
        bytes[checksums.offset as usize..][..section.len()].copy_from_slice(&section);
        let report = check(&bytes).unwrap();
        let parts: Vec<&str> = report.findings.iter().map(|f| f.part.as_str()).collect();
        assert!(parts.contains(&name), "{name}: {:?}", report.findings);
    }
}

#[test]
fn a_torn_tail_is_distinguished_from_damage() {
    let mut bytes = brain();
    let end = bytes.len() - 64;
    bytes[end..end + 11].copy_from_slice(b"half a fram");
    let report = check(&bytes).unwrap();
    assert_eq!(report.findings, []);
    let tail = report.tail.unwrap();
    assert_eq!((tail.offset, tail.bytes), (end as u64, 11));
}

#[test]
fn every_section_has_a_check() {
    for row in amem_format::base::section::ROWS {
        // Opening checks identity and settings, the tables check attributes, the bytes check the checksums.
        let elsewhere = [
            tag::IDENTITY,
            tag::SETTINGS,
            tag::ATTRIBUTES,
            tag::CHECKSUMS,
        ];
        let has_check = indexes::of(row.tag).is_some() || log::of(row.tag).is_some();
        assert_ne!(has_check, elsewhere.contains(&row.tag), "{}", row.name);
    }
}
