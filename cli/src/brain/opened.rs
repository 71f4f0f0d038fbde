//! An open brain: a file, or a brain of the daemon. The same queries give the same answers.
//!
//! Promises: answers and refusals are the same either way (`amem_client::Question`); uses of events are sent to the
//! daemon before a command ends.
//!
//! Not here: finding a daemon (`connection`), other layouts (`source`).

use std::time::Duration;

use amem_client::core::view::View;
use amem_client::{Brain, Client, Question, Retry, v1};

use crate::brain::source::BrainSource;
use crate::brain::target::BrainTarget;
use crate::connection::remote::Remote;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::CommandContext;
use crate::render::TextPage;

/// How long `watch` waits for a daemon that is away.
const PATIENCE: Duration = Duration::from_secs(365 * 24 * 3600);

pub(crate) enum BrainHandle {
    File(Box<BrainSource>),
    Served(DaemonBrain),
}

pub(crate) struct DaemonBrain {
    pub(crate) brain: Brain,
    /// As of when it was opened.
    named: BrainName,
}

impl BrainHandle {
    pub(crate) fn open(cx: &mut CommandContext, target: &BrainTarget) -> Result<Self, Failure> {
        match target {
            BrainTarget::Path(path) => Ok(Self::File(Box::new(BrainSource::open(path)?))),
            BrainTarget::Name(name) => Ok(Self::Served(DaemonBrain::open(cx.daemon()?, name)?)),
        }
    }

    pub(crate) fn ask<Q: Question>(
        &self,
        cx: &mut CommandContext,
        question: Q,
    ) -> Result<Q::Answer, Failure> {
        match self {
            Self::File(source) => Ok(question.ask(&source.view)?.answer),
            Self::Served(served) => Ok(cx.daemon()?.wait(served.brain.ask(question))?),
        }
    }

    /// The newest view, for what no query returns. Refused if the file cannot be read.
    pub(crate) fn view(&self) -> Result<View, Failure> {
        match self {
            Self::File(source) => Ok(source.view.clone()),
            Self::Served(served) => match served.brain.reader() {
                Some(reader) => Ok(reader.view()?),
                None => Err(served.not_direct("this")),
            },
        }
    }

    /// The file, for what only files have; `what` names that in a refusal.
    pub(crate) fn into_file(self, what: &str) -> Result<BrainSource, Failure> {
        match self {
            Self::File(source) => Ok(*source),
            Self::Served(served) if served.brain.is_direct() => {
                BrainSource::of_daemon(served.named())
            }
            Self::Served(served) => Err(served.not_direct(what)),
        }
    }

    /// The daemon's brain, for what files cannot do.
    pub(crate) fn served(&self) -> Result<&DaemonBrain, Failure> {
        match self {
            Self::Served(served) => Ok(served),
            Self::File(source) => Err(only_amemd(&source.named.path)),
        }
    }

    /// The brain at the moment of an answer.
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

    pub(crate) fn write_notes(&self, page: &mut TextPage) {
        if let Self::File(source) = self {
            source.write_notes(page);
        }
    }

    /// Sends counted uses of events. The answer is printed by then: a failure is only noted.
    pub(crate) fn close(self, cx: &mut CommandContext) {
        let Self::Served(served) = self else {
            return;
        };
        let kept = cx
            .daemon()
            .and_then(|remote| Ok(remote.wait(served.brain.close())?));
        if let Err(failure) = kept {
            cx.note(&format!(
                "note: the use of these events was not counted: {}",
                crate::render::printable(&failure.message)
            ));
        }
    }
}

impl DaemonBrain {
    /// As of when it was opened.
    pub(crate) fn named(&self) -> &BrainName {
        &self.named
    }

    /// Refuses what only the file has, because the file cannot be read.
    pub(crate) fn not_direct(&self, what: &str) -> Failure {
        Failure::refused(
            "not_direct",
            format!(
                "{what} is read from the brain's file, and {} cannot be read from here",
                self.named.file()
            ),
            "run this on the machine of the daemon, as a user who may read its files",
        )
    }

    pub(crate) fn open(remote: &Remote, name: &str) -> Result<Self, Failure> {
        Self::open_with(remote, &remote.client, name)
    }

    /// Waits however long the daemon is away.
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

pub(crate) fn only_amemd(file: impl std::fmt::Display) -> Failure {
    Failure::refused(
        "file",
        format!("{file} is a file, and only amemd writes brains"),
        "name a brain of amemd (`amemctl brain ls`); `amemctl import FILE NAME` imports a file",
    )
}

/// Suggests the file of that name, if there is one.
fn or_a_file(mut failure: Failure, name: &str) -> Failure {
    if failure.code == "unknown_brain" && BrainTarget::hides_a_file(name) {
        failure.remedy = format!("`./{name}` means the file of that name; {}", failure.remedy);
    }
    failure
}
