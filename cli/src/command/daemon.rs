//! `amemctl reload` and `amemctl shutdown`: the daemon itself.

use std::thread;
use std::time::{Duration, Instant};

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// How long a daemon may take to end: it drains for ten seconds at most.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Options of reload.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl reload

Reads amemd's file of settings again, as SIGHUP does. `amemd --check-config` checks it before.")]
pub(crate) struct Reload {}

/// Options of shutdown.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl shutdown

Waits until it has ended: what was answered is on the disk. A service manager may start it again;
so does the next command that needs it, unless --no-autostart is given.")]
pub(crate) struct Shutdown {}

#[derive(Serialize)]
struct Reloaded {
    changed: Vec<String>,
    needs_restart: Vec<String>,
}

#[derive(Serialize)]
struct Ended {
    pid: u32,
}

impl Reload {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        let answer = remote.call(remote.client.admin().reload(v1::ReloadRequest {}))?;
        let told = Reloaded {
            changed: answer.changed,
            needs_restart: answer.needs_restart,
        };
        cx.done(None, &told, |page| {
            match told.changed.is_empty() {
                true => page.line("nothing has changed"),
                false => page.line(format!("in force now: {}", told.changed.join(", "))),
            }
            if !told.needs_restart.is_empty() {
                page.line(format!(
                    "in force after a restart: {}",
                    told.needs_restart.join(", ")
                ));
            }
        })?;
        Ok(Exit::Ok)
    }
}

impl Shutdown {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        let mut admin = remote.client.admin();
        let status = remote.call(admin.get_status(v1::GetStatusRequest {}))?;
        remote.call(admin.shutdown(v1::ShutdownRequest {}))?;
        drop(remote);
        let began = Instant::now();
        while cx.reach().running().is_ok() {
            if began.elapsed() > PATIENCE {
                return Err(Failure::new(
                    Exit::Unavailable,
                    "still_there",
                    format!("process {} answers still, or again", status.pid),
                    "see whether a service manager started it again; its log tells more",
                ));
            }
            thread::sleep(LOOK_EVERY);
        }
        let told = Ended { pid: status.pid };
        cx.done(None, &told, |page| {
            page.line(format!("amemd (process {}) has ended", told.pid));
        })?;
        Ok(Exit::Ok)
    }
}
