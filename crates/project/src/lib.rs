//! Which project a folder belongs to, for the memory of agents.
//!
//! A folder is a project by its path: that of the main worktree of its git repository, else its own. What a folder
//! says of itself, in `.amem.toml` or by its git remote, is a claim: it holds for folders that a person allowed to be
//! that project (`AllowedProjects`). Anybody can write such a file into a clone or an archive. The home folder and `/`
//! are no project: there, only what holds for the user is remembered.
//!
//! Promises: nothing is written, no program runs; a folder that is gone still has a project; the answer depends on the
//! surroundings that the caller hands in, the files and nothing else.
//! Not here: where memories are stored (`amem-mcp`), and what a project's memory is.

#![forbid(unsafe_code)]

pub mod allow;
mod error;

mod git;
mod settings;
mod user;

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use allow::{AllowedProjects, ProjectClaim};
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
    /// Ids that it had before, such as that of its path: its memories are found under them, too.
    pub earlier_ids: Vec<String>,
    /// How people call it.
    pub label: String,
}

impl Project {
    /// A folder by its path alone, also one that is gone.
    #[must_use]
    pub fn of_path(folder: &Path) -> Self {
        of_folder(&canonical(folder))
    }
}

/// What a folder means to memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectPlace {
    /// The project; `None` in the home folder and in `/`.
    pub project: Option<Project>,
    /// The brain of its memory, if a person allowed one.
    pub brain: Option<String>,
    /// What the folder says that it is, and no person allowed.
    pub claim: Option<ProjectClaim>,
    /// The folder that says so, or would: the one to allow.
    pub claimant: PathBuf,
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
    /// The folders that a person allowed to be projects.
    pub allowed: &'s AllowedProjects,
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
                return place_of(Path::new(&named), home.as_deref(), self.allowed);
            }
            let name = named.to_string_lossy().trim().to_owned();
            let place =
                place_of(&self.folder(set), home.as_deref(), self.allowed).unwrap_or_default();
            let project = Some(Project::named(&name)?);
            return Ok(ProjectPlace {
                project,
                claim: None,
                ..place
            });
        }
        place_of(&self.folder(set), home.as_deref(), self.allowed)
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

fn place_of(
    folder: &Path,
    home: Option<&Path>,
    allowed: &AllowedProjects,
) -> Result<ProjectPlace, ProjectError> {
    let folder = canonical(folder);
    let home = home.map(canonical);
    let is_home = |path: &Path| path.parent().is_none() || home.as_deref() == Some(path);
    let mut place = ProjectPlace {
        hooks_enabled: true,
        claimant: folder.clone(),
        folder: folder.clone(),
        ..ProjectPlace::default()
    };
    if is_home(&folder) {
        return Ok(place);
    }
    // A repository in the home folder is for its settings: what is below it is not all one project.
    let below_home = || folder.ancestors().take_while(|path| !is_home(path));
    let mut settings = None;
    for ancestor in below_home() {
        if let Some(found) = Settings::read(&ancestor.join(SETTINGS_FILE))? {
            settings = Some((ancestor, found));
            break;
        }
    }
    // It may switch hooks off without being asked: that gives nobody anything.
    place.hooks_enabled = settings.as_ref().is_none_or(|(_, found)| found.hooks);
    let repository = below_home().find_map(Repository::of);
    let by_path = of_folder(match (&repository, &settings) {
        (Some(repository), _) => &repository.top,
        (None, Some((with_file, _))) => with_file,
        (None, None) => &folder,
    });
    let (said_by, mut claim) = match settings {
        Some((with_file, found)) if found.project.is_some() || found.brain.is_some() => {
            let claim = ProjectClaim {
                project: found.project,
                brain: found.brain,
            };
            (Some(with_file.to_owned()), claim)
        }
        _ => (None, ProjectClaim::default()),
    };
    if claim.project.is_none() {
        claim.project = repository.as_ref().and_then(Repository::remote);
    }
    place.claimant = said_by.unwrap_or_else(|| match &repository {
        Some(repository) => repository.top.clone(),
        None => folder,
    });
    place.project = Some(match allowed.entry(&place.claimant, &claim) {
        Some(entry) => {
            place.brain.clone_from(&entry.brain);
            let project = Project::named(entry.project.trim())?;
            let earlier_ids = allowed.earlier_ids(&project.id);
            Project {
                earlier_ids,
                ..project
            }
        }
        None => {
            place.claim = (!claim.is_empty()).then_some(claim);
            by_path
        }
    });
    Ok(place)
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
