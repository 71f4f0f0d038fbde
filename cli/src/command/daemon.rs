//! `amemctl reload` and `amemctl shutdown`: the daemon itself.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use amem_client::v1;
use clap::Args;
use rustix::io::Errno;
use rustix::process::Pid;
use serde::Serialize;

use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::Context;

/// How long a daemon may take to end: it drains for ten seconds at most.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Options of reload.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl reload

Reads amemd's file of settings again, as SIGHUP does. `amemd --check-config` checks it before.")]
pub(crate) struct ReloadArgs {}

/// Options of shutdown.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl shutdown

Waits until it has ended: what was answered is on the disk. A service manager may start it again;
so does the next command that needs it, unless --no-autostart is given.")]
pub(crate) struct ShutdownArgs {}

#[derive(Serialize)]
struct ReloadOutput {
    changed: Vec<String>,
    needs_restart: Vec<String>,
}

#[derive(Serialize)]
struct ShutdownOutput {
    pid: u32,
}

impl ReloadArgs {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        let answer = remote.call(remote.client.admin().reload(v1::ReloadRequest {}))?;
        let output = ReloadOutput {
            changed: answer.changed,
            needs_restart: answer.needs_restart,
        };
        cx.done(None, &output, |page| {
            match output.changed.is_empty() {
                true => page.line("nothing has changed"),
                false => page.line(format!("in force now: {}", output.changed.join(", "))),
            }
            if !output.needs_restart.is_empty() {
                page.line(format!(
                    "in force after a restart: {}",
                    output.needs_restart.join(", ")
                ));
            }
        })?;
        Ok(Exit::Ok)
    }
}

impl ShutdownArgs {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
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
                    format!("process {} has not ended, or another answers", status.pid),
                    "see whether a service manager started it again; its log tells more",
                ));
            }
            thread::sleep(LOOK_EVERY);
        }
        let output = ShutdownOutput { pid: status.pid };
        cx.done(None, &output, |page| {
            page.line(format!("amemd (process {}) has ended", output.pid));
        })?;
        Ok(Exit::Ok)
    }
}

/// True if a daemon has not ended: its process is there; of one on another machine, it answers.
fn is_there(cx: &Context, pid: u32) -> bool {
    match cx.reach().is_local() {
        true => is_running(pid),
        false => cx
            .reach()
            .running()
            .is_ok_and(|remote| status(&remote).is_ok()),
    }
}

/// True if a process runs. One that has ended and that nobody has asked about yet runs no more.
fn is_running(pid: u32) -> bool {
    if let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        return !state.starts_with(['Z', 'X']);
    }
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let asked = pid.map(rustix::process::test_kill_process);
    // Somebody else's process can't be signalled, and is there.
    matches!(asked, Some(Ok(()) | Err(Errno::PERM)))
}

fn status(remote: &Remote) -> Result<v1::GetStatusResponse, Failure> {
    let mut admin = remote.client.admin();
    Ok(remote.call(admin.get_status(v1::GetStatusRequest {}))?)
}
