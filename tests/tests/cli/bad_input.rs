//! Bad input: each kind has its own error, which names the thing and the remedy, and changes nothing.

use amem_format::base::header::Header;
use amem_format::base::section;
use amem_format::brain::Brain;
use amem_format::mapping::Map;
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_tests::random;

use crate::brains;
use crate::tool::Tool;

/// The brain with bytes changed: `edit` gets them, and where its tables are.
fn broken(edit: impl FnOnce(&mut [u8], &Header)) -> Tool {
    let mut bytes = brains::story();
    let header = Header::decode(&bytes, bytes.len() as u64).unwrap();
    edit(&mut bytes, &header);
    Tool::with("b.amem", &bytes)
}

/// Where the text of a base event stands.
fn text_of(bytes: &[u8], header: &Header, id: u64) -> usize {
    let record = (header.node_table + id * 72) as usize;
    let offset = u64::from_le_bytes(bytes[record + 44..record + 52].try_into().unwrap());
    (header.content + offset) as usize
}

#[test]
fn a_path_that_is_no_file_is_reported() {
    let tool = Tool::new();
    std::fs::create_dir(tool.path("folder")).unwrap();
    for command in ["info", "ls", "verify", "dump-journal", "export"] {
        let refused = |path: &str, exit, code, message: &str| {
            tool.refused(&format!("{command} {path}"), exit, code, message, "");
        };
        refused(
            "nothing.amem",
            3,
            "not_found",
            "nothing.amem does not exist",
        );
        refused(
            "no/where.amem",
            3,
            "no_folder",
            "the folder no does not exist",
        );
        refused("./folder", 5, "is_folder", "folder is a folder");
        refused("/dev/null", 5, "not_a_file", "not a regular file");
    }
    tool.refused(
        "repair nothing.amem new",
        3,
        "not_found",
        "",
        "check the path",
    );
    tool.refused(
        "import nothing.jsonl new.amem",
        3,
        "not_found",
        "",
        "check the path",
    );
}

#[test]
fn a_file_that_is_no_brain_is_reported() {
    let tool = Tool::new();
    tool.put(
        "zip",
        b"PK\x03\x04 and more, at least as long as a header of sixty-four bytes is",
    );
    tool.refused(
        "info ./zip",
        4,
        "not_amem",
        "it begins with [50, 4b, 03, 04]",
        "name a brain; `amemctl import`",
    );
    tool.put("empty", b"");
    tool.refused(
        "info ./empty",
        4,
        "truncated",
        "header needs bytes up to 64, the file has 0",
        "verify",
    );
    tool.put("short", b"AMEM\x01\0\0\0");
    tool.refused(
        "info ./short",
        4,
        "truncated",
        "header needs bytes up to 64",
        "verify",
    );
    let newer = broken(|bytes, _| bytes[4] = 2);
    newer.refused(
        "ls b.amem",
        4,
        "version",
        "version 2 of the .amem format",
        "amemctl that reads it",
    );
    newer.refused(
        "verify b.amem",
        4,
        "version",
        "version 2 of the .amem format",
        "",
    );
}

#[test]
fn a_cut_in_any_section_is_reported_with_its_name() {
    let bytes = brains::story();
    let brain = Brain::open(Map::owned(&bytes)).unwrap();
    let header = brain.base().header();
    let journal = brain.base().journal().unwrap();
    let mut cuts = vec![
        (header.node_table + 10, "node table needs"),
        (header.edge_table + 10, "edge table needs"),
        (header.content + 10, "content block needs"),
        (header.vectors + 10, "vectors needs"),
        (journal + 100, "journal needs"),
        (journal + 4096 + 100, "live page needs"),
    ];
    for place in &brain.base().table().places {
        cuts.push((place.offset + place.len / 2, section::name(place.tag)));
    }
    assert!(cuts.len() > 20);
    for (len, name) in cuts {
        let tool = Tool::with("b.amem", &bytes[..len as usize]);
        for command in ["info", "ls"] {
            let ran = tool.run(&[command, "b.amem"]);
            assert_eq!(ran.exit, 4, "{command} cut at {len}: {ran:?}");
            assert!(
                ran.err.contains("truncated") && ran.err.contains(name),
                "{name}: {}",
                ran.err
            );
            assert!(ran.err.contains("remedy: "));
        }
        let verified = tool.run(&["verify", "b.amem"]);
        assert!([1, 4].contains(&verified.exit), "{name}: {verified:?}");
        let told = format!("{}{}", verified.out, verified.err);
        assert!(
            told.contains("amemctl repair") && !told.contains("amemctl verify"),
            "{name}: {told}"
        );
    }
    // A cut between two sections leaves a file that opens; what is missing is found when it is looked for.
    for place in &brain.base().table().places {
        let tool = Tool::with("b.amem", &bytes[..(place.offset - 9) as usize]);
        let verified = tool.run(&["verify", "b.amem"]);
        assert!(
            [1, 4].contains(&verified.exit),
            "{}: {verified:?}",
            section::name(place.tag)
        );
    }
    let tool = Tool::with("b.amem", &bytes[..header.sections() as usize]);
    tool.refused(
        "info b.amem",
        4,
        "cut",
        "nothing follows the tables",
        "copy it again",
    );
}

