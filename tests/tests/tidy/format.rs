//! docs/FORMAT.md against the code: every number that it gives, and every layout that a source gives.
//!
//! Not here: the records (`records`).

use amem_format::analyzer;
use amem_format::base::section::{SectionRole, tag};
use amem_format::base::settings::{DecayRates, Settings};
use amem_format::base::{edge, header, node, section};
use amem_format::journal::{frame, head, live, op};
use amem_format::{EdgeType, EventType, Flags};
use amem_query::embed::{DIMENSION, SPACE_NAME, vector_space};
use amem_query::text;

use crate::tree::{File, constants, file, files, none, table};

pub(crate) fn page() -> File {
    file("docs/FORMAT.md")
}

/// Compares documented rows with those of the code.
fn same(what: &str, told: Vec<Vec<String>>, columns: usize, held: Vec<Vec<String>>) {
    let cut = |row: &Vec<String>| row[..columns].to_vec();
    let told: Vec<_> = told.iter().map(cut).collect();
    let line = |row: &&Vec<String>| format!("| {} |", row.join(" | "));
    let missing = held.iter().filter(|r| !told.contains(r));
    let wrong = told.iter().filter(|r| !held.contains(r));
    let complaints = missing.map(|r| format!("{what}: FORMAT.md should say: {}", line(&r)));
    let complaints = complaints.chain(wrong.map(|r| format!("{what}: it is not so: {}", line(&r))));
    none(complaints.collect());
    assert_eq!(told.len(), held.len(), "{what}: a row appears twice");
}

fn strings<const N: usize>(cells: [&dyn ToString; N]) -> Vec<String> {
    cells.map(ToString::to_string).to_vec()
}

#[test]
fn format_names_every_section_by_its_tag() {
    let hex = |tag: u8| format!("0x{tag:02X}");
    let told = table(&page(), "Sections", &["tag", "name", "what", "erase"]);
    let is_row = |row: &Vec<String>| section::ROWS.iter().any(|of| hex(of.tag) == row[0]);
    let (rows, others): (Vec<_>, Vec<_>) = told.into_iter().partition(is_row);
    let held = section::ROWS.iter().map(|row| {
        let what = match row.role {
            SectionRole::Index => format!("{}; an index", row.what),
            SectionRole::Record | SectionRole::Checksums => row.what.to_owned(),
        };
        let erase = if row.has_content { "clears it" } else { "" };
        strings([&hex(row.tag), &row.name, &what, &erase])
    });
    same("sections", rows, 4, held.collect());
    let reference = tag::REFERENCE;
    let [first, last] = [*reference.start(), *reference.end()];
    let held = vec![
        strings([
            &format!("{}–{}", hex(first), hex(last)),
            &section::name(first),
        ]),
        strings([&hex(tag::PADDING), &section::name(tag::PADDING)]),
        strings([&hex(tag::JOURNAL), &section::name(tag::JOURNAL)]),
    ];
    same("other sections", others, 2, held);
}

#[test]
fn format_gives_every_limit() {
    macro_rules! values {
        ($($limits:ident: $($name:ident)*;)*) => {
            [$($((stringify!($name), $limits::limits::$name as i128)),*),*]
        };
    }
    let values = values! {
        amem_format:
        NODES_MAX EDGES_MAX TEXT_BYTES_MAX ATTRIBUTES_BYTES_MAX ORIGIN_BYTES_MAX ATTRIBUTES_DEPTH_MAX ATTRIBUTES_KEYS_MAX
        DIMENSION_MAX FRAME_BYTES_MAX TRANSACTION_BYTES_MAX NAME_BYTES_MAX OUTCOME_BYTES_MAX
        SETTINGS_BYTES_MAX REQUESTS_MAX REQUESTS_MIN REQUEST_WINDOW_MICROS ANSWER_BYTES_MAX RECENT_COMMITS_MAX
        RECENT_COMMITS_BYTES_MIN RECENT_COMMITS_BYTES_MAX RECENT_COMMITS_SHARE TIME_MICROS_MAX LSN_MAX GENERATION_MAX SECTIONS_MAX INDEXED_VALUES_MAX;
        amem_query:
        PAGE_MAX SPANS_LISTED_MAX SPANS_SHOWN_MAX VISITED_MAX DEPTH_MAX FILTER_VALUES_MAX AUTHOR_NAMES_MAX
        BOOST_MAX QUERY_BYTES_MAX NEEDED_VALUES_MAX FILTER_NODES_MAX FILTER_DEPTH_MAX PIPELINE_SOURCES_MAX PIPELINE_STAGES_MAX CONTEXT_TOKENS_MAX
        CONTEXT_CANDIDATES_MAX CONTEXT_REASONS_MAX PIPELINE_ROWS_MAX EDGES_VISITED_MAX;
        amem_interop: FOREIGN_TEXTS_BYTES_MAX;
    };
    let sources = ["format", "query", "interop"]
        .map(|name| file(&format!("crates/{name}/src/limits.rs")).text.clone());
    let named = sources
        .iter()
        .flat_map(|source| source.lines())
        .filter_map(|l| l.strip_prefix("pub const "));
    let named: Vec<_> = named.filter_map(|l| l.split(':').next()).collect();
    let listed: Vec<_> = values.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, listed, "limits.rs against the list in this test");
    let held = values.iter().map(|(n, v)| strings([&format!("`{n}`"), v]));
    same(
        "limits",
        table(&page(), "Limits", &["name", "value"]),
        2,
        held.collect(),
    );
}

