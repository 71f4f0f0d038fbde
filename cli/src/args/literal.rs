//! Text is text: an argument in the place of a TEXT is never taken for an option.
//!
//! `amemctl add work "--file=/etc/passwd"` stores these words, as `amemctl add work "- item"` does: agents pass texts
//! that they did not write. The text may stand behind options: the last argument is a text, too, if it would read a
//! file (`add work --type decision "--file=x"`) or is no option, and the command has no text without it. Only `--help`
//! and `-h` remain options there.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// The argument of a TEXT (`args::text`).
const WORDS: &str = "words";
/// What reads a text from a file, in one argument.
const READS_FILE: &[u8] = b"--file=";

/// The arguments in an order that clap reads as meant: a text that looks like an option goes behind `--`.
pub(crate) fn protect_text(command: &Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(first) = place_of_text(command, &arguments) else {
        return arguments;
    };
    if let Some(protected) = protected(command, &arguments, first) {
        return protected;
    }
    let last = arguments.len() - 1;
    let bytes = arguments[last].as_encoded_bytes();
    let is_doubtful = bytes.starts_with(b"-")
        && (bytes.starts_with(READS_FILE)
            || command.clone().try_get_matches_from(&arguments).is_err());
    match is_doubtful {
        true => protected(command, &arguments, last).unwrap_or(arguments),
        false => arguments,
    }
}

/// True if help is asked for where a TEXT is expected: nothing is stored then, which is no success.
pub(crate) fn asks_help_as_text(command: &Command, arguments: &[OsString]) -> bool {
    place_of_text(command, arguments).is_some_and(|place| is_help(&arguments[place]))
}

fn is_help(argument: &OsString) -> bool {
    argument == "--help" || argument == "-h"
}

/// The arguments with the one at a place as the TEXT, if it looks like an option and there is no other text.
fn protected(command: &Command, arguments: &[OsString], place: usize) -> Option<Vec<OsString>> {
    let text = &arguments[place];
    let looks_like_an_option =
        text.as_encoded_bytes().starts_with(b"-") && text != "-" && text != "--";
    if !looks_like_an_option || is_help(text) {
        return None;
    }
    // With other words behind it, as in `add work --type decision "we stay"`, it is an option.
    let without: Vec<OsString> = [&arguments[..place], &arguments[place + 1..]].concat();
    match command.clone().try_get_matches_from(&without) {
        Ok(matches) if !has_words(&matches) => {
            let mut protected = without;
            protected.extend(["--".into(), text.clone()]);
            Some(protected)
        }
        _ => None,
    }
}

fn has_words(matches: &clap::ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, below)) => has_words(below),
        None => matches
            .try_get_many::<String>(WORDS)
            .is_ok_and(|words| words.is_some_and(|words| words.len() > 0)),
    }
}

/// The index of the argument that a TEXT begins with.
fn place_of_text(root: &Command, arguments: &[OsString]) -> Option<usize> {
    let mut command = root;
    let mut options: Vec<&Arg> = root.get_arguments().collect();
    let mut positionals = 0;
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        let text = argument.to_str();
        if positionals > 0 && text_follows(command, positionals) {
            return Some(at);
        }
        match text {
            Some("--") => return None,
            Some(text) if text.len() > 1 && text.starts_with('-') => {
                at += usize::from(takes_next(text, &options)?)
            }
            _ => match command.find_subcommand(argument) {
                Some(below) if positionals == 0 => {
                    command = below;
                    options.extend(below.get_arguments());
                }
                _ => positionals += 1,
            },
        }
        at += 1;
    }
    None
}

/// True if the command takes a TEXT after this many positional arguments.
fn text_follows(command: &Command, positionals: usize) -> bool {
    let next = command.get_positionals().nth(positionals);
    next.is_some_and(|next| next.get_id() == WORDS)
}

/// True if the option's value is the next argument. `None` if there is no such option.
fn takes_next(text: &str, options: &[&Arg]) -> Option<bool> {
    let takes_value =
        |option: &Arg| matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    if let Some(long) = text.strip_prefix("--") {
        let (name, has_value) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        let is_it = |option: &&&Arg| {
            option
                .get_long_and_visible_aliases()
                .is_some_and(|names| names.contains(&name))
        };
        if name == "help" {
            return Some(false);
        }
        return Some(takes_value(options.iter().find(is_it)?) && !has_value);
    }
    let shorts: Vec<char> = text.chars().skip(1).collect();
    for (place, short) in shorts.iter().enumerate() {
        if *short == 'h' {
            continue;
        }
        let option = options
            .iter()
            .find(|option| option.get_short() == Some(*short))?;
        if takes_value(option) {
            return Some(place + 1 == shorts.len());
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[&str], expected: &[&str]) {
        let arguments = line.iter().map(OsString::from).collect();
        assert_eq!(protect_text(&crate::help::command(), arguments), expected);
    }

    #[test]
    fn a_text_that_looks_like_an_option_goes_behind_a_double_dash() {
        check(
            &["amemctl", "add", "t", "--file=/etc/passwd"],
            &["amemctl", "add", "t", "--", "--file=/etc/passwd"],
        );
        check(
            &["amemctl", "add", "t", "- item"],
            &["amemctl", "add", "t", "--", "- item"],
        );
        check(
            &[
                "amemctl",
                "-q",
                "add",
                "--type",
                "decision",
                "t",
                "-1 degrees",
                "--json",
            ],
            &[
                "amemctl",
                "-q",
                "add",
                "--type",
                "decision",
                "t",
                "--json",
                "--",
                "-1 degrees",
            ],
        );
        check(
            &["amemctl", "search", "t", "--force", "--limit", "3"],
            &["amemctl", "search", "t", "--limit", "3", "--", "--force"],
        );
        check(
            &[
                "amemctl",
                "add",
                "t",
                "--type",
                "fact",
                "--file=/etc/passwd",
            ],
            &[
                "amemctl",
                "add",
                "t",
                "--type",
                "fact",
                "--",
                "--file=/etc/passwd",
            ],
        );
        check(
            &["amemctl", "correct", "t", "4", "--reason", "why", "- item"],
            &[
                "amemctl", "correct", "t", "4", "--reason", "why", "--", "- item",
            ],
        );
        check(
            &["amemctl", "search", "t", "--limit", "2", "--limit 2"],
            &["amemctl", "search", "t", "--limit", "2", "--", "--limit 2"],
        );
        check(
            &["amemctl", "correct", "t", "4", "--json"],
            &["amemctl", "correct", "t", "4", "--", "--json"],
        );
    }

    #[test]
    fn options_in_their_places_and_a_double_dash_stay() {
        for line in [
            &["amemctl", "add", "t", "--type", "decision", "we stay"][..],
            &["amemctl", "add", "t", "--", "--type"],
            &["amemctl", "add", "t", "--follow", "--session", "s", "words"],
            &["amemctl", "add", "t", "--help"],
            &["amemctl", "add", "t", "-"],
            &["amemctl", "search", "t", "how", "long"],
            &["amemctl", "get", "t", "--json"],
            &["amemctl", "add", "t", "--file", "notes.txt"],
            &[
                "amemctl",
                "add",
                "t",
                "--type",
                "fact",
                "--file",
                "notes.txt",
                "--json",
            ],
            &["amemctl", "add", "t", "--type", "fact", "--json"],
        ] {
            check(line, line);
        }
    }
}
