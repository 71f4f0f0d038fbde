//! Where the requests of a client's process read and write: the project of its folder, at each request.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use amem_client::paths::UserPaths;
use amem_host::project::allow::{ALLOWED_FILE, AllowedProjects};
use amem_host::project::{ProjectError, ProjectPlace, Surroundings, USER_VARIABLE, user_of};
use amem_mcp::rmcp::model::Extensions;
use amem_mcp::{MemoryPlace, MemorySource, OpenMemory, ProjectName};

use super::daemon_calls::DaemonCalls;
use super::daemon_link::DaemonLink;
use crate::connection::flags::ConnectionArgs;
use crate::when;

/// Ends the brief in a folder that says it is another project, and was not allowed to be it. What the folder says is
/// not repeated: it is another person's text.
const CLAIM_NOTICE: &str = "This folder names another project as its own. That counts once a person runs \
                            `amemctl project allow` here, at a terminal.";
/// The same if the list of allowed projects cannot be used.
const LIST_NOTICE: &str = "The list of allowed projects cannot be used: each folder has a memory of its own until it can. \
                           `amemctl project list` says why.";
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
        Ok(memory_place(&self.options, working_folder())?.place)
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

/// What a folder means by itself, whatever the variables of this process say.
pub(crate) fn folder_place(
    folder: &Path,
    allowed: &AllowedProjects,
) -> Result<ProjectPlace, ProjectError> {
    let home = env::var_os("HOME").filter(|home| !home.is_empty());
    ProjectPlace::of(folder, home.as_deref().map(Path::new), allowed)
}

/// The file with the projects that the user allowed.
pub(crate) fn allowed_file() -> Option<PathBuf> {
    let paths = UserPaths::of_process();
    Some(paths.user_data()?.join(ALLOWED_FILE))
}

/// The projects that the user allowed.
pub(crate) fn allowed_projects() -> Result<AllowedProjects, ProjectError> {
    match allowed_file() {
        Some(path) => AllowedProjects::read(&path),
        None => Ok(AllowedProjects::default()),
    }
}

/// The memory of a folder.
pub(crate) struct FolderMemory {
    pub(crate) place: MemoryPlace,
    /// False if the folder switches hooks off.
    pub(crate) hooks_enabled: bool,
}

/// The memory of the project that this process is in.
pub(crate) fn memory_place(
    options: &SourceOptions,
    current: PathBuf,
) -> Result<FolderMemory, String> {
    let list = allowed_projects();
    // Without a list that can be used, nothing is allowed: the folder is a project by its path, and an agent goes on.
    let has_list = list.is_ok();
    let allowed = list.unwrap_or_default();
    let surroundings = Surroundings {
        asked: options.project.as_deref(),
        variable: &|name| env::var_os(name),
        current,
        allowed: &allowed,
    };
    let place = surroundings.place().map_err(|e| e.to_string())?;
    let notice = match (has_list, &place.claim) {
        (false, _) => Some(LIST_NOTICE),
        (true, Some(_)) => Some(CLAIM_NOTICE),
        (true, None) => None,
    };
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
        naming: None,
        notice: notice.map(str::to_owned),
    };
    Ok(FolderMemory {
        place: memory,
        hooks_enabled: place.hooks_enabled,
    })
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
            calls: DaemonCalls {
                link: Some(link),
                client,
            },
            place,
        })
    }
}