#[test]
fn format_gives_the_limits_of_the_writer() {
    let rows = table(&page(), "Limits", &["name", "in", "value"]);
    let mut out = Vec::new();
    for row in rows {
        let [name, path] = [&row[0], &row[1]].map(|cell| cell.trim_matches('`').to_owned());
        let source = file(&path);
        let all = ["u64", "usize", "u32"].map(|of| constants(&source, of));
        let found = all.concat().into_iter().find(|(known, _)| *known == name);
        if found.as_ref().map(|(_, value)| value.to_string()) != Some(row[2].clone()) {
            out.push(format!("{path}: {name} is not {}: {found:?}", row[2]));
        }
    }
    none(out);
}

#[test]
fn format_gives_the_fixed_sizes() {
    let sizes: [(&str, u64); 10] = [
        ("header", header::LEN as u64),
        ("node record", node::LEN as u64),
        ("edge record", edge::LEN as u64),
        ("section header", section::HEADER),
        ("alignment of a section's bytes", section::ALIGN),
        ("alignment of the vectors", header::VECTORS_ALIGN),
        ("alignment of the journal; head page; live page", head::PAGE),
        ("frame header", frame::HEADER as u64),
        ("payload of a frame", frame::PAYLOAD_MAX as u64),
        ("range of a checksum", amem_format::base::chunk::CHUNK),
    ];
    let held = sizes.iter().map(|(name, bytes)| strings([name, bytes]));
    same(
        "sizes",
        table(&page(), "Limits", &["what", "bytes"]),
        2,
        held.collect(),
    );
}

#[test]
fn format_names_every_type_and_flag_by_its_value() {
    let text = page().text;
    let events = EventType::ALL.map(|t| format!("{} {t}", t.0)).join(", ");
    let edges = EdgeType::ALL.map(|t| format!("{} {t}", t.0)).join(", ");
    let flags = [
        (Flags::VECTOR, "has a vector"),
        (Flags::ATTRIBUTES, "has attributes"),
        (Flags::PINNED, "pinned"),
        (Flags::FORGOTTEN, "forgotten"),
        (Flags::COMPRESSED, "compressed into an episode"),
        (Flags::ERASED, "erased"),
    ];
    let all = flags
        .iter()
        .fold(Flags::default(), |all, (f, _)| all.with(*f));
    assert_eq!(all, Flags::KNOWN, "a flag that this test does not know");
    let flags = flags.map(|(f, what)| format!("{} {what}", f.0)).join(", ");
    for said in [events, edges, flags] {
        assert!(text.contains(&said), "FORMAT.md should say: {said}");
    }
}

#[test]
fn format_describes_the_head_page() {
    let source = file("crates/format/src/journal/head.rs");
    let fields = [
        ("AT_MAGIC", "magic"),
        ("AT_LINEAGE", "lineage"),
        ("AT_INSTANCE", "instance"),
        ("AT_GENERATION", "generation"),
        ("AT_BASE_LSN", "LSN of the last commit"),
        ("AT_BASE_TIME", "recorded time"),
        ("AT_EPOCH", "epoch"),
        ("AT_CHECKSUM", "XXH3-64 of bytes 0.."),
    ];
    let offsets = constants(&source, "usize");
    let offsets: Vec<_> = offsets
        .into_iter()
        .filter(|(n, _)| n.starts_with("AT_"))
        .collect();
    let rows = table(&page(), "Head page", &["at", "type", "field"]);
    let told = rows.iter().filter_map(|row| {
        let field = fields.iter().find(|(_, front)| row[2].starts_with(front))?;
        Some((field.0.to_owned(), row[0].parse().ok()?))
    });
    assert_eq!(told.collect::<Vec<(String, u64)>>(), offsets);
    assert_eq!(head::LENGTH_FIELD, 1 << 62, "the constant 2⁶²");
    assert_eq!(u64::from(head::TAG), u64::from(section::tag::JOURNAL));
}