#[test]
fn counts_and_offsets_out_of_range_are_reported() {
    let row = |at: usize, value: u64, message: &str| {
        let tool = broken(|bytes, _| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()));
        tool.refused("info b.amem", 4, "no_layout", message, "verify");
    };
    row(
        16,
        u64::MAX,
        "the number of events is 18446744073709551615, more than the limit",
    );
    row(24, 1 << 31, "edge table needs bytes up to");
    row(32, 1 << 60, "node table needs bytes up to");
    row(40, 65, "damaged edge table at byte 40");
    row(48, u64::MAX, "damaged content block at byte 48");
    row(56, 70, "damaged content block at byte 48");
    // The dimension takes four bytes, the flags behind it the other four.
    row(8, 5000, "the dimension of vectors is 5000");
    let tool = broken(|bytes, header| {
        let at = (header.edge_table + 8) as usize;
        bytes[at..at + 8].copy_from_slice(&99u64.to_le_bytes());
    });
    tool.refused(
        "get b.amem 2 --edges",
        4,
        "damaged",
        "edge record",
        "repair",
    );
    let tool = broken(|bytes, header| {
        let at = header.node_table as usize + 44;
        bytes[at..at + 8].copy_from_slice(&(u64::MAX - 3).to_le_bytes());
    });
    tool.refused(
        "get b.amem 0",
        4,
        "damaged",
        "reach past the content block",
        "repair",
    );
}

#[test]
fn an_oversized_text_is_reported_before_it_is_decompressed() {
    let tool = broken(|bytes, header| {
        let at = text_of(bytes, header, 0);
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    });
    tool.refused(
        "get b.amem 0",
        4,
        "damaged",
        "claim to be a text of 4294967295",
        "repair",
    );
    tool.text("get b.amem 1");
    let found = tool.data("verify b.amem", 1);
    assert!(
        found
            .to_string()
            .contains("claim to be a text of 4294967295"),
        "{found}"
    );
}

