//! Which project a folder belongs to, for the memory of agents.
//!
//! A project has an id that is the same in every clone, in every worktree and after a move: that of `.amem.toml`, else
//! `host/owner/repo` of the git remote, else the first commit. A folder without git is a project by its path. The home
//! folder and `/` are no project: there, only what holds for the user is remembered.
//!
//! Promises: nothing is written; a folder that is gone still has a project; the answer depends on the surroundings that
//! the caller hands in, the files and nothing else.
//! Not here: where memories are stored (`amem-mcp`), and what a project's memory is.

#![forbid(unsafe_code)]

mod error;

mod git;
mod settings;
mod user;

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use git::Repository;
use settings::{SETTINGS_FILE, Settings};
use xxhash_rust::xxh3::xxh3_64;

pub use error::{PROJECT_BYTES_MAX, ProjectError};
pub use user::{USER_VARIABLE, user_of};

/// Names a project, or its folder by an absolute path.
pub const PROJECT_VARIABLE: &str = "AMEM_PROJECT";
/// Variables in which clients name the folder, the first one first.
pub const FOLDER_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// What its memories are stored under.
    pub id: String,
    /// Ids that it had before, such as that of a time without a remote: its memories are found under them, too.
    pub earlier_ids: Vec<String>,
    /// How people call it.
    pub label: String,
}

/// What a folder means to memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectPlace {
    /// The project; `None` in the home folder and in `/`.
    pub project: Option<Project>,
    /// The brain that `.amem.toml` names.
    pub brain: Option<String>,
    /// False if `.amem.toml` switches capture and recall by hooks off.
    pub hooks_enabled: bool,
    /// The folder.
    pub folder: PathBuf,
}

/// Where a process is.
pub struct Surroundings<'s> {
    /// A project or a folder that the caller names; it comes before everything else.
    pub asked: Option<&'s str>,
    /// The variables.
    pub variable: &'s dyn Fn(&str) -> Option<OsString>,
    /// The working folder.
    pub current: PathBuf,
}

impl Surroundings<'_> {
    /// The project here. Files are read at each call: a project can change while a process runs.
    ///
    /// # Errors
    /// `.amem.toml` that is not TOML or cannot be read; a name that cannot be one.
    pub fn place(&self) -> Result<ProjectPlace, ProjectError> {
        let set = |name: &str| (self.variable)(name).filter(|value| !value.is_empty());
        let home = set("HOME").map(PathBuf::from);
        let named = self
            .asked
            .map(OsString::from)
            .or_else(|| set(PROJECT_VARIABLE));
        if let Some(named) = named {
            if Path::new(&named).is_absolute() {
                return place_of(Path::new(&named), home.as_deref());
            }
            let name = named.to_string_lossy().trim().to_owned();
            let place = place_of(&self.folder(set), home.as_deref()).unwrap_or_default();
            let project = Some(Project::named(&name)?);
            return Ok(ProjectPlace { project, ..place });
        }
        place_of(&self.folder(set), home.as_deref())
    }

    fn folder(&self, set: impl Fn(&str) -> Option<OsString>) -> PathBuf {
        let named = FOLDER_VARIABLES
            .into_iter()
            .find_map(set)
            .map(PathBuf::from);
        named.map_or_else(|| self.current.clone(), |folder| self.current.join(folder))
    }
}

impl Project {
    /// A project by its name.
    ///
    /// # Errors
    /// A name that cannot be one.
    pub fn named(name: &str) -> Result<Self, ProjectError> {
        let is_name = !name.is_empty()
            && name.len() <= PROJECT_BYTES_MAX
            && !name.chars().any(char::is_control);
        if !is_name {
            let name = name.chars().take(64).collect();
            return Err(ProjectError::Name { name });
        }
        Ok(Self {
            id: name.to_owned(),
            earlier_ids: Vec::new(),
            label: name.to_owned(),
        })
    }
}

/// The path without links; a folder that is gone keeps its path.
fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| {
        let mut out = PathBuf::new();
        for part in folder.components() {
            match part {
                Component::ParentDir => {
                    out.pop();
                }
                Component::CurDir => {}
                other => out.push(other),
            }
        }
        out
    })
}

fn place_of(folder: &Path, home: Option<&Path>) -> Result<ProjectPlace, ProjectError> {
    let folder = canonical(folder);
    let home = home.map(canonical);
    let is_home = |path: &Path| path.parent().is_none() || home.as_deref() == Some(path);
    let mut place = ProjectPlace {
        hooks_enabled: true,
        folder: folder.clone(),
        ..ProjectPlace::default()
    };
    if is_home(&folder) {
        return Ok(place);
    }
    // A repository in the home folder is for its settings: what is below it is not all one project.
    let below_home = || folder.ancestors().take_while(|path| !is_home(path));
    let mut settings = Settings::default();
    for ancestor in below_home() {
        if let Some(found) = Settings::read(&ancestor.join(SETTINGS_FILE))? {
            settings = found;
            break;
        }
    }
    place.brain = settings.brain;
    place.hooks_enabled = settings.hooks;
    place.project = Some(match settings.project {
        Some(name) => Project::named(name.trim())?,
        None => match below_home().find_map(Repository::of) {
            Some(repository) => of_repository(&repository),
            None => of_folder(&folder),
        },
    });
    Ok(place)
}

fn of_repository(repository: &Repository) -> Project {
    let by_path = of_folder(&repository.top);
    let first = repository
        .first_commit()
        .map(|commit| format!("git-{}", &commit[..12]));
    // A repository has memories before it has a remote, and before it has a commit.
    let mut ids: Vec<String> = repository.remote().into_iter().chain(first).collect();
    ids.push(by_path.id);
    let id = ids.remove(0);
    let label = if id.contains('/') {
        id.clone()
    } else {
        by_path.label
    };
    Project {
        id,
        earlier_ids: ids,
        label,
    }
}

fn of_folder(folder: &Path) -> Project {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let label: String = name
        .chars()
        .map(|c| if c.is_control() { '_' } else { c })
        .take(60)
        .collect();
    let digest = xxh3_64(folder.as_os_str().as_encoded_bytes());
    Project {
        id: format!("{label}-{:08x}", digest as u32),
        earlier_ids: Vec::new(),
        label,
    }
}

#[cfg(test)]
mod tests;
