//! `amemctl service status`: the state of the service, and whether it runs the installed version.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use amem_client::v1;
use serde::Serialize;

use super::service_common::{ServiceManager, WhichService, found};
use crate::connection::autostart;
use crate::connection::flags::ConnectionArgs;
use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{TextPage, printable};
use crate::service::{FileState, ManagerCommand, ServiceState};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusOutput {
    installed: bool,
    files: Vec<InstalledFile>,
    service: ServiceState,
    running_version: Option<String>,
    installed_version: Option<String>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct InstalledFile {
    path: PathBuf,
    state: &'static str,
}

pub(super) fn run(which: WhichService, cx: &mut CommandContext) -> Result<Exit, Failure> {
    let manager = which.manager()?;
    let condition = manager.condition().or_else(|failure| match manager {
        // Its error says that there is no systemd.
        ServiceManager::Systemd(systemd) => systemd.version().and(Err(failure)),
        ServiceManager::Launchd(_) => Err(failure),
    })?;
    let program = autostart::program().unwrap_or_else(|_| "/usr/bin/amemd".into());
    let plan = manager.plan(&program, false)?;
    let files = found(&plan.files)?;
    let files = files.into_iter().map(|(file, found)| InstalledFile {
        path: file.path.clone(),
        // The service itself says which program it runs.
        state: match found {
            FileState::Older => FileState::Same.word(),
            found => found.word(),
        },
    });
    let program = condition.program.clone().map(PathBuf::from);
    let mut output = StatusOutput {
        installed: condition.loaded,
        files: files
            .filter(|file| file.state != FileState::Nothing.word())
            .collect(),
        running_version: running_version(&condition, cx.reach()),
        installed_version: program.as_deref().and_then(version_of),
        problems: Vec::new(),
        service: condition,
    };
    output.problems = problems(&output, &manager.restart());
    cx.answer(None, &output, |page| write(&output, page))?;
    Ok(match (output.installed, output.problems.is_empty()) {
        (false, _) => Exit::NotFound,
        (true, true) => Exit::Ok,
        (true, false) => Exit::Findings,
    })
}

/// The pid of a daemon of this user that answers. Starts none.
pub(super) fn own_daemon(cx: &CommandContext) -> Option<u32> {
    let remote = cx.reach().running().ok()?;
    let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}));
    let pid = status.ok()?.pid;
    // The machine's daemon belongs to another user and does not conflict. Without /proc there is no owner.
    if !Path::new("/proc/self").exists() {
        return Some(pid);
    }
    let owner = fs::metadata(format!("/proc/{pid}")).map(|meta| meta.uid());
    let ours = rustix::process::getuid().as_raw();
    owner.is_ok_and(|owner| owner == ours).then_some(pid)
}

/// Asked only if a process runs: a connection would start one.
fn running_version(condition: &ServiceState, reach: &ConnectionArgs) -> Option<String> {
    condition.pid?;
    let remote = match &condition.socket {
        Some(socket) => Remote::connect(Path::new(socket)).ok()?,
        None => reach.running().ok()?,
    };
    let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}));
    status.ok().map(|status| status.version)
}

/// From "amemd 0.1.0".
fn version_of(program: &Path) -> Option<String> {
    let named = ManagerCommand::new([program.to_str()?, "--version"])
        .run()
        .ok()?;
    Some(named.trim().strip_prefix("amemd ")?.to_owned())
}

fn problems(output: &StatusOutput, restart: &ManagerCommand) -> Vec<String> {
    let service = &output.service;
    let mut out = Vec::new();
    if !output.installed {
        return out;
    }
    if service.state == "failed" {
        out.push("it has failed: see the log of the service manager (journalctl)".to_owned());
    }
    if service.state != "active" && service.socket_state != "active" {
        out.push("neither the service nor its socket is active: nothing can reach it".to_owned());
    }
    if output.installed_version.is_none() {
        let program = service.program.as_deref().unwrap_or("its program");
        out.push(format!(
            "{program} does not print its version: is it installed?"
        ));
    }
    let Some(pid) = service.pid else {
        return out;
    };
    match (&output.running_version, &output.installed_version) {
        (None, _) => out.push(format!("process {pid} does not answer")),
        (Some(runs), Some(installed)) if runs != installed => out.push(format!(
            "version {runs} runs, {installed} is installed: `{restart}`"
        )),
        _ => {}
    }
    // The same version can be another build.
    let exe = fs::read_link(format!("/proc/{pid}/exe"));
    if exe.is_ok_and(|exe| exe.to_string_lossy().ends_with(" (deleted)")) {
        out.push(format!(
            "its program was replaced after the start: `{restart}`"
        ));
    }
    out
}

fn write(output: &StatusOutput, page: &mut TextPage) {
    let service = &output.service;
    if !output.installed {
        page.line("no service of amemd is installed: `amemctl service install`");
        return;
    }
    page.field("service", format!("{} ({})", service.state, service.detail));
    page.field("begins", printable(&service.enabled));
    if let Some(pid) = service.pid {
        page.field("process", pid.to_string());
    }
    if let Some(socket) = &service.socket {
        page.field(
            "socket",
            format!("{}, {}", printable(socket), service.socket_state),
        );
    }
    if let Some(program) = &service.program {
        page.field("program", printable(program));
    }
    let version = |of: &Option<String>| of.clone().unwrap_or_else(|| "-".to_owned());
    page.field(
        "version",
        format!(
            "{} runs, {} is installed",
            version(&output.running_version),
            version(&output.installed_version)
        ),
    );
    if !service.says.is_empty() {
        page.field("it says", printable(&service.says));
    }
    for file in &output.files {
        page.field("file", format!("{} ({})", file.path.display(), file.state));
    }
    for problem in &output.problems {
        page.field("problem", printable(problem));
    }
}
