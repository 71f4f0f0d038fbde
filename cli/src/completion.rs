//! Completion of a command line: which argument the cursor is in, and what may stand there.
//!
//! Everything follows from the tree of commands and the types of their arguments, so that a new command completes
//! without more. Not here: looking up brains and sessions (`command::complete`), the scripts of the shells
//! (`cli/completions`).

use std::any::TypeId;
use std::path::PathBuf;

use amem_format::types::{EdgeType, EventType};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};

use crate::args::event_id::EventId;
use crate::brain::target::BrainTarget;

/// A word that may stand at the cursor, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) word: String,
    pub(crate) about: String,
}

impl Candidate {
    pub(crate) fn new(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            word: word.into(),
            about: about.into(),
        }
    }
}

/// What may stand at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WantedWords {
    /// One of these.
    Words(Vec<Candidate>),
    /// A brain of amemd; a file, too, if `or_file`.
    Brain { or_file: bool },
    /// A session of the brain.
    Session,
    /// The path of a file.
    File,
    /// Text, a number: the user knows.
    Anything,
}

/// The words of a command line up to the cursor, understood.
#[derive(Debug)]
pub(crate) struct CompletionPoint {
    pub(crate) wanted: WantedWords,
    /// What precedes the value in its word, as in `--type=`.
    pub(crate) front: String,
    /// The begin of the value.
    pub(crate) begun: String,
    /// The brain that is named before the cursor.
    pub(crate) brain: Option<String>,
    /// The value of --socket before the cursor.
    pub(crate) socket: Option<String>,
}

/// `words` begins with the program; the last one is the word at the cursor, maybe empty.
pub(crate) fn at_cursor(root: &Command, words: &[String]) -> CompletionPoint {
    let (typed, last) = match words.split_last() {
        Some((last, before)) => (before.get(1..).unwrap_or_default(), last.as_str()),
        None => (&[][..], ""),
    };
    let line = TypedLine::read(root, typed);
    let (wanted, front, begun) = line.at(last);
    CompletionPoint {
        wanted,
        front,
        begun,
        brain: line.brain,
        socket: line.socket,
    }
}

/// The words before the cursor.
struct TypedLine<'a> {
    command: &'a Command,
    /// Options of the command and of those above it.
    options: Vec<&'a Arg>,
    positionals: usize,
    /// The option whose value is next.
    open: Option<&'a Arg>,
    only_positionals: bool,
    brain: Option<String>,
    socket: Option<String>,
}

impl<'a> TypedLine<'a> {
    fn read(root: &'a Command, words: &[String]) -> Self {
        let mut line = Self {
            command: root,
            options: options(root).collect(),
            positionals: 0,
            open: None,
            only_positionals: false,
            brain: None,
            socket: None,
        };
        for word in words {
            line.take(word);
        }
        line
    }

