//! Models in folders against what the reference implementation made of the same texts: tokens, vectors, and times.
//!
//! `.ci/models` writes the folders below `AMEM_MODEL_FOLDER`, each a model with `reference.json` beside its files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use amem_transformer::{ModelSettings, SentenceModel, TextRole};
use serde::Deserialize;

/// The greatest difference of a number, for vectors of length 1; longer vectors are compared by their direction too.
const DIFFERENCE_MAX: f32 = 1e-4;

#[derive(Deserialize)]
struct Reference {
    rows: Vec<ReferenceRow>,
}

#[derive(Deserialize)]
struct ReferenceRow {
    text: String,
    passage_tokens: Vec<u32>,
    query_tokens: Vec<u32>,
    passage: Vec<f32>,
    query: Vec<f32>,
}

#[derive(Deserialize)]
struct Characters {
    rows: Vec<CharactersRow>,
}

#[derive(Deserialize)]
struct CharactersRow {
    text: String,
    tokens: Vec<u32>,
}

/// The folders of models; none if the variable is unset.
fn folders() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("AMEM_MODEL_FOLDER") else {
        let why =
            "AMEM_MODEL_FOLDER is unset: no model is compared with the reference; .ci/models does";
        static ONCE: Once = Once::new();
        ONCE.call_once(|| print(&format!("SKIPPED: {why}")));
        return Vec::new();
    };
    let entries = fs::read_dir(&folder).expect("the folder of AMEM_MODEL_FOLDER");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths
        .filter(|p| p.join("reference.json").exists())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "there is no model with a reference");
    paths
}

fn json<T: for<'a> Deserialize<'a>>(path: &Path) -> T {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Prints past the harness, which hides what a passing test prints.
fn print(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

#[test]
fn models_have_the_tokens_and_vectors_of_the_reference() {
    for folder in folders() {
        let reference: Reference = json(&folder.join("reference.json"));
        let name = folder.file_name().expect("a name").to_string_lossy();
        let began = Instant::now();
        let model = SentenceModel::open(&folder).unwrap_or_else(|e| panic!("{e}"));
        let opened = began.elapsed();
        let texts: Vec<&str> = reference.rows.iter().map(|row| &*row.text).collect();
        let began = Instant::now();
        let passages = model.embed(TextRole::Passage, &texts);
        let took = began.elapsed();
        let queries = model.embed(TextRole::Query, &texts);
        let (mut greatest, mut tokens) = (0.0f32, 0);
        for ((row, passage), query) in reference.rows.iter().zip(&passages).zip(&queries) {
            let text: String = row.text.chars().take(60).collect();
            let found = model.tokens(TextRole::Passage, &row.text);
            assert_eq!(found, row.passage_tokens, "{name}: {text:?}");
            tokens += found.len();
            let found = model.tokens(TextRole::Query, &row.text);
            assert_eq!(found, row.query_tokens, "{name}: the question {text:?}");
            for (found, expected) in [(passage, &row.passage), (query, &row.query)] {
                assert_eq!(found.len(), expected.len(), "{name}");
                let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
                let most = differences.fold(0.0, f32::max);
                assert!(most <= DIFFERENCE_MAX, "{name}: {most} for {text:?}");
                greatest = greatest.max(most);
            }
        }
        print(&format!(
            "{name}: {} texts, tokens equal, greatest difference {greatest:.2e}; opened in {opened:.1?}, {tokens} tokens \
             in {took:.1?}",
            texts.len(),
        ));
    }
}

#[test]
fn every_character_has_the_tokens_of_the_reference() {
    for folder in folders() {
        let path = folder.join("characters.json");
        if !path.exists() {
            continue;
        }
        let settings = ModelSettings {
            tokens_max: Some(512),
            ..ModelSettings::default()
        };
        let model = SentenceModel::open_with(&folder, &settings).unwrap_or_else(|e| panic!("{e}"));
        let characters: Characters = json(&path);
        let mut wrong = Vec::new();
        for row in &characters.rows {
            if model.tokens(TextRole::Passage, &row.text) != row.tokens {
                wrong.push(&row.text);
            }
        }
        let count = characters.rows.len();
        assert!(
            wrong.is_empty(),
            "{} of {count}: {:?}",
            wrong.len(),
            wrong.first()
        );
        print(&format!(
            "{count} texts of all characters have equal tokens"
        ));
    }
}

/// The shortest of several runs: what the computation takes, without what the machine does besides.
fn shortest(runs: usize, mut run: impl FnMut()) -> Duration {
    let mut time = || {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    (0..runs).map(|_| time()).min().unwrap_or_default()
}

#[test]
fn times_of_questions_and_batches_are_printed() {
    for folder in folders() {
        let settings = |threads| ModelSettings {
            threads,
            ..ModelSettings::default()
        };
        let open = |threads| SentenceModel::open_with(&folder, &settings(threads));
        let one = open(Some(1)).unwrap_or_else(|e| panic!("{e}"));
        let all = open(None).unwrap_or_else(|e| panic!("{e}"));
        // With the first and the last one, 16 tokens.
        let text = "where did i put the keys of the old blue car last summer again";
        let mut question = text.to_owned();
        while one.tokens(TextRole::Passage, &question).len() > 16 {
            let cut = question.rfind(' ').expect("a word");
            question.truncate(cut);
        }
        let tokens = one.tokens(TextRole::Passage, &question).len();
        let alone = shortest(50, || drop(one.embed(TextRole::Passage, &[&question])));
        let texts: Vec<String> = (0..64)
            .map(|n| format!("{} {text}", text.repeat(n % 4)))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let count: usize = texts
            .iter()
            .map(|t| one.tokens(TextRole::Passage, t).len())
            .sum();
        let single = shortest(3, || drop(one.embed(TextRole::Passage, &texts)));
        let several = shortest(3, || drop(all.embed(TextRole::Passage, &texts)));
        let name = folder.file_name().expect("a name").to_string_lossy();
        print(&format!(
            "{name}: a question of {tokens} tokens {alone:.2?}; 64 texts with {count} tokens {single:.1?} with one thread, \
             {several:.1?} with all"
        ));
    }
}