#[test]
fn format_describes_the_live_cells() {
    let cells: [(u64, &str); 7] = [
        (live::COMMITTED, "`committed`"),
        (live::OWNER, "`owner`"),
        (live::SUPERSEDED_BY, "`superseded_by`"),
        (live::MUST_DROP, "`must_drop`"),
        (live::CLEAN, "`clean`"),
        (live::HOME, "`home`"),
        (live::DOUBT, "`doubt`"),
    ];
    let held = cells.iter().map(|(at, name)| strings([at, name]));
    same(
        "live page",
        table(&page(), "Live page", &["at", "cell"]),
        2,
        held.collect(),
    );
}

#[test]
fn format_names_every_kind_of_frame() {
    let held = frame::Kind::ALL.map(|kind| strings([&kind.name(), &(kind as u8), &kind.what()]));
    same(
        "kinds",
        table(&page(), "Frame", &["kind", "value", "a transaction that"]),
        3,
        held.into(),
    );
}

#[test]
fn readers_in_other_languages_handle_every_kind_of_frame() {
    let (count, mut out) = (frame::Kind::ALL.len(), Vec::new());
    for (path, line) in [
        (
            "clients/python/src/amemd/reader/_journal.py",
            format!("KINDS = {count}"),
        ),
        (
            "clients/typescript/src/reader/journal.ts",
            format!("const KINDS = {count};"),
        ),
    ] {
        if !file(path).text.lines().any(|told| told == line) {
            out.push(format!("{path}: there should be: {line}"));
        }
    }
    none(out);
}

#[test]
fn format_names_every_operation_by_its_code() {
    let held = op::TABLE
        .iter()
        .map(|row| strings([&row.code, &row.name, &row.layout(), &row.rules]));
    same(
        "operations",
        table(&page(), "Operations", &["code", "name", "fields", "rules"]),
        4,
        held.collect(),
    );
}

#[test]
fn format_repeats_the_layouts_of_the_sources_verbatim() {
    let page = page();
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (lines, whole) = (page.text.lines().collect::<Vec<_>>(), flat(&page.text));
    let mut out = Vec::new();
    let mut layouts = 0;
    for file in files() {
        let tells = file.path.starts_with("crates/format/src/base/")
            || file.path.starts_with("crates/format/src/journal/");
        if !tells || !file.is_rust() {
            continue;
        }
        for row in file.words().into_iter().filter(|w| w.starts_with('|')) {
            layouts += 1;
            if !lines.contains(&row) {
                out.push(format!("{}: not in FORMAT.md: {row}", file.path));
            }
        }
        for paragraph in file.words().join("\n").split("\n\n") {
            if paragraph.starts_with("A record is ") && !whole.contains(&flat(paragraph)) {
                out.push(format!("{}: not in FORMAT.md: {paragraph}", file.path));
            }
        }
    }
    none(out);
    assert!(layouts > 80, "only {layouts} rows of layouts were found");
}

#[test]
fn format_gives_the_defaults_of_the_settings() {
    let (page, settings) = (page(), Settings::default());
    let rates = DecayRates::default()
        .by_type()
        .map(|r| r.to_string())
        .join(", ");
    let held = [
        ("`decay`", rates),
        ("`fading_below`", settings.fading_below.to_string()),
        ("`embed`", settings.embed.to_string()),
    ];
    let told = table(&page, "0x42 settings", &["key", "what", "default"]);
    let told: Vec<_> = told.iter().map(|r| (r[0].as_str(), r[2].clone())).collect();
    assert_eq!(told, held);
}

#[test]
fn format_describes_the_term_index_and_the_embedder() {
    let page = page();
    let space = vector_space(SPACE_NAME, DIMENSION);
    let said = [
        format!("### The analyzer, version {}", analyzer::ANALYZER_VERSION),
        format!(
            "UTF-8, one behind the other, ≤ {} bytes each",
            analyzer::TERM_BYTES_MAX
        ),
        format!("at most {}, those that weigh most", text::QUERY_TERMS_MAX),
        format!(
            "A block has {} postings",
            amem_format::base::terms::BLOCK_POSTINGS
        ),
        format!("space `{SPACE_NAME}` ({space})"),
        format!("{DIMENSION} numbers, length 1"),
        format!("`{DIMENSION}:{SPACE_NAME}`"),
    ];
    let missing = said.iter().filter(|said| !page.text.contains(*said));
    none(
        missing
            .map(|said| format!("FORMAT.md should say: {said}"))
            .collect(),
    );
}
