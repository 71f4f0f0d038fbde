//! docs/guide.md, done: what it says that commands print is what they print.
//!
//! Blocks marked `console` are run in their order by one shell of a user of their own. A command without output in the
//! guide must do well; of others, every line is compared, but for times, and numbers where the block is `console ~`.

use std::path::Path;

use crate::tool::{Tool, without_times};

const GUIDE: &str = include_str!("../../../docs/guide.md");

/// A command of the guide, and what it is said to print.
#[derive(Debug)]
struct Shown {
    command: String,
    prints: Vec<String>,
    /// Numbers differ from run to run.
    is_rough: bool,
}

/// The commands of all blocks marked `console`.
fn commands() -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut block: Option<bool> = None;
    for line in GUIDE.lines() {
        match (block, line) {
            (None, "```console") => block = Some(false),
            (None, "```console ~") => block = Some(true),
            (Some(_), "```") => block = None,
            (Some(is_rough), line) => match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push(Shown {
                    command: command.to_owned(),
                    prints: Vec::new(),
                    is_rough,
                }),
                (None, Some(last)) if last.prints.is_empty() && last.command.ends_with('\\') => {
                    last.command.push('\n');
                    last.command.push_str(line);
                }
                (None, Some(last)) => last.prints.push(line.to_owned()),
                (None, None) => panic!("a block begins without a command: {line}"),
            },
            (None, _) => {}
        }
    }
    all
}

/// A line as it is compared.
fn comparable(line: &str, home: &Path, is_rough: bool) -> String {
    let line = line.replace(home.to_str().unwrap(), "~");
    let line = without_times(&line);
    if !is_rough {
        return line;
    }
    let words = line.split_whitespace().map(|word| {
        let is_number = word.contains(|c: char| c.is_ascii_digit());
        let is_bar = word.contains(|c| ('▁'..='█').contains(&c));
        if is_number || is_bar { "N" } else { word }
    });
    words
        .filter(|word| *word != "N")
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_guide_prints_what_it_says() {
    let tool = Tool::new();
    let program = tool.command().get_program().to_owned();
    let folder = Path::new(&program).parent().unwrap().to_owned();
    let shown = commands();
    assert!(shown.len() > 15, "{shown:?}");
    for Shown {
        command,
        prints,
        is_rough,
    } in shown
    {
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(&command).current_dir(tool.path(""));
        shell.env_clear().env("HOME", tool.home());
        let path = std::env::var("PATH").unwrap();
        shell.env("PATH", format!("{}:{path}", folder.display()));
        let output = shell.output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{command}: {out}{err}");
        if prints.is_empty() {
            continue;
        }
        let comparable = |line: &str| comparable(line, tool.home(), is_rough);
        let found: Vec<String> = out.lines().map(comparable).collect();
        let told: Vec<String> = prints.iter().map(|line| comparable(line)).collect();
        assert_eq!(found, told, "\n$ {command}\n{out}");
    }
}

#[test]
fn the_guide_shows_the_example_as_it_is() {
    let example = include_str!("../../../client/examples/follow.rs");
    let (_, body) = example.split_once("\n\n").unwrap();
    assert!(GUIDE.contains(&format!("```rust\n{}\n```", body.trim())));
}
