//! The first page of help: the commands in the groups in which people look for them.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::{Arguments, EXAMPLES, exit};

/// The groups, in the order in which a newcomer needs them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Begin", &["demo", "brain", "status"]),
    (
        "Remember",
        &[
            "add", "correct", "link", "unlink", "sessions", "compress", "import",
        ],
    ),
    (
        "Ask",
        &[
            "search", "query", "get", "context", "similar", "timeline", "info",
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
            "dump-journal",
        ],
    ),
    (
        "The daemon and the shell",
        &[
            "top",
            "jobs",
            "service",
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
    let command = with_negative_numbers(Arguments::command());
    let groups = grouped(&command);
    command
        .before_help(groups)
        .help_template(TEMPLATE)
        .after_help(EXAMPLES)
        .after_long_help(format!("{EXAMPLES}\n\n{}", exit::help()))
}

/// The same for manual pages: an option that short help leaves out would be named there without a word.
pub(crate) fn whole(command: Command) -> Command {
    command
        .mut_args(|arg| arg.hide_short_help(false).hide_env_values(false))
        .mut_subcommands(whole)
}

/// "-1" is a value that is wrong, not a flag that nobody knows.
fn with_negative_numbers(command: Command) -> Command {
    let takes_value = |arg: &Arg| arg.get_action().takes_values();
    command
        .mut_args(|arg| match takes_value(&arg) {
            true => arg.allow_negative_numbers(true),
            false => arg,
        })
        .mut_subcommands(with_negative_numbers)
}

/// The command, and the one below it, that a line names which could not be parsed; empty if it names none.
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

/// Each command with what it does, under its group.
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

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
