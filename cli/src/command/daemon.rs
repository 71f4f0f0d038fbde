//! `amemctl reload` and `amemctl shutdown`.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use amem_client::v1;
use clap::Args;
use rustix::io::Errno;
use rustix::process::Pid;
use serde_json::json;

use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// The daemon drains for ten seconds at most.
const PATIENCE: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl reload

Has amemd read its configuration file again, as SIGHUP does. `amemd --check-config` checks the file first.")]
pub(crate) struct ReloadArgs {}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl shutdown

Waits until amemd has ended; everything answered is on the disk. A service manager may restart it, and so
does the next command that needs it, unless --no-autostart is given.")]
pub(crate) struct ShutdownArgs {}

impl ReloadArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        let answer = remote.call(remote.client.admin().reload(v1::ReloadRequest {}))?;
        cx.changed(None, &answer, |page| {
            if answer.changed.is_empty() {
                page.line("nothing has changed")
            } else {
                page.line(format!("in force now: {}", answer.changed.join(", ")))
            }
            if !answer.needs_restart.is_empty() {
                page.line(format!(
                    "in force after a restart: {}",
                    answer.needs_restart.join(", ")
                ));
            }
        })?;
        Ok(Exit::Ok)
    }
}

impl ShutdownArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        let status = status(&remote)?;
        remote.call(remote.client.admin().shutdown(v1::ShutdownRequest {}))?;
        drop(remote);
        let began = Instant::now();
        while is_there(cx, status.pid) {
            if began.elapsed() > PATIENCE {
                return Err(Failure::new(
                    Exit::Unavailable,
                    "still_there",
                    format!(
                        "process {} has not ended, or another daemon answers",
                        status.pid
                    ),
                    "check whether a service manager restarted it; see its log",
                ));
            }
            thread::sleep(LOOK_EVERY);
        }
        cx.done(None, &json!({"pid": status.pid}), |page| {
            // By TCP a daemon does not tell its process.
            page.line(match status.pid {
                0 => "amemd has ended".to_owned(),
                pid => format!("amemd (process {pid}) has ended"),
            });
        })?;
        Ok(Exit::Ok)
    }
}

/// A daemon on another machine is there if it answers.
fn is_there(cx: &CommandContext, pid: u32) -> bool {
    if cx.reach().is_local() && pid != 0 {
        is_running(pid)
    } else {
        cx.reach()
            .running()
            .is_ok_and(|remote| status(&remote).is_ok())
    }
}

/// A zombie does not run.
fn is_running(pid: u32) -> bool {
    if let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        return !state.starts_with(['Z', 'X']);
    }
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let asked = pid.map(rustix::process::test_kill_process);
    // A process of another user cannot be signalled, and exists.
    matches!(asked, Some(Ok(()) | Err(Errno::PERM)))
}

fn status(remote: &Remote) -> Result<v1::GetStatusResponse, Failure> {
    let mut admin = remote.client.admin();
    Ok(remote.call(admin.get_status(v1::GetStatusRequest {}))?)
}
