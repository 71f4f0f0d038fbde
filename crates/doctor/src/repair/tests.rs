//! Damage of every kind, and what is left of it.

use super::*;
use crate::sample::collect;
use crate::verify::tests::{brain, open_bytes, with_frames, with_journal};
use amem_format::base::section::tag;
use amem_format::base_builder;
use amem_format::event::{Graph, MemoryGraph};
use amem_format::journal::op::Op;
use amem_format::types::{Flags, NodeId};
use amem_format::view::AsOf;
use amem_format::{Lsn, Micros};

const NEW: Uuid = Uuid::from_u128(99);

/// Repairs, makes a checkpoint, and checks that what comes of it is whole.
fn check(bytes: &[u8]) -> (View, RepairReport) {
    let repaired = repair(bytes, NEW, Micros(1_900_000_000_000_000)).unwrap();
    let mut out = Vec::new();
    let end = base_builder::write_base(&repaired.view, &repaired.options, &mut out).unwrap();
    base_builder::journal(&repaired.options.identity, 1, end, &mut out).unwrap();
    let verified = verify::native(Arc::new(Map::owned(&out)), None).unwrap();
    assert_eq!(verified.findings, [], "after {:?}", repaired.report);
    let view = open_bytes(&out);
    assert_eq!(view.identity().instance, NEW);
    (view, repaired.report)
}

fn place(bytes: &[u8], tag: u8) -> std::ops::Range<usize> {
    let view = open_bytes(bytes);
    let place = view.brain().base().table().find(tag).unwrap();
    place.offset as usize..(place.offset + place.len) as usize
}

fn same(found: &View, expected: &View) {
    assert_eq!(collect(found), collect(expected));
    assert_eq!(found.lsn(), expected.lsn());
    for lsn in 0..=expected.lsn().0 {
        let [a, b] = [found, expected].map(|v| collect(&v.as_of(AsOf::Lsn(Lsn(lsn))).unwrap()));
        assert_eq!(a, b, "as of {lsn}");
    }
}

#[test]
fn a_whole_brain_stays_as_it_is_and_becomes_a_sibling() {
    let bytes = brain();
    let (view, report) = check(&bytes);
    assert_eq!(report, RepairReport::default());
    let before = open_bytes(&bytes);
    same(&view, &before);
    assert_eq!(view.identity().lineage, before.identity().lineage);
}

#[test]
fn any_single_flipped_bit_is_put_right() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    // The live page means nothing to a copy, and behind the last frame stands nothing.
    let start = expected.brain().start().unwrap().at as usize;
    let end = bytes.len() - 64;
    let bits = (0..end * 8).filter(|bit| !(start - 4096..start).contains(&(bit / 8)));
    for bit in bits.step_by(101) {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let repaired = repair(&bad, NEW, Micros(1)).unwrap_or_else(|e| panic!("bit {bit}: {e}"));
        assert!(
            repaired.report.lost_nothing(),
            "bit {bit}: {:?}",
            repaired.report
        );
        assert_eq!(collect(&repaired.view), collect(&expected), "bit {bit}");
    }
}

#[test]
fn a_damaged_index_costs_nothing_but_the_index() {
    let bytes = brain();
    for tag in [
        tag::ADJACENCY,
        tag::KINDS,
        tag::TERMS,
        tag::STRENGTHS,
        tag::CONFLICTS,
        tag::VECTORS,
        tag::VALUES,
    ] {
        let mut bad = bytes.clone();
        bad[place(&bytes, tag)].fill(0xA5);
        let (view, report) = check(&bad);
        assert_eq!(report.lost, [], "section {tag:#x}");
        same(&view, &open_bytes(&bytes));
    }
}

#[test]
fn lost_section_headers_are_found_again() {
    let bytes = brain();
    let mut bad = bytes.clone();
    for tag in [tag::IDENTITY, tag::HISTORY, tag::TERMS, tag::VALUES] {
        let start = place(&bytes, tag).start;
        bad[start - 9..start].fill(0);
    }
    let (view, report) = check(&bad);
    assert!(report.lost_nothing(), "{report:?}");
    same(&view, &open_bytes(&bytes));
}

