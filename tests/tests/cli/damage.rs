//! Damage, as the tool reports and repairs it.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;

use amem_format::base::section::tag;
use amem_format::brain::Brain;
use amem_format::event::Edge;
use amem_format::mapping::Map;
use amem_format::{EdgeType, NodeId};
use amem_tests::process::with_small_files;
use amem_tests::programs::number;
use amem_tests::shared::reference_brain;

use crate::brains;
use crate::tool::Tool;

fn place(bytes: &[u8], tag: u8) -> std::ops::Range<usize> {
    let brain = Brain::open(Map::owned(bytes)).unwrap();
    let place = brain.base().table().find(tag).unwrap();
    place.offset as usize..(place.offset + place.len) as usize
}

#[test]
fn damage_is_found_reported_and_repaired() {
    let mut bytes = brains::story();
    let whole = bytes.clone();
    let adjacency = place(&bytes, tag::ADJACENCY);
    bytes[adjacency].fill(0xA5);
    let tool = Tool::with("b.amem", &bytes);
    let ran = tool.run(&["verify", "b.amem"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.out.contains("adjacency at byte"), "{}", ran.out);
    assert!(
        ran.out
            .contains("`amemctl repair b.amem NEW` saves what is whole")
    );
    let found = tool.data("verify b.amem", 1);
    assert_ne!(found["whole"], true, "{found}");
    assert!(found["findings"].as_array().unwrap().len() >= 2);

    let repaired = tool.data("repair b.amem new.amem", 1);
    assert_eq!(repaired["lost"].as_array().unwrap().len(), 0, "{repaired}");
    assert_eq!(
        (&repaired["events"], &repaired["edges"]),
        (&"6".into(), &"4".into())
    );
    assert!(
        tool.bytes("b.amem") == bytes,
        "the damaged file is not touched"
    );
    assert_eq!(tool.data("verify new.amem", 0)["whole"], true);
    tool.put("whole.amem", &whole);
    for line in [
        "ls {} --forgotten",
        "get {} 1 --history --edges",
        "resolve {} 1 --as-of 5",
    ] {
        let [new, old] = ["new.amem", "whole.amem"].map(|n| tool.text(&line.replace("{}", n)));
        assert_eq!(new, old, "{line}");
    }
}

#[test]
fn events_of_zeros_are_damage_and_no_texts() {
    let whole = brains::story();
    let header = *Brain::open(Map::owned(&whole)).unwrap().base().header();
    let tables = [
        (header.node_table..header.edge_table, "node record"),
        (header.content..header.vectors, "text"),
    ];
    for (zeros, what) in tables {
        let mut bytes = whole.clone();
        bytes[zeros.start as usize..zeros.end as usize].fill(0);
        let tool = Tool::with("b.amem", &bytes);
        let found = tool.run(&["verify", "b.amem"]);
        assert_eq!(found.exit, 1, "{what}: {}", found.out);
        for id in ["0", "1"] {
            let ran = tool.run(&["get", "b.amem", id]);
            assert_eq!(ran.exit, 4, "{what} {id}: {} {}", ran.out, ran.err);
            assert!(ran.err.contains(what), "{what} {id}: {}", ran.err);
        }
    }
}

#[test]
fn a_flipped_bit_costs_nothing() {
    let mut bytes = brains::story();
    let history = place(&bytes, tag::HISTORY).start;
    bytes[history + 20] ^= 0x10;
    bytes[100] ^= 1;
    let tool = Tool::with("b.amem", &bytes);
    tool.data("verify b.amem", 1);
    // Nothing that would not tell of it is made of it.
    for form in ["native", "compatible", "spec-1", "jsonl"] {
        let ran = tool.run(&[
            "export",
            "b.amem",
            "--forgotten",
            "--format",
            form,
            "-o",
            "made",
        ]);
        assert_eq!(ran.exit, 4, "{form}: {}", ran.err);
        assert!(ran.err.contains("amemctl repair"), "{form}: {}", ran.err);
        assert_eq!(tool.names(), ["b.amem"], "{form}");
    }
    let repaired = tool.data("repair b.amem new.amem", 0);
    assert_eq!(repaired["lostNothing"], true);
    assert_eq!(repaired["healed"].as_array().unwrap().len(), 2);
    assert_eq!(tool.data("verify new.amem", 0)["whole"], true);
    assert!(
        tool.text("get new.amem 1 --history")
            .contains("confidence was 1")
    );
}

#[test]
fn under_a_file_size_limit_a_new_file_is_refused_and_leaves_nothing() {
    let tool = Tool::with("b.amem", &brains::story());
    tool.text("export b.amem --vectors --forgotten -o all.jsonl");
    for line in [
        ["repair", "b.amem", "new.amem"],
        ["import", "all.jsonl", "new.amem"],
    ] {
        let mut command = tool.command();
        command.args(line);
        // A killed program has no exit code.
        let output = with_small_files(&command, 1).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{line:?}: {told}");
        for word in ["File too large", "ulimit -f", "remedy: "] {
            assert!(told.contains(word), "{line:?}: {told}");
        }
        assert_eq!(tool.names(), ["all.jsonl", "b.amem"], "{line:?}");
    }
}

#[test]
fn a_torn_tail_is_reported_by_every_reader_and_truncated_by_repair() {
    let bytes = brains::story();
    let brain = Brain::open(Map::owned(&bytes)).unwrap();
    let start = brain.start().unwrap();
    let end = brain.replay(start, u64::MAX).unwrap().position.at as usize;
    let mut torn = bytes.clone();
    torn[end..end + 11].copy_from_slice(b"half a frame"[..11].try_into().unwrap());
    let tool = Tool::with("b.amem", &torn);
    assert!(
        tool.text("ls b.amem")
            .contains("note: the journal was read up to its last complete commit")
    );
    let found = tool.data("verify b.amem", 1);
    assert_eq!(
        (&found["tail"]["offset"], &found["tail"]["bytes"]),
        (&end.to_string().into(), &"11".into())
    );
    assert_eq!(found["findings"].as_array().unwrap().len(), 0);
    assert_eq!(tool.data("repair b.amem new.amem", 1)["events"], "6");
    assert_eq!(tool.data("verify new.amem", 0)["whole"], true);
}

#[test]
fn a_damaged_foreign_file_is_salvaged_event_by_event() {
    let Some(mut brain) = reference_brain("small") else {
        return;
    };
    // The text of event 3 begins with its decompressed size.
    let header =
        amem_format::base::header::Header::decode(&brain.bytes, brain.bytes.len() as u64).unwrap();
    let record = header.node_table as usize + 3 * 72;
    let offset = u64::from_le_bytes(brain.bytes[record + 44..record + 52].try_into().unwrap());
    let at = (header.content + offset) as usize;
    brain.bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let tool = Tool::with("r.amem", &brain.bytes);
    tool.data("verify r.amem", 1);
    tool.refused(
        "ls r.amem",
        4,
        "damaged",
        "text in bytes is 4294967295, more than the limit",
        "saves the rest",
    );
    let saved = tool.data("repair r.amem new.amem", 1);
    assert_eq!(saved["events"], "29");
    assert_eq!(tool.data("verify new.amem", 0)["whole"], true);
}

#[test]
fn a_live_file_that_lost_its_end_is_reported_as_damaged() {
    let tool = Tool::new();
    let store = brains::live(&tool.path(""));
    let start = store.view().brain().start().unwrap().at;
    drop(store);
    assert_eq!(tool.data("verify b.amem", 0)["whole"], true);
    let path = tool.path("b.amem");
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(start + 8).unwrap();
    let told = tool.data("verify b.amem", 1);
    assert_ne!(told["whole"], true, "{told}");
    assert_eq!(
        (&told["findings"][0]["part"], &told["findings"][0]["offset"]),
        (&"journal".into(), &start.to_string().into()),
        "{told}"
    );
    assert!(number(&told["checksums"]) > 0, "{told}");
}

#[test]
fn repair_of_a_foreign_file_that_loses_data_exits_with_1() {
    let mut graph = amem_tests::random::graph(3);
    assert!(graph.events.len() > 1, "a graph that can have edges");
    let mut bytes = Vec::new();
    graph.edges.clear();
    amem_interop::spec1::write(&graph, &mut bytes).unwrap();
    let tool = Tool::with("s.amem", &bytes);
    let whole = tool.data("repair s.amem whole.amem", 0);
    assert_eq!(whole["lostNothing"], true, "{whole}");
    graph.edges.push(Edge {
        source: NodeId(0),
        target: NodeId(1),
        edge_type: EdgeType::SUPPORTS,
        weight: 7.0,
        created_at: graph.events[1].created_at,
    });
    let mut bytes = Vec::new();
    amem_interop::spec1::write(&graph, &mut bytes).unwrap();
    tool.put("s.amem", &bytes);
    let repaired = tool.data("repair s.amem new.amem", 1);
    assert_eq!(repaired["lost"].as_array().unwrap().len(), 1, "{repaired}");
    assert!(
        repaired["lost"][0]["message"]
            .as_str()
            .unwrap()
            .contains("had a weight outside of 0 to 1")
    );
    assert_eq!(tool.data("verify new.amem", 0)["whole"], true);
}

#[test]
fn a_file_without_its_first_pages_cannot_be_repaired() {
    let mut bytes = brains::story();
    bytes[8..64].fill(0xEE);
    let tool = Tool::with("b.amem", &bytes);
    tool.refused(
        "repair b.amem new.amem",
        4,
        "no_layout",
        "neither",
        "use an older copy",
    );
    assert_eq!(tool.names(), ["b.amem"]);
}
