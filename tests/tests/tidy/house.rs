//! The structure of the production code against its bounds, and names and phrases against the project's words.
//!
//! `cargo test -p amem-tests --test tidy -- --nocapture house` prints the measurements; `amem-house FOLDER` prints
//! those of another checkout.

use std::path::Path;
use std::sync::OnceLock;

use amem_tests::house::{Cycle, Structure};

use crate::sources::words;
use crate::tree::{File, files, none, root};

/// How many complaints of each rule are tolerated. A number may fall, never rise; the goal of each is 0, but for names
/// of several types, of which there may be 80.
const TOLERATED: [(Rule, usize); 13] = [
    (Rule::FilesInCycles, 0),
    (Rule::ModulesInCycles, 0),
    (Rule::FacadeItems, 0),
    (Rule::LongFunctions, 0),
    (Rule::SharedNames, 80),
    (Rule::NamesOfMoreThanThree, 0),
    (Rule::TypeNames, 0),
    (Rule::TestTypeNames, 0),
    (Rule::FileNames, 0),
    (Rule::TestFileNames, 0),
    (Rule::Phrases, 0),
    (Rule::TestPhrases, 0),
    (Rule::LongTestNames, 0),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    FilesInCycles,
    ModulesInCycles,
    FacadeItems,
    LongFunctions,
    SharedNames,
    NamesOfMoreThanThree,
    TypeNames,
    TestTypeNames,
    FileNames,
    TestFileNames,
    Phrases,
    TestPhrases,
    LongTestNames,
}

/// Public items that the root of a library may show.
const FACADES: [(&str, usize); 28] = [
    ("crates/locks", 2),
    ("crates/kernels", 20),
    ("crates/format", 40),
    ("crates/query", 40),
    ("crates/interop", 20),
    ("crates/doctor", 20),
    ("crates/store", 40),
    ("crates/engine", 40),
    ("crates/memory", 40),
    ("crates/transformer", 12),
    ("crates/facts", 40),
    ("crates/items", 24),
    ("crates/agents", 20),
    ("crates/mcp", 20),
    ("crates/hooks", 20),
    ("crates/sources", 30),
    ("crates/importing", 24),
    ("crates/host", 12),
    ("crates/texts", 10),
    ("crates/traces", 5),
    ("crates/outbound", 20),
    ("crates/webhooks", 5),
    ("crates/models", 30),
    ("crates/scripted", 10),
    ("proto", 12),
    ("client", 24),
    ("daemon", 24),
    ("cli", 5),
];

/// Participles, adverbs and verbs that name no type; so does every other single word that ends in "ed".
const NO_TYPES: &str = "Above Alike Alive Asks At Before Brought Built By Caught Colliding Counting Done Ending Far \
    Following Forgotten Found Given Going Gone Got Growing Held How In Into Kept Known Learnt Left Like Looking Lost \
    Made Merging Met Odd Old Only Other Others Out Over Own Packing Pending Planning Ran Reading Remains Resolving \
    Running Said Says Seen Sending Sent Shown Standing Taken Telling Told Unsent Until Via Waiting Which Whole Woken \
    Writing Written Wrong";

/// Nouns that end in "ed".
const NOUNS: [&str; 5] = ["Embed", "Feed", "Need", "Seed", "Speed"];

/// Words that the dictionary replaces, as names of types.
const REPLACED_TYPES: &str = "Closest Clusters Crowd Door Fate Figure Figures Fold Guest Heavy Lenders Lent Misfits \
    Party Place Places Shares Stranger Tie Ties Turns Unnamed Ward Web";

/// Words that the dictionary replaces, as names of modules, files and folders.
const REPLACED_FILES: &str = "asked asking closest clusters crowd door everyone fate figures fold folding folds found \
    guest heavy heed held kept known learnt left lend lenders lent looked lost misfits named odd old own party place \
    placed places rest seen shares shown standing stranger ties told touched turns unnamed unsent walked web";

/// Phrases that name no actor, or say nothing that a shorter word does not.
const PHRASES: [&str; 6] = [
    concat!("an", "ew"),
    concat!("who", "ever"),
    concat!("some", "body"),
    concat!("so many", " of"),
    concat!("is", " told"),
    concat!("kept", " aside"),
];

