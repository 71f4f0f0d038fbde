//! Failures: what is wrong, and what to do about it.
//!
//! One table maps the errors of amem-format to codes, exit codes and remedies.

use std::io;
use std::path::Path;

use amem_format::Error;
use amem_host::files::FileFault;

use crate::exit::Exit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// A name for scripts, in snake case. It never changes.
    pub(crate) code: &'static str,
    /// A lower-case fragment.
    pub(crate) message: String,
    pub(crate) remedy: String,
    /// Set if the change may have been made: repeated under this id, it is made once.
    pub(crate) request_id: Option<String>,
    /// What is believed now, if a change expected another event to be.
    pub(crate) head: Option<u64>,
}

impl Failure {
    pub(crate) fn new(
        exit: Exit,
        code: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            exit,
            code,
            message: message.into(),
            remedy: remedy.into(),
            request_id: None,
            head: None,
        }
    }

    /// A failure with `Exit::Refused`.
    pub(crate) fn refused(
        code: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(Exit::Refused, code, message, remedy)
    }

    /// A command line that clap rejects.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        // clap puts missing arguments and suggestions on lines of their own.
        let lines = text.lines().map(str::trim);
        let lines =
            lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let lines = lines.join(" ");
        let message = lines.strip_prefix("error: ").unwrap_or(&lines);
        Self::new(
            Exit::Usage,
            "usage",
            message,
            "`amemctl --help` lists the commands, `amemctl COMMAND --help` its options",
        )
    }

    /// An invalid argument.
    pub(crate) fn argument(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message, remedy)
    }

    /// A file that another program or person named is not read.
    pub(crate) fn file(fault: &FileFault) -> Self {
        let (code, remedy) = match fault {
            FileFault::Io { what, path, source } => return Self::io(what, path, source),
            FileFault::Link(_) => ("is_link", "name the file that the link leads to"),
            FileFault::NotRegular(_) => ("not_a_file", "copy its contents into a file first"),
            FileFault::Untrusted { .. } => (
                "untrusted_file",
                "repeat this once only you can change the file, or as the user that owns it",
            ),
            FileFault::TooLarge { .. } => ("too_large", "make the file smaller"),
            FileFault::NotText(_) => ("not_text", "save the file as UTF-8 and repeat this"),
        };
        Self::refused(code, fault.to_string(), remedy)
    }

    pub(crate) fn io(action: &str, path: &Path, error: &io::Error) -> Self {
        let path = path.display();
        let message = format!("cannot {action} {path}: {error}");
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(
                Exit::NotFound,
                "not_found",
                format!("{path} does not exist"),
                "check the path",
            ),
            io::ErrorKind::PermissionDenied => Self::new(
                Exit::Io,
                "permission_denied",
                message,
                "run this as the owner of the file, or as a member of a group that may read it",
            ),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::new(
                Exit::Io,
                "disk_full",
                message,
                "free some space, or write to another disk; nothing was changed",
            ),
            io::ErrorKind::FileTooLarge => Self::new(
                Exit::Io,
                "file_too_large",
                message,
                "raise the file size limit (`ulimit -f`), or write to a file system that takes larger files; \
                 nothing was changed",
            ),
            io::ErrorKind::ReadOnlyFilesystem => Self::new(
                Exit::Io,
                "read_only",
                message,
                "write to a file system that is not read-only",
            ),
            _ => Self::new(
                Exit::Io,
                "io",
                message,
                "correct the cause that the system reports",
            ),
        }
    }

    /// For `amemctl verify`: the remedy must not be to run it.
    pub(crate) fn of_verify(self) -> Self {
        if self.remedy != DAMAGED {
            return self;
        }
        let remedy = "`amemctl repair FILE NEW` saves what is intact".to_owned();
        Self { remedy, ..self }
    }

    /// The reader of stdout is gone; that is no failure.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.code == CLOSED_PIPE
    }

    pub(crate) fn output(error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::BrokenPipe => CLOSED_PIPE,
            _ => "output",
        };
        let message = format!("cannot write the answer: {error}");
        let remedy = "check where the output goes; a requested change may have been made";
        Self::new(Exit::Io, code, message, remedy)
    }
}

