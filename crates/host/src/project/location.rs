//! What a folder means to memory: its project, its brain, and what it claims.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::allow::{AllowedFolder, AllowedProjects, ProjectClaim};
use super::error::{ProjectError, check_name};
use super::git::Repository;
use super::settings::{SETTINGS_FILE, Settings};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlace {
    /// The project; `None` in the home folder and in `/`.
    pub project: Option<Project>,
    /// The brain of its memory, if a person allowed one.
    pub brain: Option<String>,
    /// What the folder says that it is, and no person allowed.
    pub claim: Option<ProjectClaim>,
    /// The entry by which it is the project that it is.
    pub allowed: Option<AllowedFolder>,
    /// The folder that claims, else that of the entry, else that of the path: the one to allow.
    pub claimant: PathBuf,
    /// The id by the path, if memories of the path are those of the claimant, too.
    pub path_id: Option<String>,
    /// False if `.amem.toml` here or in a folder above switches capture and recall by hooks off.
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
                return ProjectPlace::of(Path::new(&named), home.as_deref(), self.allowed);
            }
            let name = named.to_string_lossy().trim().to_owned();
            let project = Some(Project::named(&name)?);
            let place = ProjectPlace::of(&self.folder(set), home.as_deref(), self.allowed)?;
            return Ok(ProjectPlace {
                project,
                claim: None,
                ..place
            });
        }
        ProjectPlace::of(&self.folder(set), home.as_deref(), self.allowed)
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
        check_name(name)?;
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

/// A folder, and what it says.
struct Claimant {
    folder: PathBuf,
    says: ProjectClaim,
}

impl ProjectPlace {
    /// What a folder means, whatever variables say.
    ///
    /// # Errors
    /// `.amem.toml` that is not TOML or cannot be read.
    pub fn of(
        folder: &Path,
        home: Option<&Path>,
        allowed: &AllowedProjects,
    ) -> Result<Self, ProjectError> {
        let folder = canonical(folder);
        let home = home.map(canonical);
        let is_home = |path: &Path| path.parent().is_none() || home.as_deref() == Some(path);
        // A repository in the home folder is for its settings: what is below it is not all one project.
        let below_home = || folder.ancestors().take_while(|path| !is_home(path));
        let mut settings = Vec::new();
        for ancestor in below_home() {
            if let Some(found) = Settings::read(&ancestor.join(SETTINGS_FILE))? {
                settings.push((ancestor, found));
            }
        }
        let repository = below_home().find_map(Repository::of);
        let path_folder = match (&repository, settings.first()) {
            (Some(repository), _) => repository.top.clone(),
            (None, Some((with_file, _))) => with_file.to_path_buf(),
            (None, None) => folder.clone(),
        };
        let claimants = claimants(&settings, repository.as_ref(), &path_folder);
        let entry_of = |claimant: &Claimant| allowed.entry(&claimant.folder, &claimant.says);
        let entry = claimants.iter().find_map(entry_of);
        let entry = entry.filter(|_| !is_home(&folder));
        // A claim further in than what is allowed is reported, and changes nothing.
        let claimant = claimants
            .iter()
            .take_while(|claimant| entry_of(claimant).is_none())
            .find(|claimant| !claimant.says.is_empty());
        let by_path = of_folder(&path_folder);
        let claimant_folder = match (claimant, entry) {
            (Some(claimant), _) => &claimant.folder,
            (None, Some(entry)) => &entry.folder,
            (None, None) => &path_folder,
        };
        // What was learned by the path around a folder is not the folder's alone.
        let path_id = |of: &Path| (path_folder.starts_with(of)).then(|| by_path.id.clone());
        let project = match entry {
            _ if is_home(&folder) => None,
            Some(entry) => {
                let mut project = Project::named(&entry.project)?;
                project.earlier_ids = allowed.earlier_ids(&project.id);
                let is_new = |id: &String| *id != project.id && !project.earlier_ids.contains(id);
                let own = path_id(&entry.folder).filter(is_new);
                project.earlier_ids.extend(own);
                Some(project)
            }
            None => Some(by_path.clone()),
        };
        Ok(Self {
            project,
            brain: entry.and_then(|entry| entry.brain.clone()),
            claim: claimant.map(|claimant| claimant.says.clone()),
            allowed: entry.cloned(),
            path_id: path_id(claimant_folder),
            claimant: claimant_folder.clone(),
            // That gives nobody anything: it needs no permission, and no file further in takes it back.
            hooks_enabled: settings.iter().all(|(_, found)| found.hooks),
            folder,
        })
    }
}

/// The folders that say what they are, from the inner one outwards; the repository by its remote is the last one. The
/// folder of the path is among them, also if it says nothing: a person may have named its project.
fn claimants(
    settings: &[(&Path, Settings)],
    repository: Option<&Repository>,
    path_folder: &Path,
) -> Vec<Claimant> {
    let remote = repository.and_then(Repository::remote);
    let mut out = Vec::new();
    for (with_file, found) in settings {
        if found.project.is_none() && found.brain.is_none() {
            continue;
        }
        let in_main = repository.and_then(|repository| repository.in_main(with_file));
        out.push(Claimant {
            folder: match in_main {
                Some(in_main) => in_main,
                // A brain for the projects below: each is allowed by itself.
                None if found.project.is_none() => path_folder.to_owned(),
                None => with_file.to_path_buf(),
            },
            says: ProjectClaim {
                project: found.project.clone().or_else(|| remote.clone()),
                brain: found.brain.clone(),
            },
        });
    }
    let says_nothing = !out.iter().any(|claimant| claimant.folder == path_folder);
    if remote.is_some() || says_nothing {
        out.push(Claimant {
            folder: path_folder.to_owned(),
            says: ProjectClaim {
                project: remote,
                brain: None,
            },
        });
    }
    out
}

pub(super) fn of_folder(folder: &Path) -> Project {
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