    fn take(&mut self, word: &str) {
        if let Some(option) = self.open.take() {
            return self.note(option, word);
        }
        if self.only_positionals {
            return self.positional(word);
        }
        match word {
            "--" => self.only_positionals = true,
            _ if word.starts_with("--") => {
                let (name, value) = match word[2..].split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (&word[2..], None),
                };
                match (self.long(name), value) {
                    (Some(option), Some(value)) => self.note(option, value),
                    (Some(option), None) if takes_value(option) => self.open = Some(option),
                    _ => {}
                }
            }
            _ if word.len() > 1 && word.starts_with('-') => {
                let last = word.chars().last();
                let option = self.options.iter().find(|arg| arg.get_short() == last);
                self.open = option.copied().filter(|option| takes_value(option));
            }
            _ => self.positional(word),
        }
    }

    fn positional(&mut self, word: &str) {
        if let Some(below) = self
            .command
            .find_subcommand(word)
            .filter(|_| self.positionals == 0)
        {
            self.command = below;
            self.options.extend(options(below));
            return;
        }
        if let Some(arg) = self.command.get_positionals().nth(self.positionals) {
            self.note(arg, word);
        }
        self.positionals += 1;
    }

    fn note(&mut self, arg: &Arg, value: &str) {
        if arg.get_id() == "socket" {
            self.socket = Some(value.to_owned());
        } else if self.brain.is_none() && matches!(self.of(arg), WantedWords::Brain { .. }) {
            self.brain = Some(value.to_owned());
        }
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        let mut options = self.options.iter().copied();
        options.find(|option| {
            option
                .get_long_and_visible_aliases()
                .is_some_and(|names| names.contains(&name))
        })
    }

    /// What may stand at the cursor, what precedes it in the word, and the begin of it.
    fn at(&self, last: &str) -> (WantedWords, String, String) {
        if let Some(option) = self.open {
            return (self.of(option), String::new(), last.to_owned());
        }
        if last.starts_with('-') && !self.only_positionals {
            if let Some((name, begun)) = last.split_once('=') {
                let option = self.long(name.trim_start_matches('-'));
                let wanted = option.map_or(WantedWords::Anything, |option| self.of(option));
                return (wanted, format!("{name}="), begun.to_owned());
            }
            return (self.all_options(), String::new(), last.to_owned());
        }
        let begun = (String::new(), last.to_owned());
        let next = self.command.get_positionals().nth(self.positionals);
        let last_one = self.command.get_positionals().last();
        let repeated = last_one.filter(|arg| matches!(arg.get_action(), ArgAction::Append));
        let wanted = match next.or(repeated) {
            _ if self.positionals == 0 && self.command.has_subcommands() => self.subcommands(),
            Some(arg) => self.of(arg),
            None => WantedWords::Anything,
        };
        (wanted, begun.0, begun.1)
    }

    fn subcommands(&self) -> WantedWords {
        let shown = self
            .command
            .get_subcommands()
            .filter(|of| !of.is_hide_set());
        let candidate = |of: &Command| Candidate::new(of.get_name(), about(of.get_about()));
        WantedWords::Words(shown.map(candidate).collect())
    }

    fn all_options(&self) -> WantedWords {
        let shown = self.options.iter().filter(|option| !option.is_hide_set());
        let named = shown.filter_map(|option| {
            let name = option.get_long()?;
            Some(Candidate::new(
                format!("--{name}"),
                about(option.get_help()),
            ))
        });
        let mut words: Vec<_> = named.collect();
        words.push(Candidate::new("--help", "Print help"));
        WantedWords::Words(words)
    }

    /// The name of the value that is begun: an argument of several values may name each.
    fn value_name<'n>(&self, arg: &'n Arg) -> &'n str {
        let mut positionals = self.command.get_positionals();
        let first = positionals.position(|other| other.get_id() == arg.get_id());
        let at = first.map_or(0, |first| self.positionals.saturating_sub(first));
        let names = arg.get_value_names().unwrap_or_default();
        names
            .get(at)
            .or(names.last())
            .map_or("", |name| name.as_str())
    }

    fn of(&self, arg: &Arg) -> WantedWords {
        let parser: &ValueParser = arg.get_value_parser();
        let is = |of: TypeId| parser.type_id() == of;
        let id = arg.get_id().as_str();
        if let Some(values) = parser.possible_values().filter(|_| takes_value(arg)) {
            let shown = values.filter(|value| !value.is_hide_set());
            let candidate = |value: clap::builder::PossibleValue| {
                Candidate::new(value.get_name(), about(value.get_help()))
            };
            return WantedWords::Words(shown.map(candidate).collect());
        }
        let value_name = self.value_name(arg);
        if is(TypeId::of::<BrainTarget>()) {
            return WantedWords::Brain { or_file: true };
        }
        if matches!(id, "brain" | "brains")
            || value_name == "BRAIN"
            || (id == "name" && ["rm", "restore"].contains(&self.command.get_name()))
        {
            return WantedWords::Brain { or_file: false };
        }
        if is(TypeId::of::<EdgeType>()) {
            return edge_types("");
        }
        if value_name.starts_with("TYPE:") {
            return edge_types(":");
        }
        if is(TypeId::of::<EventType>()) {
            return event_types();
        }
        if is(TypeId::of::<EventId>()) {
            let last = Candidate::new("last", "the newest event");
            return WantedWords::Words(vec![last]);
        }
        if value_name == "SESSION" {
            return WantedWords::Session;
        }
        if is(TypeId::of::<PathBuf>()) {
            return WantedWords::File;
        }
        WantedWords::Anything
    }
}

fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let arguments = command.get_arguments();
    arguments.filter(|arg| !arg.is_positional())
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    first.trim_end_matches('.').to_owned()
}

/// The types that this version knows.
fn edge_types(end: &str) -> WantedWords {
    let known = (0..=u8::MAX).map(|number| EdgeType(number).to_string());
    let known = known.filter(|name| !name.starts_with("type-"));
    WantedWords::Words(known.map(|name| Candidate::new(name + end, "")).collect())
}

fn event_types() -> WantedWords {
    let known = (0..=u8::MAX).map(|number| EventType(number).to_string());
    let known = known.filter(|name| !name.starts_with("type-"));
    WantedWords::Words(known.map(|name| Candidate::new(name, "")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn point(line: &str) -> CompletionPoint {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        at_cursor(&crate::help::command(), &words)
    }

    #[track_caller]
    fn words(line: &str) -> Vec<String> {
        let point = point(line);
        match point.wanted {
            WantedWords::Words(all) => {
                let words = all.into_iter().map(|candidate| candidate.word);
                words
                    .filter(|word| word.starts_with(&point.begun))
                    .collect()
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn commands_options_and_types_are_completed() {
        assert_eq!(words("amemctl time"), ["timeline"]);
        assert_eq!(words("amemctl brain s"), ["show", "set"]);
        assert_eq!(
            words("amemctl query work --inc"),
            ["--include-forgotten", "--include-compressed"]
        );
        assert_eq!(words("amemctl query work --type dec"), ["decision"]);
        assert_eq!(words("amemctl query work --type=dec"), ["decision"]);
        assert_eq!(words("amemctl link work 12 caus"), ["caused-by"]);
        assert_eq!(words("amemctl traverse work 12 --edge supp"), ["supports"]);
        assert_eq!(words("amemctl add work --link supp"), ["supports:"]);
        assert_eq!(words("amemctl jobs work --run exp"), ["expire"]);
        assert_eq!(words("amemctl why work la"), ["last"]);
        assert_eq!(words("amemctl completions z"), ["zsh"]);
    }

    #[test]
    fn brains_sessions_and_files_are_known_by_the_place() {
        for line in ["amemctl info w", "amemctl --json why w", "amemctl -q add "] {
            assert_eq!(
                point(line).wanted,
                WantedWords::Brain { or_file: true },
                "{line}"
            );
        }
        for line in [
            "amemctl brain rm w",
            "amemctl brain restore w",
            "amemctl jobs w",
            "amemctl token create t --brain w",
        ] {
            assert_eq!(
                point(line).wanted,
                WantedWords::Brain { or_file: false },
                "{line}"
            );
        }
        let session = point("amemctl query work --session st");
        assert_eq!(session.wanted, WantedWords::Session);
        assert_eq!(
            (session.brain.as_deref(), &*session.begun),
            (Some("work"), "st")
        );
        assert_eq!(
            point("amemctl sessions show work st").wanted,
            WantedWords::Session
        );
        assert_eq!(point("amemctl add work --file x").wanted, WantedWords::File);
        assert_eq!(
            point("amemctl add work some text").wanted,
            WantedWords::Anything
        );
        let socket = point("amemctl --socket /s/x.sock info w").socket;
        assert_eq!(socket.as_deref(), Some("/s/x.sock"));
    }
}
