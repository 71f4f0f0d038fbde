//! The first page of help: commands in groups.

use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, CommandFactory};

use crate::arguments::{Arguments, EXAMPLES};
use crate::exit;
use crate::failure::Failure;

/// In the order in which a newcomer needs them.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Begin",
        &["demo", "brain", "status", "connect", "disconnect"],
    ),
    (
        "Remember",
        &[
            "add", "remember", "fact", "chat", "mcp", "hook", "project", "correct", "events",
            "link", "unlink", "sessions", "compress", "import",
        ],
    ),
    (
        "Ask",
        &[
            "ask", "search", "query", "get", "context", "text", "similar", "pipeline", "timeline",
            "info",
        ],
    ),
    (
        "Explain",
        &[
            "why",
            "impact",
            "resolve",
            "conflicts",
            "traverse",
            "path",
            "watch",
        ],
    ),
    (
        "Forget",
        &[
            "decay", "fading", "pin", "unpin", "forget", "restore", "erase",
        ],
    ),
    (
        "Keep",
        &[
            "merge",
            "export",
            "verify",
            "repair",
            "checkpoint",
            "reembed",
            "dump-journal",
        ],
    ),
    (
        "The daemon and the shell",
        &[
            "top",
            "logs",
            "jobs",
            "service",
            "token",
            "models",
            "reload",
            "shutdown",
            "completions",
            "man",
        ],
    ),
];

const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n{before-help}\nOptions:\n{options}{after-help}";

/// The whole command line, with the first page of help in groups.
pub(crate) fn command() -> Command {
    let command = reflowed(with_negative_numbers(Arguments::command()));
    // These options page and date conflicts of a brain; without a brain the command lists files.
    let command = command.mut_subcommand("conflicts", |conflicts| {
        let of_a_brain = ["limit", "after", "as_of", "include_forgotten"];
        of_a_brain.into_iter().fold(conflicts, |conflicts, name| {
            conflicts.mut_arg(name, |arg| arg.requires("brain"))
        })
    });
    let groups = grouped(&command);
    command
        .before_help(groups)
        .help_template(TEMPLATE)
        .after_help(EXAMPLES)
        .after_long_help(format!("{EXAMPLES}\n\n{}", exit::help()))
}

/// Parses "-1" as a value, so that the error names the value and not an unknown flag.
fn with_negative_numbers(command: Command) -> Command {
    let takes_value = |arg: &Arg| arg.get_action().takes_values();
    command
        .mut_args(|arg| {
            if takes_value(&arg) {
                arg.allow_negative_numbers(true)
            } else {
                arg
            }
        })
        .mut_subcommands(with_negative_numbers)
}

/// Joins each paragraph below the options into one line: only clap knows the width of the terminal.
fn reflowed(command: Command) -> Command {
    let words = command.get_after_help().map(ToString::to_string);
    let command = match words {
        Some(words) => command.after_help(in_paragraphs(&words)),
        None => command,
    };
    command.mut_subcommands(reflowed)
}

