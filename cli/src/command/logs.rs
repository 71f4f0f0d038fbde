//! `amemctl logs`: the log of the daemon, where it is a file or the journal of systemd.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use amem_client::{paths, v1};
use amem_host::child::foreign_command;
use clap::Args;

use crate::connection::autostart;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::service::launchd_log;

/// Bytes at the end of a file among which the last lines are looked for.
const TAIL_BYTES_MAX: u64 = 4 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Where the daemon logs to systemd.
const JOURNAL: &str = "journal";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl logs
  amemctl logs -f
  amemctl logs -n 200 | grep -i warn

The log is the one that `amemctl status` names: a file, or the journal of systemd, which journalctl shows. Without a
running daemon it is the file of a daemon that a command started. A daemon that logs to a terminal or a pipe has no
other log.")]
pub(crate) struct LogsArgs {
    /// Show new lines as they come; Ctrl-C stops it.
    #[arg(short, long)]
    follow: bool,
    /// The number of last lines.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    lines: usize,
}

impl LogsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match self.place(cx)? {
            LogPlace::File(path) => self.file(cx, &path),
            LogPlace::Journal { is_system } => Err(self.journal(is_system)),
        }
    }

    fn place(&self, cx: &mut CommandContext) -> Result<LogPlace, Failure> {
        let running = cx.reach().running();
        if let Ok(remote) = &running {
            let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}))?;
            return match status.log.as_str() {
                JOURNAL => Ok(LogPlace::Journal {
                    is_system: Path::new(&status.socket) == Path::new(paths::SYSTEM_SOCKET),
                }),
                "" => Err(Failure::refused(
                    "no_log",
                    "amemd tells callers by TCP neither its paths nor where it logs",
                    "run `amemctl logs` on its machine",
                )),
                "stderr" => of_launchd().ok_or_else(|| {
                    Failure::refused(
                        "no_log",
                        format!(
                            "amemd (process {}) logs to its standard error alone",
                            status.pid
                        ),
                        "look where it was started; `amemd 2>> FILE` logs to a file",
                    )
                }),
                file => Ok(LogPlace::File(file.into())),
            };
        }
        let file = autostart::log_path()?;
        if file.exists() {
            return Ok(LogPlace::File(file));
        }
        let failure = running.err().map(|failure| failure.message);
        Err(Failure::new(
            Exit::NotFound,
            "no_log",
            format!(
                "{}, and there is no {}",
                failure.unwrap_or_default(),
                file.display()
            ),
            "a service logs to the journal: `journalctl --user -u amemd`, or `journalctl -u amemd`",
        ))
    }

    fn file(&self, cx: &mut CommandContext, path: &Path) -> Result<Exit, Failure> {
        let failed = |e| Failure::io("read", path, &e);
        let mut file = File::open(path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let from = len.saturating_sub(TAIL_BYTES_MAX);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        file.read_to_end(&mut bytes).map_err(failed)?;
        let begin = last_lines(&bytes, self.lines);
        print(cx, &bytes[begin..])?;
        if !self.follow {
            return Ok(Exit::Ok);
        }
        // Until output fails or the user ends it.
        loop {
            thread::sleep(LOOK_EVERY);
            bytes.clear();
            file.read_to_end(&mut bytes).map_err(failed)?;
            if bytes.is_empty() && is_rotated(&file, path) {
                file = File::open(path).map_err(failed)?;
                file.read_to_end(&mut bytes).map_err(failed)?;
            }
            if !bytes.is_empty() {
                print(cx, &bytes)?;
            }
        }
    }

    /// Becomes journalctl; returns only if that fails.
    fn journal(&self, is_system: bool) -> Failure {
        let mut command = foreign_command("journalctl");
        if !is_system {
            command.arg("--user");
        }
        command.args(["--unit", "amemd", "--no-pager", "--lines"]);
        command.arg(self.lines.to_string());
        if self.follow {
            command.arg("--follow");
        }
        let error = command.exec();
        Failure::io("run", Path::new("journalctl"), &error)
    }
}

enum LogPlace {
    File(PathBuf),
    Journal { is_system: bool },
}

/// The log of the agent of launchd, on a Mac.
fn of_launchd() -> Option<LogPlace> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let file = launchd_log(&home);
    (cfg!(target_os = "macos") && file.exists()).then_some(LogPlace::File(file))
}

fn print(cx: &mut CommandContext, bytes: &[u8]) -> Result<(), Failure> {
    cx.stream()
        .write_all(bytes)
        .map_err(|e| Failure::output(&e))?;
    cx.finish()
}

/// True if another file has the name: the log was rotated.
fn is_rotated(file: &File, path: &Path) -> bool {
    let of = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
    let open = file.metadata().map(of);
    matches!((open, std::fs::metadata(path).map(of)), (Ok(open), Ok(named)) if open != named)
}

/// Where the last `lines` lines begin.
fn last_lines(bytes: &[u8], lines: usize) -> usize {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let ends = body.iter().enumerate().rev().filter(|(_, b)| **b == b'\n');
    match lines.checked_sub(1) {
        None => bytes.len(),
        Some(before) => ends.map(|(at, _)| at + 1).nth(before).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_whole() {
        let of = |text: &'static str, lines| &text[last_lines(text.as_bytes(), lines)..];
        assert_eq!(of("a\nb\nc\n", 2), "b\nc\n");
        assert_eq!(of("a\nb\nc", 1), "c");
        assert_eq!(of("a\nb\n", 9), "a\nb\n");
        assert_eq!(of("a\n", 0), "");
        assert_eq!(of("", 3), "");
    }
}
