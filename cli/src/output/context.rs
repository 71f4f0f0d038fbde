//! The output of a command: text for people, or the JSON envelope.
//!
//! The envelope is one line on stdout, the same for every command:
//! `{"amemctl":2,"command":…,"brain":{…}|null,"data":{…}}`, or with `error` (code, message, remedy, exit) instead of
//! `brain` and `data`. What the daemon answers is in `data` as REST answers it. Keys are added over time; none is
//! removed while `amemctl` is 2.

use std::fmt::Write as _;
use std::io::{BufWriter, IsTerminal, Stdout, Write, stderr, stdout};
use std::path::Path;

use amem_client::json::{self as json_of, JsonError};
use prost::{Message, Name};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::connection::flags::ConnectionArgs;
use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::json::escape;
use crate::json::event::odd;
use crate::render::{Style, TextPage, printable, printable_lines};

const ENVELOPE: u32 = 2;

/// Output and connection of a command.
pub(crate) struct CommandContext {
    json: bool,
    command: String,
    out: BufWriter<Stdout>,
    style: Style,
    is_quiet: bool,
    reach: ConnectionArgs,
    remote: Option<Remote>,
    /// True once a daemon was reached.
    was_reached: bool,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    amemctl: u32,
    command: &'a str,
    brain: Option<&'a BrainName>,
    data: &'a T,
}

impl CommandContext {
    pub(crate) fn new(json: bool, is_quiet: bool, command: String, reach: ConnectionArgs) -> Self {
        Self {
            json,
            command,
            style: Style::of(stdout().is_terminal()).quiet(is_quiet),
            out: BufWriter::new(stdout()),
            is_quiet,
            reach,
            remote: None,
            was_reached: false,
        }
    }

    /// Connects on the first call; starts the daemon if none runs.
    pub(crate) fn daemon(&mut self) -> Result<&Remote, Failure> {
        if self.remote.is_none() {
            let reached = self.reach.connect()?;
            if let Some(note) = reached.note {
                self.note(&note);
            }
            self.remote = Some(reached.remote);
            self.was_reached = true;
        }
        self.remote.as_ref().ok_or_else(|| {
            let remedy = "report it, with the command that was given";
            Failure::new(Exit::Io, "defect", "the connection is not there", remedy)
        })
    }

    /// True once a daemon was reached: it may be there again in a moment.
    pub(crate) fn was_reached(&self) -> bool {
        self.was_reached
    }

    /// Connects again, to the daemon that runs now; `starts` allows to start it as the first connection may.
    pub(crate) fn reconnect(&mut self, starts: bool) -> Result<(), Failure> {
        self.remote = None;
        if starts {
            return self.daemon().map(drop);
        }
        self.remote = Some(self.reach.running()?);
        Ok(())
    }

    pub(crate) fn reach(&self) -> &ConnectionArgs {
        &self.reach
    }

    /// Connects to this socket instead.
    pub(crate) fn reach_at(&mut self, socket: &Path) {
        self.reach.socket = Some(socket.to_owned());
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Whether stderr is a terminal and --quiet and --json are not given.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.json && !self.is_quiet && stderr().is_terminal()
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn is_terminal(&self) -> bool {
        stdout().is_terminal()
    }

    /// Prints `data` in an envelope, or the page that `text` writes.
    pub(crate) fn answer<T: Serialize>(
        &mut self,
        brain: Option<&BrainName>,
        data: &T,
        text: impl FnOnce(&mut TextPage),
    ) -> Result<(), Failure> {
        if self.json {
            let answer = Envelope {
                amemctl: ENVELOPE,
                command: &self.command,
                brain,
                data,
            };
            let line = json_line(&answer)?;
            return self.raw(&line);
        }
        let mut page = self.page();
        text(&mut page);
        self.text(&page)
    }

    /// As `answer`, but silent with --quiet: for changes.
    pub(crate) fn done<T: Serialize>(
        &mut self,
        brain: Option<&BrainName>,
        data: &T,
        text: impl FnOnce(&mut TextPage),
    ) -> Result<(), Failure> {
        if self.is_quiet && !self.json {
            return Ok(());
        }
        self.answer(brain, data, text)
    }

    /// Prints a message as REST answers it, in an envelope, or the page that `text` writes.
    pub(crate) fn message<M: Message + Name>(
        &mut self,
        brain: Option<&BrainName>,
        message: &M,
        text: impl FnOnce(&mut TextPage),
    ) -> Result<(), Failure> {
        if self.json {
            return self.answer(brain, &raw_json(message)?, |_| ());
        }
        let mut page = self.page();
        text(&mut page);
        self.text(&page)
    }

    /// Prints an object, which is made only if it is printed, or the page that `text` writes.
    pub(crate) fn object(
        &mut self,
        brain: Option<&BrainName>,
        object: impl FnOnce() -> Result<Value, Failure>,
        text: impl FnOnce(&mut TextPage),
    ) -> Result<(), Failure> {
        let data = if self.json { object()? } else { Value::Null };
        self.answer(brain, &data, text)
    }

    /// As `message`, but silent with --quiet: for changes.
    pub(crate) fn changed<M: Message + Name>(
        &mut self,
        brain: Option<&BrainName>,
        message: &M,
        text: impl FnOnce(&mut TextPage),
    ) -> Result<(), Failure> {
        if self.is_quiet && !self.json {
            return Ok(());
        }
        self.message(brain, message, text)
    }

    pub(crate) fn page(&self) -> TextPage {
        TextPage::new(self.style)
    }

    pub(crate) fn text(&mut self, page: &TextPage) -> Result<(), Failure> {
        self.out
            .write_all(page.as_str().as_bytes())
            .map_err(|e| Failure::output(&e))
    }

    pub(crate) fn line<T: Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        self.raw(&json_line(value)?)
    }