#[test]
fn a_lost_record_leaves_an_empty_event_in_its_place() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    let at = expected.brain().base().header().node_table as usize + 3 * 72;
    let mut bad = bytes.clone();
    bad[at..at + 72].fill(0xFF);
    let (view, report) = check(&bad);
    assert!(
        report
            .lost
            .iter()
            .any(|l| l.why.starts_with("event 3: everything")),
        "{report:?}"
    );
    let node = view.node(NodeId(3)).unwrap();
    assert!(node.is_forgotten());
    assert_eq!(node.text().unwrap(), "");
    assert_eq!(node.attributes().unwrap().unwrap()[LOST][0], "record");
    let (found, all) = (collect(&view), collect(&expected));
    let others = |graph: &MemoryGraph| {
        let mut events = graph.events.clone();
        events.remove(3);
        events
    };
    assert_eq!(others(&found), others(&all));
    assert_eq!(found.edges, all.edges);
    assert_eq!(view.lsn(), expected.lsn(), "the journal goes on behind it");
}

/// Where the record of an event begins.
fn record(bytes: &[u8], id: usize) -> usize {
    open_bytes(bytes).brain().base().header().node_table as usize + id * 72
}

#[test]
fn a_damaged_time_costs_its_event_the_time_alone() {
    let bytes = brain();
    let all = collect(&open_bytes(&bytes)).events;
    // Upwards past all others, though not past the brain's own time; downwards; to before 1970.
    for (id, time) in [(1, 1_790_000_000_000_000i64), (3, 5), (3, -5)] {
        let mut bad = bytes.clone();
        let at = record(&bytes, id);
        amem_format::bytes::put_i64(&mut bad, at + 12, time);
        let (view, report) = check(&bad);
        let lost: Vec<_> = report.lost.iter().map(|l| (&*l.part, l.offset)).collect();
        assert_eq!(lost, [("node record", Some(at as u64))], "{time}");
        assert!(report.lost[0].why.contains("recorded"), "{report:?}");
        let found = collect(&view).events;
        for (found, was) in found.iter().zip(&all) {
            assert_eq!(found.text, was.text, "{time}");
            assert_eq!(found.vector, was.vector, "{time}");
            if found.id.0 as usize != id {
                assert_eq!(found, was, "{time}");
            }
        }
        let between = all[id - 1].created_at..=all[id + 1].created_at;
        assert!(between.contains(&found[id].created_at), "{found:?}");
        assert_eq!(found[id].event_time, all[id].event_time);
        assert_eq!(found[id].attributes.as_ref().unwrap()[LOST][0], "time");
    }
}

#[test]
fn a_mark_of_erasure_that_a_whole_text_disproves_is_taken_off() {
    let bytes = brain();
    let was = collect(&open_bytes(&bytes)).events.remove(2);
    let mut bad = bytes.clone();
    let at = record(&bytes, 2);
    bad[at + 9] |= Flags::ERASED.0;
    // One bit alone would be put right by its checksum.
    bad[at + 28] ^= 3;
    let (view, report) = check(&bad);
    assert_eq!(report.lost, []);
    let told = |f: &Finding| f.offset == Some(at as u64) && f.why.starts_with("event 2 is marked");
    assert!(report.doubtful.iter().any(told), "{report:?}");
    let found = collect(&view).events.remove(2);
    assert_eq!(
        (found.text, found.vector, found.attributes, found.flags),
        (was.text, was.vector, was.attributes, was.flags)
    );
}

#[test]
fn what_was_erased_does_not_come_back_and_what_is_unsure_stays_erased() {
    let rebuilt = |bytes: &[u8]| {
        let view = open_bytes(bytes);
        with_journal(&view, &base_builder::Options::next(&view, view.time()), &[])
    };
    let erase = vec![Op::Erase { target: NodeId(2) }];
    let bytes = rebuilt(&with_frames(rebuilt(&brain()), &[erase]));
    let was = collect(&open_bytes(&bytes)).events;
    assert_eq!((was[2].text.as_str(), &was[2].vector), ("", &None));
    // It says that it has the text of event 0.
    let len = record(&bytes, 0) + 52..record(&bytes, 0) + 56;
    let at = record(&bytes, 2);
    let mut bad = bytes.clone();
    bad.copy_within(len, at + 52);
    let (view, report) = check(&bad);
    let told =
        |f: &Finding| f.offset == Some(at as u64) && f.why.ends_with("nothing proves the opposite");
    assert!(report.lost.iter().any(told), "{report:?}");
    assert!(view.node(NodeId(2)).unwrap().is_erased());
    assert_eq!(collect(&view).events, was);
}

