//! A brain that can be asked: a file, or one of a daemon by its name; the same questions, the same answers.
//!
//! Promises: an answer and a refusal are the same either way (`amem_client::Question`); what a command used of a
//! daemon's brain is counted before it ends. Not here: how a daemon is found (`reach`), other layouts (`source`).

use std::time::Duration;

use amem_client::core::view::View;
use amem_client::{Brain, Client, Question, Retry, v1};

use crate::brain::source::BrainFile;
use crate::brain::target::Target;
use crate::connection::remote::Remote;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::Context;
use crate::render::TextPage;

/// How long a daemon is waited for that is followed: longer than anybody watches.
const PATIENCE: Duration = Duration::from_secs(365 * 24 * 3600);

/// An open brain.
pub(crate) enum OpenBrain {
    /// A file.
    File(Box<BrainFile>),
    /// A daemon's.
    Served(DaemonBrain),
}

/// A brain of a daemon.
pub(crate) struct DaemonBrain {
    pub(crate) brain: Brain,
    /// Which one it is, as of when it was opened.
    named: BrainName,
}

impl OpenBrain {
    /// Opens a brain.
    pub(crate) fn open(cx: &mut Context, target: &Target) -> Result<Self, Failure> {
        match target {
            Target::Path(path) => Ok(Self::File(Box::new(BrainFile::open(path)?))),
            Target::Name(name) => Ok(Self::Served(DaemonBrain::open(cx.daemon()?, name)?)),
        }
    }

    /// Answers a question.
    pub(crate) fn ask<Q: Question>(
        &self,
        cx: &mut Context,
        question: Q,
    ) -> Result<Q::Answer, Failure> {
        match self {
            Self::File(source) => Ok(question.ask(&source.view)?.answer),
            Self::Served(served) => Ok(cx.daemon()?.wait(served.brain.ask(question))?),
        }
    }

    /// The newest view, where the file can be read: for what no question asks.
    pub(crate) fn view(&self) -> Result<View, Failure> {
        match self {
            Self::File(source) => Ok(source.view.clone()),
            Self::Served(served) => match served.brain.reader() {
                Some(reader) => Ok(reader.view()?),
                None => Err(served.not_direct("this")),
            },
        }
    }

    /// Its file, for what is only in files; `what` is that.
    pub(crate) fn into_file(self, what: &str) -> Result<BrainFile, Failure> {
        match self {
            Self::File(source) => Ok(*source),
            Self::Served(served) if served.brain.is_direct() => {
                BrainFile::of_daemon(served.named())
            }
            Self::Served(served) => Err(served.not_direct(what)),
        }
    }

    /// A daemon's brain, for what a file can't do.
    pub(crate) fn served(&self) -> Result<&DaemonBrain, Failure> {
        match self {
            Self::Served(served) => Ok(served),
            Self::File(source) => Err(only_amemd(&source.named.path)),
        }
    }

    /// Which brain an answer is from, at the moment that the answer names.
    pub(crate) fn named(&self, moment: Option<&v1::Moment>) -> BrainName {
        let mut named = match self {
            Self::File(source) => return source.named.clone(),
            Self::Served(served) => served.named.clone(),
        };
        if let Some(moment) = moment {
            named.saw(moment);
        }
        named
    }

    /// What there is to know about the file, for people.
    pub(crate) fn write_notes(&self, page: &mut TextPage) {
        if let Self::File(source) = self {
            source.write_notes(page);
        }
    }

    /// Waits until the uses of events that were counted are kept. The answer is out by then: that they are not kept is
    /// no failure of it.
    pub(crate) fn close(self, cx: &mut Context) {
        let Self::Served(served) = self else {
            return;
        };
        let kept = cx
            .daemon()
            .and_then(|remote| Ok(remote.wait(served.brain.close())?));
        if let Err(failure) = kept {
            cx.note(&format!(
                "note: that these events were used is not counted: {}",
                crate::render::printable(&failure.message)
            ));
        }
    }
}

impl DaemonBrain {
    /// Which one it is, as of when it was opened.
    pub(crate) fn named(&self) -> &BrainName {
        &self.named
    }

    /// Refuses what only its file tells, where that can't be read.
    pub(crate) fn not_direct(&self, what: &str) -> Failure {
        Failure::refused(
            "not_direct",
            format!(
                "{what} is read from the brain's file, and {} can't be read from here",
                self.named.path
            ),
            "ask on the machine of the daemon, as a user who may read its files",
        )
    }

    /// Opens a daemon's brain.
    pub(crate) fn open(remote: &Remote, name: &str) -> Result<Self, Failure> {
        Self::open_with(remote, &remote.client, name)
    }

    /// The same, to be followed for as long as it takes: however long the daemon is away, it is waited for.
    pub(crate) fn open_for_good(remote: &Remote, name: &str) -> Result<Self, Failure> {
        let patient = remote.client.clone().with_retry(Retry {
            until: PATIENCE,
            ..Retry::default()
        });
        Self::open_with(remote, &patient, name)
    }

    fn open_with(remote: &Remote, client: &Client, name: &str) -> Result<Self, Failure> {
        let opening = remote.wait(client.brain(name));
        let brain = opening.map_err(|error| or_a_file(Failure::from(error), name))?;
        Ok(Self {
            named: BrainName::served(brain.opened()),
            brain,
        })
    }
}

/// Refuses a change, or what else only amemd does, to a file.
pub(crate) fn only_amemd(file: impl std::fmt::Display) -> Failure {
    Failure::refused(
        "file",
        format!("{file} is a file, and only amemd writes brains"),
        "name a brain of amemd (`amemctl brain ls`); `amemctl import FILE NAME` makes one of a file",
    )
}

/// Says so if a file of the name of an unknown brain stands there.
fn or_a_file(mut failure: Failure, name: &str) -> Failure {
    if failure.code == "unknown_brain" && Target::hides_a_file(name) {
        failure.remedy = format!("`./{name}` means the file of that name; {}", failure.remedy);
    }
    failure
}
