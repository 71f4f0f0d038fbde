//! Errors of the engine.
//!
//! Errors are cloned, because one failure may answer many callers and is listed as a brain's problem as well.

use std::io;
use std::sync::Arc;

use amem_format::Error as FormatError;
use amem_store::Error as StoreError;
use uuid::Uuid;

use crate::jobs::JobKind;
use crate::limits::SUBSCRIBERS_MAX;

/// The result of an operation of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine: one variant for each thing that the caller can do about it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused, or the disk failed. Never `Core`: that is `Format`.
    #[error(transparent)]
    Store(Arc<StoreError>),
    /// The bytes or the question make no sense.
    #[error(transparent)]
    Format(Arc<FormatError>),
    /// A file may not grow: raise the limit and restart.
    #[error(
        "{0}: a limit for the size of files is reached, of amemd (`ulimit -f`, LimitFSIZE= in its unit) or of the file \
         system: raise it, and start amemd again"
    )]
    FileTooLarge(#[source] Arc<StoreError>),
    /// The folder can't be read.
    #[error("the folder can't be listed: {0}")]
    ListFolder(#[source] Arc<io::Error>),
    /// A file name can't be a brain's name.
    #[error("its name is not UTF-8 ({file}): use letters, digits, '-', '_' and '.'")]
    NameNotText {
        /// The name, with escapes.
        file: String,
    },
    /// The file under the name is not a brain yet: retry.
    #[error("{name}.amem is being adopted, or another program is still writing it: wait and retry")]
    Adopting {
        /// The brain.
        name: String,
    },
    /// The brain was closed before the request reached its writer: retry.
    #[error("the brain {name:?} was closed meanwhile: ask again")]
    Closed {
        /// The brain.
        name: String,
    },
    /// Another opening of the brain took its place: retry.
    #[error("the brain {name:?} was opened again meanwhile: ask again")]
    Reopened {
        /// The brain.
        name: String,
    },
    /// The brain closes before its checkpoint is done: retry.
    #[error("the brain is being closed: ask again")]
    Closing,
    /// The brain of the name is another than the caller means.
    #[error("the brain {name:?} is instance {found}, not {expected}")]
    ForeignInstance {
        /// The brain.
        name: String,
        /// Its instance.
        found: Uuid,
        /// The instance that the caller names.
        expected: Uuid,
    },
    /// The writer has too much to do: wait and retry.
    #[error("the writer of {name:?} is busy ({what}): wait and retry")]
    QueueFull {
        /// The brain.
        name: String,
        /// What is full.
        what: &'static str,
    },
    /// The brain has as many subscriptions as it may: end one.
    #[error("{name:?} has {SUBSCRIBERS_MAX} subscriptions, the most there may be: end one")]
    Subscribers {
        /// The brain.
        name: String,
    },
    /// As many brains are open as may be, and all are in use: close subscriptions, or raise the limit.
    #[error(
        "{max} brains are open and in use, all that the limit of open files allows: end subscriptions, or raise the \
         limit (`ulimit -n`, LimitNOFILE= in the unit) and start amemd again"
    )]
    OpenBrains {
        /// How many may be open.
        max: usize,
    },
    /// The system gives no thread for a writer.
    #[error("no thread for the writer of {name:?}: {source}")]
    WriterThread {
        /// The brain.
        name: String,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The system gives no thread for a checkpoint: retry.
    #[error("the system gives no thread for a checkpoint ({0}): free memory or threads, and retry")]
    CheckpointThread(#[source] Arc<io::Error>),
    /// The events are hidden, but the file still has their content: erase them again.
    #[error(
        "the events are hidden, but their content is still in the file ({why}): erase them again"
    )]
    ErasePending {
        /// Why there is no new generation.
        why: String,
    },
    /// Some files have the group that they had before.
    #[error("access.readers does not apply to the files of {} yet: the daemon's log says why", names.join(", "))]
    Readers {
        /// The brains.
        names: Vec<String>,
    },
    /// The job is not one of those that follow a schedule.
    #[error("{job} does not follow a schedule: say one of {}", JobKind::SCHEDULED.map(JobKind::label).join(", "))]
    NotScheduled {
        /// The job's name.
        job: &'static str,
    },
    /// The job runs already: wait for it.
    #[error("it runs already on {name:?}: wait for it")]
    JobRunning {
        /// The brain.
        name: String,
    },
    /// A scrub found damage: verify the file.
    #[error("{finding}, and {more} more: `amemctl verify {name}` shows them")]
    Damaged {
        /// The brain.
        name: String,
        /// The first finding.
        finding: String,
        /// How many there are besides.
        more: u64,
    },
    /// Work of another layer that ran as a job failed.
    #[error("{why}")]
    JobFailed {
        /// Why.
        why: String,
    },
    /// The caller left before its work began.
    #[error("the caller no longer waits for the answer")]
    Cancelled,
    /// A panic ended the work: a defect of ours.
    #[error("a defect stopped {0}; the daemon's log tells more")]
    Defect(&'static str),
}

impl Error {
    /// The writer stopped before it answered: a retry under the same request id finds out.
    pub fn outcome_unknown() -> Self {
        StoreError::OutcomeUnknown {
            why: "the brain's writer stopped".into(),
        }
        .into()
    }

    /// The store's error, if it is one.
    pub fn store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) | Self::FileTooLarge(error) => Some(error),
            _ => None,
        }
    }

    /// True if there is no brain of the name.
    pub fn is_unknown_brain(&self) -> bool {
        matches!(self.store(), Some(StoreError::NotFound { .. }))
    }

    /// True if the file under the name is yet to be adopted.
    pub(crate) fn is_not_ours(&self) -> bool {
        matches!(self.store(), Some(StoreError::Untracked { .. }))
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Format(error) => error.into(),
            StoreError::Disk { ref source, .. } if source.kind() == io::ErrorKind::FileTooLarge => {
                Self::FileTooLarge(Arc::new(error))
            }
            error => Self::Store(Arc::new(error)),
        }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Format(Arc::new(error))
    }
}