#[test]
fn lost_values_are_told_and_the_rest_of_the_event_kept() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    let base = expected.brain().base();
    let (header, record) = (base.header(), base.record(NodeId(2)).unwrap());
    let mut bad = bytes.clone();
    let text = (header.content + record.content_offset) as usize;
    bad[text..text + record.content_len as usize].fill(0xFF);
    let vector = header.vectors as usize + 2 * 12;
    bad[vector..vector + 12].fill(0xFF);
    let (view, report) = check(&bad);
    assert_eq!(report.lost.len(), 2, "{report:?}");
    let of = |lost: &Finding| {
        lost.why == "vector of event 2" || lost.why.starts_with("text of event 2:")
    };
    assert!(report.lost.iter().all(of), "{report:?}");
    let node = view.node(NodeId(2)).unwrap();
    let attributes = node.attributes().unwrap().unwrap();
    assert_eq!(attributes["speaker"], "Grace");
    let lost: Vec<_> = attributes[LOST].as_array().unwrap().clone();
    assert_eq!(lost, ["text", "vector"]);
    assert!(!node.flags().has(Flags::VECTOR));
    let all = collect(&expected);
    assert_eq!(node.created_at(), all.events[2].created_at);
    assert_eq!(collect(&view).edges, all.edges);
}

#[test]
fn lost_edges_history_and_names_leave_the_rest() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    let table = expected.brain().base().header().edge_table as usize;
    let mut bad = bytes.clone();
    bad[table + 64..table + 128].fill(0xEE);
    for tag in [tag::HISTORY, tag::SETTINGS, tag::SESSIONS, tag::ATTRIBUTES] {
        bad[place(&bytes, tag)].fill(0xEE);
    }
    let (view, report) = check(&bad);
    let parts: Vec<&str> = report.lost.iter().map(|l| l.part.as_str()).collect();
    for part in [
        "edge record",
        "history",
        "settings",
        "sessions",
        "attributes",
    ] {
        assert!(parts.contains(&part), "{part} in {parts:?}");
    }
    assert_eq!(view.edges(), expected.edges() - 2);
    let texts = |view: &View| {
        collect(view)
            .events
            .into_iter()
            .map(|e| e.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&view), texts(&expected));
}

#[test]
fn a_vector_of_which_a_lost_page_left_zeros_is_lost() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    let header = expected.brain().base().header();
    let (at, len) = (header.vectors as usize, 4 * header.dimension as usize);
    let id = (0..expected.nodes()).find(|id| {
        let node = expected.node(NodeId(*id)).unwrap();
        node.vector().unwrap().is_some()
    });
    let id = id.unwrap();
    let mut bad = bytes.clone();
    bad[at + id as usize * len..][..len].fill(0);
    let (view, report) = check(&bad);
    let node = view.node(NodeId(id)).unwrap();
    assert_eq!(node.vector().unwrap(), None);
    assert_eq!(node.attributes().unwrap().unwrap()[LOST][0], "vector");
    assert_eq!(report.lost[0].part, "vectors");
}

#[test]
fn times_of_events_that_only_one_place_tells_are_lost_and_told() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    let section = place(&bytes, tag::EVENT_TIMES);
    assert_eq!(expected.event_at(1).unwrap().event_time, Some(Micros(77)));
    // One time, at 16, five when they happened, then who: the number, the time, when it happened, whose it is, all.
    let [time, happened, whose] = [16, 24, 64].map(|at| section.start + at);
    for damaged in [
        section.start..section.start + 8,
        time..time + 8,
        happened..whose,
        whose..whose + 4,
        time..whose,
        time..section.end,
        section.clone(),
    ] {
        let mut bad = bytes.clone();
        bad[damaged.clone()].fill(0);
        let (view, report) = check(&bad);
        let parts: Vec<&str> = report.lost.iter().map(|l| l.part.as_str()).collect();
        let times = (0..view.nodes()).map(|id| view.event_at(id).unwrap().event_time);
        match report.healed.is_empty() {
            true => {
                assert_eq!(parts, ["event times"], "{damaged:?}: {report:?}");
                assert!(times.flatten().next().is_none(), "{damaged:?}");
            }
            // One bit was put right.
            false => assert_eq!(times.flatten().next(), Some(Micros(77)), "{damaged:?}"),
        }
    }
}

#[test]
fn a_damaged_clock_takes_no_history_with_it() {
    let bytes = brain();
    let clock = place(&bytes, tag::CLOCK);
    let expected = open_bytes(&bytes);
    let count = expected.brain().base().clock().unwrap().len();
    assert!(count > 1);
    // An LSN, a time, the number of them, all of it.
    let [lsn, time] = [clock.start + 8, clock.start + 8 + 8 * count];
    for damaged in [
        lsn..lsn + 8,
        time..time + 8,
        clock.start..lsn,
        clock.clone(),
    ] {
        for byte in [0x7E, 0xEE] {
            let mut bad = bytes.clone();
            bad[damaged.clone()].fill(byte);
            let (view, report) = check(&bad);
            let parts: Vec<&str> = report.lost.iter().map(|l| l.part.as_str()).collect();
            // Damage that leaves the order as it is shows by its checksum alone.
            assert!(parts.iter().all(|part| *part == "clock"), "{parts:?}");
            assert!(!report.doubtful.is_empty(), "{damaged:?}, {byte:#x}");
            same(&view, &expected);
        }
    }
}

