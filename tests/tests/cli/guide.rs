//! docs/guide.md and README.md, done: what they say that commands print is what they print.
//!
//! Blocks marked `console` are run in their order as a user of their own. A command that is shown without output must
//! do well; of others, every line is compared, but for times and random ids.

use std::path::Path;

use crate::authors::our_name;
use crate::tool::{Tool, without_times};

const GUIDE: &str = include_str!("../../../docs/guide.md");
const README: &str = include_str!("../../../README.md");

/// A command of a page, and what it is said to print.
#[derive(Debug)]
struct GuideCommand {
    command: String,
    prints: Vec<String>,
}

/// The commands of all blocks marked `console`.
fn commands(page: &str) -> Vec<GuideCommand> {
    let mut all: Vec<GuideCommand> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        match (is_inside, line) {
            (false, "```console") => is_inside = true,
            (false, _) => {}
            (true, "```") => is_inside = false,
            (true, line) => match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push(GuideCommand {
                    command: command.to_owned(),
                    prints: Vec::new(),
                }),
                (None, Some(last)) if last.prints.is_empty() && last.command.ends_with('\\') => {
                    last.command.push('\n');
                    last.command.push_str(line);
                }
                (None, Some(last)) => last.prints.push(line.to_owned()),
                (None, None) => panic!("a block begins without a command: {line}"),
            },
        }
    }
    all
}

/// A line as it is compared: without times, and without the end of what was cut off to fit.
fn comparable(line: &str, home: &Path) -> String {
    let line = line.replace(home.to_str().unwrap(), "~");
    // The pages name a user of their own.
    let line = line.replace(&our_name(), "uid 1000 (ann)");
    let line = without_times(&line);
    let words: Vec<&str> = line
        .split(' ')
        .map(|word| match word {
            word if is_day_or_clock(word) => "TIME",
            word if uuid::Uuid::try_parse(word).is_ok() => "ID",
            word => word,
        })
        .collect();
    let kept = match line.contains('…') {
        // Where it was cut depends on how the times before it are printed.
        true => words.len().saturating_sub(4),
        false => words.len(),
    };
    words[..kept].join(" ")
}

/// A date or hours and minutes.
fn is_day_or_clock(word: &str) -> bool {
    let word = word.trim_end_matches([',', ':']);
    let form: String = word
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    ["0000-00-00", "00:00"].contains(&form.as_str())
}

#[test]
fn commands_of_the_guide_print_what_it_shows() {
    check(&Tool::new(), GUIDE);
}

#[test]
fn readme_and_guide_can_be_followed_one_after_the_other() {
    let tool = Tool::new();
    check(&tool, README);
    check(&tool, GUIDE);
}

fn check(tool: &Tool, page: &str) {
    let program = tool.command().get_program().to_owned();
    let folder = Path::new(&program).parent().unwrap().to_owned();
    let shown = commands(page);
    assert!(shown.len() >= 9, "{shown:?}");
    for GuideCommand { command, prints } in shown {
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(&command).current_dir(tool.path(""));
        shell.env_clear().env("HOME", tool.home());
        shell.env("AMEMD_SOCKET", tool.socket());
        let path = std::env::var("PATH").unwrap();
        shell.env("PATH", format!("{}:{path}", folder.display()));
        let output = shell.output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{command}: {out}{err}");
        if prints.is_empty() {
            continue;
        }
        let comparable = |line: &str| comparable(line, tool.home());
        let found: Vec<String> = out.lines().map(comparable).collect();
        let told: Vec<String> = prints.iter().map(|line| comparable(line)).collect();
        assert_eq!(found, told, "\n$ {command}\n{out}");
    }
}

#[test]
fn the_guide_shows_the_example_verbatim() {
    let example = include_str!("../../../client/examples/follow.rs");
    let (_, body) = example.split_once("\n\n").unwrap();
    assert!(GUIDE.contains(&format!("```rust\n{}\n```", body.trim())));
}