#[test]
fn invalid_utf_8_and_non_finite_numbers_are_reported() {
    let tool = broken(|bytes, header| {
        let at = text_of(bytes, header, 0);
        bytes[at + 8] = 0xFF;
    });
    tool.refused("get b.amem 0", 4, "damaged", "utf-8", "repair");
    let tool = broken(|bytes, header| {
        let at = header.node_table as usize + 24;
        bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    tool.refused("get b.amem 0", 4, "damaged", "not finite", "repair");
    let tool = broken(|bytes, header| {
        let at = header.vectors as usize;
        bytes[at..at + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    });
    tool.refused(
        "get b.amem 0 --vectors",
        4,
        "damaged",
        "that of event 0 has a number that is not finite",
        "repair",
    );
}

#[test]
fn an_unexpected_layout_is_reported() {
    let tool = Tool::with("b.amem", &brains::story());
    tool.text("export b.amem --format spec-1 -o spec1.amem");
    tool.text("export b.amem --format compatible -o reference.amem");
    let other = |line: &str, message: &str, remedy: &str| {
        tool.refused(line, 5, "other_format", message, remedy);
    };
    other(
        "import spec1.amem new.amem --format reference",
        "this is a spec-1 file",
        "--format spec-1 or auto",
    );
    other(
        "import reference.amem new.amem --format spec-1",
        "this is a reference file",
        "--format reference",
    );
    tool.refused(
        "import b.amem new.amem",
        5,
        "native",
        "a brain of amemd already",
        "export --format native",
    );
    for name in ["spec1.amem", "reference.amem"] {
        tool.refused(
            &format!("dump-journal {name}"),
            5,
            "no_journal",
            "has no journal",
            "import",
        );
    }
    assert_eq!(tool.names(), ["b.amem", "reference.amem", "spec1.amem"]);
}

#[test]
fn damaged_foreign_files_are_reported() {
    let graph = random::graph(3);
    let (mut spec1, mut reference) = (Vec::new(), Vec::new());
    amem_interop::spec1::write(&graph, &mut spec1).unwrap();
    let options = CompatOptions { map_unknown: true };
    write_compatible(&graph, options, &mut reference).unwrap();
    let tool = Tool::new();
    for (name, bytes) in [("spec1", spec1), ("reference", reference)] {
        for cut in [100, bytes.len() / 2, bytes.len() - 1] {
            tool.put(name, &bytes[..cut]);
            let ran = tool.run(&["ls", &format!("./{name}")]);
            assert_eq!(ran.exit, 4, "{name} cut at {cut}: {ran:?}");
            let ran = tool.run(&["import", name, "new.amem"]);
            assert_eq!(ran.exit, 4, "{name} cut at {cut}: {ran:?}");
        }
    }
    assert_eq!(tool.names(), ["reference", "spec1"]);
}

#[test]
fn missing_events_moments_and_sessions_are_reported() {
    let tool = Tool::with("b.amem", &brains::story());
    for line in ["get b.amem 6", "resolve b.amem 6", "why b.amem 6"] {
        tool.refused(line, 3, "unknown_event", "event 6", "query");
    }
    tool.refused(
        "get b.amem 5 --as-of 5",
        3,
        "unknown_event",
        "event 5",
        "query",
    );
    tool.refused(
        "get b.amem 3",
        3,
        "forgotten",
        "event 3 is forgotten",
        "--include-forgotten",
    );
    assert!(
        tool.text("get b.amem 3 --include-forgotten")
            .contains("hunter2")
    );
    tool.refused("ls b.amem --as-of 99", 3, "unknown_lsn", "99", "info");
    tool.refused(
        "ls b.amem --session conv/2",
        3,
        "unknown_session",
        "\"conv/2\"",
        "",
    );
    let empty = Tool::with("in.jsonl", b"");
    empty.text("import in.jsonl b.amem");
    empty.refused("get b.amem 0", 3, "unknown_event", "event 0", "");
    empty.refused(
        "get b.amem last",
        3,
        "unknown_event",
        "no last event",
        "add",
    );
}

#[test]
fn invalid_arguments_are_reported() {
    let tool = Tool::with("b.amem", &brains::story());
    let rows = [
        "frobnicate",
        "get b.amem",
        "get b.amem x",
        "ls b.amem --type dream",
        "ls b.amem --since soonish",
        "ls b.amem --as-of -1",
        "ls b.amem --order sideways",
        "ls b.amem --limit 0",
        "export b.amem --format xml",
        "info b.amem --frobnicate",
    ];
    for line in rows {
        let arguments: Vec<&str> = line.split(' ').collect();
        let ran = tool.run(&arguments);
        assert_eq!((ran.exit, ran.out.as_str()), (2, ""), "{line}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{line}: {}", ran.err);
        let ran = tool.run(&[&["--json"], &arguments[..]].concat());
        let envelope: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (ran.exit, &envelope["error"]["code"]),
            (2, &"usage".into()),
            "{line}"
        );
    }
    tool.refused("ls b.amem --where {", 5, "invalid", "filter", "--help");
    tool.refused("ls b.amem --after nonsense", 5, "invalid", "token", "");
}

#[test]
fn existing_files_are_not_overwritten_and_missing_folders_not_created() {
    let tool = Tool::with("b.amem", &brains::story());
    tool.put("there", b"precious");
    tool.put("in.jsonl", b"{\"text\":\"a\"}\n");
    for line in [
        "import in.jsonl ./there",
        "repair b.amem there",
        "export b.amem -o there",
    ] {
        tool.refused(
            line,
            5,
            "exists",
            "there exists and is not overwritten",
            "choose another name",
        );
    }
    assert_eq!(tool.bytes("there"), b"precious");
    for line in [
        "import in.jsonl no/new",
        "repair b.amem no/new",
        "export b.amem -o no/new",
    ] {
        tool.refused(
            line,
            3,
            "no_folder",
            "the folder no does not exist",
            "mkdir -p no",
        );
    }
    tool.put("new.tmp", b"");
    tool.refused(
        "import in.jsonl ./new",
        5,
        "busy",
        "new.tmp exists",
        "remove it",
    );
    assert_eq!(tool.names(), ["b.amem", "in.jsonl", "new.tmp", "there"]);
}

#[test]
fn lines_over_a_limit_are_reported_and_no_brain_is_created() {
    let tool = Tool::new();
    let attributes = format!("{{\"k\":\"{}\"}}", "x".repeat(70_000));
    let deep = "{\"a\":".repeat(9) + "1" + &"}".repeat(9);
    let rows = [
        (
            format!("{{\"text\":\"{}\"}}", "x".repeat((1 << 20) + 1)),
            "bad_line",
            "line 1: a text of 1048577 bytes",
        ),
        (
            format!("{{\"text\":\"a\",\"attributes\":{attributes}}}"),
            "bad_line",
            "line 1: the length of attributes",
        ),
        (
            format!("{{\"text\":\"a\",\"attributes\":{deep}}}"),
            "bad_line",
            "line 1: attributes",
        ),
        (
            "{\"text\":\"a\",\"vector\":[1,2]}\n{\"text\":\"b\",\"vector\":[1]}".into(),
            "bad_line",
            "line 2: a vector of 1 numbers, others have 2",
        ),
        (
            "{\"text\":\"a\"}\n{\"text\":".into(),
            "bad_line",
            "line 2: EOF",
        ),
    ];
    for (lines, code, message) in rows {
        tool.put("in.jsonl", lines.as_bytes());
        tool.refused("import in.jsonl new.amem", 5, code, message, "");
        assert_eq!(tool.names(), ["in.jsonl"]);
    }
}