#[test]
fn history_of_commits_whose_times_are_lost_is_reported_as_lost() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    let mut bad = bytes.clone();
    bad[place(&bytes, tag::CLOCK)].fill(0xEE);
    // The times of its changes descend.
    let at = place(&bytes, tag::HISTORY).start + 16 + 8;
    bad[at..at + 8].copy_from_slice(&(i64::MAX - 1).to_le_bytes());
    let (view, report) = check(&bad);
    let parts: Vec<&str> = report.lost.iter().map(|l| l.part.as_str()).collect();
    assert_eq!(parts, ["clock", "history"], "{report:?}");
    assert_eq!(collect(&view), collect(&expected));
}

#[test]
fn an_identity_comes_back_from_the_head_of_the_journal() {
    let bytes = brain();
    let mut bad = bytes.clone();
    let start = place(&bytes, tag::IDENTITY).start;
    bad[start..start + 48].fill(0xEE);
    let (view, _) = check(&bad);
    let expected = open_bytes(&bytes);
    assert_eq!(view.identity().lineage, expected.identity().lineage);
    assert_eq!(collect(&view), collect(&expected));
    assert_eq!(view.lsn(), expected.lsn());
}

#[test]
fn a_journal_is_followed_to_its_first_bad_frame() {
    let bytes = brain();
    let start = open_bytes(&bytes).brain().start().unwrap().at as usize;
    let mut bad = bytes.clone();
    bad[start + 8..start + 30].fill(0xEE);
    let (view, report) = check(&bad);
    let tail = report.tail.unwrap();
    assert_eq!(tail.offset, start as u64);
    assert_eq!(view.lsn(), view.identity().base_lsn);
    assert_eq!(view.event_count(), 5);
}

#[test]
fn a_file_that_ends_early_has_what_stands_in_front() {
    let bytes = brain();
    let expected = open_bytes(&bytes);
    let texts = |view: &View| {
        let events = collect(view).events;
        events
            .into_iter()
            .map(|event| event.text)
            .collect::<Vec<_>>()
    };
    let start = expected.brain().start().unwrap().at as usize;
    // Within a section, in front of the journal, in its head page, in its live page.
    let history = place(&bytes, tag::HISTORY);
    for (len, part) in [
        (history.start + 20, "history"),
        (history.start - 5, "section header"),
        (start - 8192, "journal"),
        (start - 5000, "journal"),
        (start - 100, "journal"),
    ] {
        let (view, report) = check(&bytes[..len]);
        assert!(
            report.lost.iter().any(|l| l.part == part),
            "{part}: {report:?}"
        );
        assert_eq!(texts(&view), texts(&expected), "{part}");
        assert_eq!(view.edges(), expected.edges());
    }
}

#[test]
fn commits_that_are_missing_are_told_as_lost() {
    let mut bytes = brain();
    let (start, end) = (
        open_bytes(&bytes).brain().start().unwrap().at as usize,
        bytes.len() - 64,
    );
    amem_format::bytes::put_u64(&mut bytes, start - 4096, end as u64);
    assert!(check(&bytes).1.lost_nothing());
    let (view, report) = check(&bytes[..start]);
    let lost: Vec<_> = report
        .lost
        .iter()
        .map(|l| (l.part.as_str(), l.offset))
        .collect();
    assert_eq!(
        (lost, report.tail),
        (vec![("journal", Some(start as u64))], None)
    );
    assert_eq!(view.lsn(), view.identity().base_lsn);
}

#[test]
fn a_file_without_a_front_is_refused() {
    let mut bytes = brain();
    bytes[..64].fill(0xEE);
    assert!(repair(&bytes, NEW, Micros(1)).is_err());
    assert!(repair(b"AMEM", NEW, Micros(1)).is_err());
    assert!(repair(b"", NEW, Micros(1)).is_err());
}

#[test]
fn no_bytes_make_it_panic() {
    let bytes = brain();
    for len in (0..bytes.len()).step_by(977) {
        drop(repair(&bytes[..len], NEW, Micros(1)));
    }
    let mut x = 7u64;
    for _ in 0..200 {
        let mut bad = bytes.clone();
        for _ in 0..20 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (x >> 33) as usize % bad.len();
            bad[at] = x as u8;
        }
        drop(repair(&bad, NEW, Micros(1)));
    }
}
