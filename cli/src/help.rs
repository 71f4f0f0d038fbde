//! The first page of help: the commands in the groups in which people look for them.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

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
        &["export", "verify", "repair", "checkpoint", "dump-journal"],
    ),
    (
        "The daemon and the shell",
        &["reload", "shutdown", "completions", "man"],
    ),
];

const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n{before-help}\nOptions:\n{options}{after-help}";

/// The whole command line, with the first page of help in groups.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    let groups = grouped(&command);
    command
        .before_help(groups)
        .help_template(TEMPLATE)
        .after_help(EXAMPLES)
        .after_long_help(format!("{EXAMPLES}\n\n{}", exit::help()))
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