const CLOSED_PIPE: &str = "closed_pipe";
const DAMAGED: &str =
    "`amemctl verify FILE` shows the extent, `amemctl repair FILE NEW` saves what is intact";

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let damaged = |code, message| Self::new(Exit::Damaged, code, message, DAMAGED);
        match error {
            Error::Io {
                action,
                path,
                source,
            } => Self::io(action, &path, &source),
            Error::Magic { found } => Self::new(
                Exit::Damaged,
                "not_amem",
                format!("not an .amem file: it begins with {found:02x?} instead of \"AMEM\""),
                "name a brain; `amemctl import` also reads its own JSON lines",
            ),
            Error::Version { found } => Self::new(
                Exit::Damaged,
                "version",
                format!("version {found} of the .amem format is unknown (this build reads 1)"),
                "use an amemctl that reads it, or export the brain there as JSON lines",
            ),
            error @ (Error::Newer { .. } | Error::NewerWrites { .. }) => Self::new(
                Exit::Damaged,
                "version",
                error.to_string(),
                "update amemd and amemctl; nothing is damaged, and nothing has to be repaired",
            ),
            Error::Spec1 => Self::refused(
                "spec1",
                "this is a spec-1 file; a native one is needed",
                "convert it: `amemctl import --format spec-1 FILE NEW`",
            ),
            Error::Neither { native, spec1 } => {
                let [native, spec1] = [*native, *spec1].map(|e| Self::from(e).message);
                damaged(
                    "no_layout",
                    format!(
                        "neither a native nor a spec-1 file: as native, {native}; as spec-1, {spec1}"
                    ),
                )
            }
            Error::Foreign => Self::refused(
                "foreign",
                "this file was not written by amemd",
                "convert it: `amemctl import FILE NEW`",
            ),
            Error::Truncated { what, needed, len } => damaged(
                "truncated",
                format!("truncated: {what} needs bytes up to {needed}, the file has {len}"),
            ),
            Error::Corrupt { what, offset, why } => {
                damaged("damaged", format!("damaged {what} at byte {offset}: {why}"))
            }
            other => Self::of_request(other),
        }
    }
}

impl Failure {
    /// Errors in the request, not in the file.
    fn of_request(error: Error) -> Self {
        match error {
            Error::Limit { what, value, max } => Self::refused(
                "limit",
                format!("{what} is {value}, more than the limit of {max}"),
                "make it smaller, or split it",
            ),
            Error::UnknownEvent { id, count } => {
                let range = match count.checked_sub(1) {
                    Some(last) => format!("it has events 0 to {last}"),
                    None => "it has none".to_owned(),
                };
                Self::new(
                    Exit::NotFound,
                    "unknown_event",
                    format!("there is no event {id} in this brain: {range}"),
                    "`amemctl ls FILE` lists events",
                )
            }
            Error::Forgotten { id } => Self::new(
                Exit::NotFound,
                "forgotten",
                format!("event {id} is forgotten"),
                "ask with --include-forgotten",
            ),
            Error::UnknownLsn { asked, last } => Self::new(
                Exit::NotFound,
                "unknown_lsn",
                format!("LSN {asked} is not in this brain: it reaches from 0 to {last}"),
                "`amemctl info FILE` shows the newest",
            ),
            Error::Dimension { expected, found } => Self::refused(
                "dimension",
                format!("a vector has {found} dimensions, others have {expected}"),
                "embed all texts with one model",
            ),
            Error::Space { expected, found } => Self::refused(
                "space",
                format!("a vector is of space {found}, others are of {expected}"),
                "embed all texts with one model",
            ),
            Error::MustDrop { generation } => Self::new(
                Exit::NotFound,
                "replaced",
                format!("generation {generation} was replaced while it was read"),
                "ask again",
            ),
            superseded @ Error::Superseded { .. } => Self::new(
                Exit::NotFound,
                "replaced",
                superseded.to_string(),
                "give the path at which the brain is now",
            ),
            Error::Invalid { what, why } => Self::refused(
                "invalid",
                format!("{what}: {why}"),
                "see `amemctl COMMAND --help`",
            ),
            other => Self::refused("invalid", other.to_string(), "see `amemctl --help`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_fragments_and_every_failure_has_a_remedy() {
        let errors = [
            Error::Magic {
                found: *b"PK\x03\x04",
            },
            Error::Version { found: 2 },
            Error::Spec1,
            Error::Foreign,
            Error::corrupt("text", 7, "odd"),
            Error::invalid("time", "odd"),
            Error::Limit {
                what: "text",
                value: 2,
                max: 1,
            },
        ];
        for error in errors {
            let failure = Failure::from(error);
            let first = failure.message.chars().next().unwrap();
            assert!(!first.is_uppercase(), "{failure:?}");
            assert!(!failure.message.ends_with('.') && !failure.remedy.is_empty());
            assert!(failure.exit.code() > 2, "{failure:?}");
        }
    }
}