/// Keeps the lines of examples, which are indented, and of the paragraph with them.
fn in_paragraphs(words: &str) -> String {
    let paragraphs = words.split("\n\n").map(|paragraph| {
        let is_prose = !paragraph.contains("\n  ");
        paragraph.replace('\n', if is_prose { " " } else { "\n" })
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The command and subcommand in arguments that could not be parsed; empty if there is none.
pub(crate) fn named_in(arguments: impl Iterator<Item = String>) -> String {
    let mut at = Arguments::command();
    let mut names: Vec<String> = Vec::new();
    for argument in arguments.filter(|argument| !argument.starts_with('-')) {
        let Some(below) = at.find_subcommand(&argument).cloned() else {
            break;
        };
        names.push(below.get_name().to_owned());
        at = below;
    }
    names.join(" ")
}

fn grouped(command: &Command) -> String {
    let mut out = String::new();
    for (group, names) in GROUPS {
        let _infallible = writeln!(out, "\n{group}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _infallible = writeln!(out, "  {name:<13} {about}");
        }
    }
    out
}

/// Words that users of other programs type, and the commands that do that here. A word may stand for several things.
const TIPS: &[(&[&str], &str)] = &[
    (
        &["delete", "del", "remove", "rm"],
        "`amemctl forget BRAIN ID` hides an event, `amemctl erase BRAIN ID` removes its text for good, \
         `amemctl brain rm NAME` removes a brain",
    ),
    (
        &["rename", "mv", "move", "copy", "cp"],
        "a brain is a file: `cp` copies it, also under load; `amemctl import FILE.amem NEW` makes a brain of the copy, \
         then `amemctl brain rm OLD` removes the first",
    ),
    (
        &["history"],
        "`amemctl get BRAIN ID --history` shows the changes of an event, `amemctl resolve BRAIN ID` what replaced it, \
         `amemctl watch BRAIN` commits as they come",
    ),
    (
        &["log"],
        "`amemctl timeline BRAIN` shows events day by day, `amemctl watch BRAIN` commits as they come, \
         `amemctl logs` the log of amemd",
    ),
    (
        &["update", "edit", "replace", "change"],
        "`amemctl correct BRAIN ID TEXT` replaces a belief, `amemctl events set-attributes BRAIN ID KEY=VALUE` changes \
         attributes, `amemctl brain set BRAIN KEY=VALUE` settings",
    ),
    (
        &["create", "new", "init"],
        "`amemctl brain create NAME` creates a brain, `amemctl add BRAIN TEXT` an event",
    ),
    (
        &["list"],
        "`amemctl brain ls` lists brains, `amemctl ls BRAIN` events, `amemctl sessions list BRAIN` sessions",
    ),
    (
        &["show", "cat"],
        "`amemctl get BRAIN ID` shows an event, `amemctl info BRAIN` a brain, `amemctl brain show BRAIN` its settings",
    ),
    (
        &["store", "insert", "put"],
        "`amemctl add BRAIN TEXT` adds an event",
    ),
    (
        &["recall", "find", "grep"],
        "`amemctl search BRAIN QUESTION` finds events that answer a question, `amemctl text BRAIN WORDS` those \
         with words",
    ),
    (
        &["start", "run", "serve"],
        "the first command that needs amemd starts it; `amemctl service install` makes it a service",
    ),
    (&["stop", "quit"], "`amemctl shutdown` stops amemd"),
    (
        &["backup"],
        "`cp` of a brain's file is a backup, also under load; `amemctl info BRAIN` names the file, `amemctl verify \
         COPY` checks it",
    ),
];

/// What does here what another program calls by this word, or what the word asks `command` for.
pub(crate) fn tip(error: &clap::Error, command: &str) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    if let Some((_, tip)) = TIPS
        .iter()
        .find(|(words, _)| words.contains(&word.as_str()))
    {
        return Some(Failure::argument(format!("there is no `{word}`"), *tip));
    }
    // clap has a tip of its own for a misspelt word.
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return None;
    }
    let tip = tip_for_brain(command, word)?;
    Some(Failure::argument(
        format!("there is no `{command} {word}`"),
        tip,
    ))
}

/// What to type where a command has subcommands, and a brain's name came instead of one.
fn tip_for_brain(command: &str, word: &str) -> Option<String> {
    let what = match command {
        "sessions" => "sessions list",
        "brain" => "info",
        "events" => "ls",
        _ => return None,
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_brain = !word.is_empty() && word.chars().all(is_name);
    is_brain.then(|| {
        format!("of a brain named {word}: `amemctl {what} {word}`; of {command}: `amemctl {command} --help`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|c| !c.is_hide_set());
        let mut known: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    /// All commands, with those below them.
    fn all(command: &Command, into: &mut Vec<Command>) {
        for below in command.get_subcommands() {
            into.push(below.clone());
            all(below, into);
        }
    }

    #[test]
    fn no_line_of_a_paragraph_ends_before_it_must() {
        const COLUMNS: usize = 100;
        let mut commands = Vec::new();
        all(&command(), &mut commands);
        assert!(commands.len() > 50);
        let mut prose = 0;
        for command in commands {
            let name = command.get_name().to_owned();
            let help = command.term_width(COLUMNS).render_help().to_string();
            let below = help
                .split("\n\n")
                .skip_while(|part| !part.starts_with("Examples:"));
            for paragraph in below.filter(|part| !part.contains("\n  ")) {
                let lines: Vec<&str> = paragraph.trim_end().lines().collect();
                prose += lines.len().saturating_sub(1);
                for pair in lines.windows(2) {
                    let next = pair[1].split(' ').next().unwrap_or_default();
                    let width = pair[0].chars().count() + 1 + next.chars().count();
                    assert!(width > COLUMNS, "{name}: {:?} ends too early", pair[0]);
                }
            }
        }
        assert!(prose > 20, "{prose} lines");
    }

    #[test]
    fn the_table_of_the_readme_has_every_command_and_no_other() {
        let readme = include_str!("../README.md");
        let (_, table) = readme
            .split_once("| command | what it does |\n|---|---|\n")
            .unwrap();
        let rows = table.lines().take_while(|line| line.starts_with('|'));
        let top = command();
        let mut told = std::collections::BTreeSet::new();
        for row in rows {
            let cell = row.split('|').nth(1).unwrap();
            let mut above: Option<&Command> = None;
            for code in cell.split('`').skip(1).step_by(2) {
                let mut words = code.split(' ');
                let word = words.next().unwrap();
                let below = above.and_then(|above| above.find_subcommand(word));
                if below.is_some() {
                    continue;
                }
                let found = top.find_subcommand(word);
                let found = found.unwrap_or_else(|| panic!("README.md: no command {code:?}"));
                told.insert(found.get_name());
                let group = found.has_subcommands();
                let next = words.next().filter(|_| group);
                assert!(
                    next.is_none_or(|next| found.find_subcommand(next).is_some()),
                    "README.md: no command {code:?}"
                );
                above = Some(found);
            }
        }
        let shown = top.get_subcommands().filter(|of| !of.is_hide_set());
        let known: std::collections::BTreeSet<_> = shown.map(Command::get_name).collect();
        assert_eq!(told, known);
    }

    #[test]
    fn the_options_of_a_brain_need_one() {
        for option in ["--limit 3", "--as-of yesterday", "--after x", "--forgotten"] {
            let parsed = |brain: &str| {
                let line = format!("amemctl conflicts {brain} {option}");
                command().try_get_matches_from(line.split_whitespace())
            };
            assert!(parsed("work").is_ok(), "{option}");
            let refused = parsed("").unwrap_err();
            assert!(refused.to_string().contains("BRAIN"), "{refused}");
        }
    }

    #[test]
    fn words_of_other_programs_lead_to_commands_that_exist() {
        let whole = command();
        for (words, tip) in TIPS {
            for word in *words {
                assert!(whole.find_subcommand(word).is_none(), "{word} is a command");
            }
            for part in tip.split("`amemctl ").skip(1) {
                let (line, _) = part.split_once('`').unwrap();
                let mut names = line.split(' ');
                let mut at = &whole;
                while let Some(below) = names.next().and_then(|name| at.find_subcommand(name)) {
                    at = below;
                }
                assert!(
                    at.get_name() != "amemctl" && !at.has_subcommands(),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
