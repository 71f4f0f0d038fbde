//! Where the requests of a client's process read and write: the project of its folder, at each request.

use std::env;
use std::fs;
use std::path::PathBuf;

use amem_mcp::rmcp::model::Extensions;
use amem_mcp::{MemoryPlace, MemorySource, OpenMemory, ProjectName};
use amem_project::{Surroundings, USER_VARIABLE, user_of};

use super::daemon_calls::DaemonCalls;
use super::daemon_link::DaemonLink;
use crate::connection::flags::ConnectionArgs;
use crate::when;

/// What the folder of a plugin has.
const PLUGIN: &str = ".claude-plugin/plugin.json";

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceOptions {
    /// The brain; that of the project's file, else the default, if `None`.
    pub(crate) brain: Option<String>,
    /// The project, or its folder.
    pub(crate) project: Option<String>,
}

/// The memory of the folder that this process is in.
pub(crate) struct ProjectSource {
    link: &'static DaemonLink,
    options: SourceOptions,
}

impl ProjectSource {
    pub(crate) fn new(reach: ConnectionArgs, options: SourceOptions) -> Self {
        // It lives as long as the process: its runtime must not be dropped by a task.
        let link = Box::leak(Box::new(DaemonLink::new(reach)));
        Self { link, options }
    }

    /// Connects, or starts a daemon, before the first tool is called. A failure is reported by that call.
    pub(super) fn warm_up(&self) {
        let link = self.link;
        tokio::spawn(async move {
            let _reported_later = link.client().await;
        });
    }

    fn place(&self) -> Result<MemoryPlace, String> {
        let (place, _) = memory_place(&self.options, working_folder())?;
        Ok(place)
    }
}

/// The folder that the client works in. Some start the servers of a plugin in the plugin's own folder.
fn working_folder() -> PathBuf {
    let own = env::current_dir().unwrap_or_default();
    if !own.join(PLUGIN).is_file() {
        return own;
    }
    let client = rustix::process::getppid().map(rustix::process::Pid::as_raw_nonzero);
    let theirs = client.and_then(|pid| fs::read_link(format!("/proc/{pid}/cwd")).ok());
    theirs.unwrap_or(own)
}

/// The memory of a folder, and whether hooks are on there.
pub(crate) fn memory_place(
    options: &SourceOptions,
    current: PathBuf,
) -> Result<(MemoryPlace, bool), String> {
    let variable = |name: &str| env::var_os(name);
    let surroundings = Surroundings {
        asked: options.project.as_deref(),
        variable: &variable,
        current,
    };
    let place = surroundings.place().map_err(|e| e.to_string())?;
    let named = env::var(USER_VARIABLE)
        .ok()
        .filter(|name| !name.trim().is_empty());
    let uid = rustix::process::geteuid().as_raw();
    let memory = MemoryPlace {
        brain: options.brain.clone().or(place.brain).unwrap_or_default(),
        project: place.project.map(|project| ProjectName {
            id: project.id,
            earlier_ids: project.earlier_ids,
            label: project.label,
        }),
        user: named.unwrap_or_else(|| user_of(uid)),
        zone: when::time_zone(),
    };
    Ok((memory, place.hooks_enabled))
}

impl MemorySource for ProjectSource {
    type Calls = DaemonCalls;

    async fn open(&self, _extensions: &Extensions) -> Result<OpenMemory<DaemonCalls>, String> {
        let place = self.place()?;
        let client = self.link.client().await.map_err(|why| {
            format!("memory is not available now ({why}); go on without it, nothing was stored")
        })?;
        let link = self.link;
        Ok(OpenMemory {
            calls: DaemonCalls { link, client },
            place,
        })
    }
}