const TEST_NAME_MAX: usize = 80;

/// Fails with every complaint if there are more than the rule tolerates.
fn hold(rule: Rule, complaints: Vec<String>) {
    let row = TOLERATED.iter().find(|row| row.0 == rule);
    let tolerated = row.map_or(0, |row| row.1);
    println!("{rule:?}: {} of {tolerated}", complaints.len());
    if complaints.len() > tolerated {
        none(complaints);
    }
}

/// Measured once, and printed.
fn structure() -> &'static Structure {
    static STRUCTURE: OnceLock<Structure> = OnceLock::new();
    STRUCTURE.get_or_init(|| {
        let structure = Structure::of(&root());
        println!("{structure}");
        structure
    })
}

/// A complaint for each member of a cycle; the first has the imports that close it.
fn complaints(cycles: &[Cycle]) -> Vec<String> {
    let of_one = |cycle: &Cycle| {
        let imports = cycle.imports.join("\n    ");
        let mut members = cycle.members.clone();
        members[0] += &format!(": these imports close a cycle:\n    {imports}");
        members
    };
    cycles.iter().flat_map(of_one).collect()
}

#[test]
fn files_import_each_other_one_way() {
    hold(Rule::FilesInCycles, complaints(&structure().file_cycles));
}

#[test]
fn modules_import_their_siblings_one_way() {
    hold(
        Rule::ModulesInCycles,
        complaints(&structure().module_cycles),
    );
}

#[test]
fn the_root_of_a_library_shows_few_items() {
    let mut out = Vec::new();
    for (folder, items) in &structure().facades {
        let bound = FACADES.iter().find(|row| row.0 == folder);
        let Some((_, most)) = bound else {
            out.push(format!("{folder}: it has no row in FACADES"));
            continue;
        };
        if items.len() > *most {
            let count = items.len();
            out.push(format!("{folder}: {count} public items, {most} fit"));
        }
        for item in items.iter().filter(|item| item.name == "*") {
            let line = item.line;
            out.push(format!(
                "{folder}/src/lib.rs:{line}: name what is re-exported"
            ));
        }
    }
    hold(Rule::FacadeItems, out);
}

#[test]
fn functions_fit_a_hundred_lines() {
    let long = structure().long_functions();
    let complaint = |f: &&amem_tests::house::Function| {
        format!("{}:{}: {} has {} lines", f.file, f.line, f.name, f.lines)
    };
    hold(Rule::LongFunctions, long.iter().map(complaint).collect());
}

#[test]
fn few_types_share_a_name() {
    let shared = structure().shared_names();
    let complaint = |(name, types): &(&str, Vec<&amem_tests::house::TypeName>)| {
        let lines = types.iter().map(|one| format!("{}:{}", one.file, one.line));
        format!("{name}: {}", lines.collect::<Vec<_>>().join(" "))
    };
    let many = shared.iter().filter(|(_, types)| types.len() > 3);
    hold(Rule::NamesOfMoreThanThree, many.map(complaint).collect());
    hold(Rule::SharedNames, shared.iter().map(complaint).collect());
}

#[test]
fn types_are_named_by_nouns_of_the_dictionary() {
    let is_refused = |name: &str| {
        let is_word = !name[1..].contains(|c: char| !c.is_ascii_lowercase());
        let is_participle = is_word && name.ends_with("ed") && !NOUNS.contains(&name);
        let listed = NO_TYPES.split(' ').chain(REPLACED_TYPES.split(' '));
        is_participle || listed.into_iter().any(|word| word == name)
    };
    let types = structure().types.iter().filter(|one| is_refused(&one.name));
    let complaint = |one: &amem_tests::house::TypeName| {
        format!("{}:{}: a noun for {}?", one.file, one.line, one.name)
    };
    hold(Rule::TypeNames, types.map(complaint).collect());
    let mut in_tests = Vec::new();
    for file in files().iter().filter(|file| !is_production(&file.path)) {
        for (line, text) in file.lines().filter(|_| file.is_rust()) {
            let mut words =
                words(text).skip_while(|word| matches!(*word, "pub" | "crate" | "super"));
            let kinds = ["struct", "enum", "union", "trait", "type"];
            let is_type = words.next().is_some_and(|word| kinds.contains(&word));
            if let Some(name) = words.next().filter(|name| is_type && is_refused(name)) {
                in_tests.push(format!("{}:{line}: a noun for {name}?", file.path));
            }
        }
    }
    hold(Rule::TestTypeNames, in_tests);
}