    /// A line with a message as JSON.
    pub(crate) fn message_line<M: Message + Name>(&mut self, message: &M) -> Result<(), Failure> {
        self.line(&raw_json(message)?)
    }

    fn raw(&mut self, line: &str) -> Result<(), Failure> {
        self.out
            .write_all(line.as_bytes())
            .map_err(|e| Failure::output(&e))
    }

    /// For raw bytes.
    pub(crate) fn stream(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// A line on stderr, beside an answer on stdout.
    pub(crate) fn note(&self, text: &str) {
        if !self.is_quiet {
            // Ignored if stderr is closed.
            let _unseen = writeln!(stderr(), "{}", printable_lines(text));
        }
    }

    /// Flushes stdout.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|e| Failure::output(&e))
    }

    /// Fills in the name of the command.
    fn named(&self, remedy: &str) -> String {
        if self.command.is_empty() {
            remedy.to_owned()
        } else {
            remedy.replace("COMMAND --help", &format!("{} --help", self.command))
        }
    }

    /// Reports a failure.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Exit {
        if failure.is_closed_pipe() {
            return Exit::Ok;
        }
        let remedy = self.named(&failure.remedy);
        if self.json {
            let mut error = json!({
                "code": failure.code,
                "message": failure.message,
                "remedy": remedy,
                "exit": failure.exit.code(),
            });
            if let Some(request_id) = &failure.request_id {
                error["requestId"] = request_id.as_str().into();
            }
            let refusal = json!({"amemctl": ENVELOPE, "command": self.command, "error": error});
            let printed = json_line(&refusal)
                .and_then(|line| self.raw(&line))
                .and_then(|()| self.finish());
            if printed.is_err() {
                // Stdout is what failed; stderr may still work.
                let message = printable(&failure.message);
                let _unseen = writeln!(stderr(), "error: {message}");
            }
        } else {
            // Earlier output comes first.
            let _unseen = self.finish();
            let mut text = String::new();
            let _infallible = write!(
                text,
                "error: {}\nremedy: {}",
                printable(&failure.message),
                printable(&remedy)
            );
            let _unseen = writeln!(stderr(), "{text}");
        }
        failure.exit
    }
}

fn raw_json<M: Message + Name>(message: &M) -> Result<Box<RawValue>, Failure> {
    let text = json_of::text(message).map_err(|why| inexpressible(&why))?;
    RawValue::from_string(text).map_err(|why| odd("JSON", why))
}

/// A message within an answer of amemctl's own.
pub(crate) fn message_json<M: Message + Name>(message: &M) -> Result<Value, Failure> {
    json_of::value(message).map_err(|why| inexpressible(&why))
}

/// An answer that protobuf's JSON cannot express: REST refuses it, too.
fn inexpressible(why: &JsonError) -> Failure {
    match why {
        JsonError::Value(..) => Failure::refused(
            "json",
            format!("the answer has no form in JSON: {why}"),
            "leave --json out: the text shows times before the year 1 and after 9999",
        ),
        other => odd("JSON", other),
    }
}

/// Messages within an answer of amemctl's own.
pub(crate) fn messages_json<M: Message + Name>(messages: &[M]) -> Result<Value, Failure> {
    messages.iter().map(message_json).collect()
}

fn json_line<T: Serialize>(value: &T) -> Result<String, Failure> {
    escape::to_line(value).map_err(|e| Failure::output(&e))
}