fn is_production(path: &str) -> bool {
    !["tests/", "benches/", "fuzz/"]
        .iter()
        .any(|front| path.starts_with(front))
}

#[test]
fn files_are_named_by_words_of_the_dictionary() {
    let is_replaced = |path: &str| {
        let mut parts = path.trim_end_matches(".rs").split('/');
        parts.any(|part| REPLACED_FILES.split(' ').any(|word| word == part))
    };
    let sources = files().into_iter().filter(File::is_rust);
    let paths = sources.map(|f| f.path).filter(|path| is_replaced(path));
    let (production, tests): (Vec<_>, Vec<_>) = paths.partition(|path| is_production(path));
    hold(Rule::FileNames, production);
    hold(Rule::TestFileNames, tests);
}

#[test]
fn texts_name_actors_and_use_short_words() {
    let (mut production, mut tests) = (Vec::new(), Vec::new());
    let others = ["tests/", "benches/", "fuzz/", ".ci/"];
    for file in files() {
        let out = if others.iter().any(|front| file.path.starts_with(front)) {
            &mut tests
        } else {
            &mut production
        };
        for (line, text) in file.lines() {
            let text = text.to_lowercase();
            for phrase in PHRASES.iter().filter(|phrase| has(&text, phrase)) {
                out.push(format!("{}:{line}: {phrase}", file.path));
            }
        }
    }
    hold(Rule::Phrases, production);
    hold(Rule::TestPhrases, tests);
}

/// True if a text has a phrase as words of their own; in names of functions too.
fn has(text: &str, phrase: &str) -> bool {
    let text = text.replace('_', " ");
    let mut places = text.match_indices(phrase);
    places.any(|(at, _)| {
        let (front, back) = (&text[..at], &text[at + phrase.len()..]);
        !front.ends_with(char::is_alphanumeric) && !back.starts_with(char::is_alphanumeric)
    })
}

#[test]
fn names_of_tests_are_short_sentences() {
    let mut out = Vec::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        let mut is_test = false;
        for (line, text) in file.lines().map(|(line, text)| (line, text.trim_start())) {
            if text.starts_with("#[test]") || text.starts_with("#[tokio::test") {
                is_test = true;
            } else if is_test && let Some((_, rest)) = text.split_once("fn ") {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                if name.len() > TEST_NAME_MAX {
                    let (path, letters) = (&file.path, name.len());
                    out.push(format!("{path}:{line}: {letters} letters: {name}"));
                }
                is_test = false;
            }
        }
    }
    hold(Rule::LongTestNames, out);
}

#[test]
fn the_measurements_follow_imports_to_what_is_defined() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tidy/sample");
    let measured = Structure::of(&folder);
    let members = |cycles: &[Cycle]| {
        let sets = cycles.iter().map(|cycle| cycle.members.join(" "));
        sets.collect::<Vec<_>>()
    };
    assert_eq!(
        members(&measured.file_cycles),
        ["one/src/parent.rs one/src/parent/child.rs"],
        "a re-export is no import, what a child takes from its parent is one"
    );
    assert_eq!(
        members(&measured.module_cycles),
        ["one: crate::first one: crate::second"],
        "modules are taken with what is below them"
    );
    let names: Vec<_> = measured.shared_names().iter().map(|row| row.0).collect();
    assert_eq!(names, ["Twice"], "types of tests do not count");
    assert_eq!(measured.lines, [("one".to_owned(), 55, 27)]);
    let shown: Vec<_> = measured.facades[0].1.iter().map(|i| &i.name).collect();
    assert_eq!(shown, ["parent", "Page"]);
}
