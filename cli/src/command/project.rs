//! `amemctl project`: which folders are which projects.
//!
//! Promises: only a person at a terminal allows a folder to be a project; what the folder says is shown first.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use amem_host::project::allow::{AllowedFolder, AllowedProjects, ProjectClaim};
use amem_host::project::{Project, ProjectError, ProjectPlace};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::mcp::{allowed_file, allowed_projects, folder_place};
use crate::output::confirm::confirm;
use crate::output::context::CommandContext;
use crate::render::{Align, Column, TextPage, printable};

/// The brain of memories whose brain is not named.
const DEFAULT_BRAIN: &str = "memories";

#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    act: ProjectCommand,
}

#[derive(Debug, Subcommand)]
enum ProjectCommand {
    /// Allows a folder to be the project that it says it is.
    Allow(AllowArgs),
    /// Lists the folders that are allowed.
    #[command(visible_alias = "ls")]
    List(ListAllowedArgs),
    /// Takes the permission of a folder back.
    Forbid(ForbidArgs),
    /// Shows the project of a folder, and what the folder says.
    Show(ShowArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl project allow
  amemctl project allow ~/src/shop --was ~/old/shop
  amemctl project allow --project acme/shop --brain work

A folder has a memory of its own, by its path, until it is allowed to be the project that .amem.toml or its git remote
names: anybody can write these into a folder. What was learned in it is found in the project from then on. The command
asks at a terminal.")]
struct AllowArgs {
    /// The folder [default: the current one]
    folder: Option<PathBuf>,
    /// The project, instead of what the folder says
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// The brain of its memory, instead of what the folder says
    #[arg(long, value_name = "NAME")]
    brain: Option<String>,
    /// A folder that it was moved or cloned from; may be repeated
    #[arg(long, value_name = "FOLDER")]
    was: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl project list
  amemctl project list --json")]
struct ListAllowedArgs {}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl project forbid ~/src/shop

The folder has the memory of its path again; the project keeps what it learned.")]
struct ForbidArgs {
    /// The folder [default: the current one]
    folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl project show
  amemctl project show ~/src/shop --json")]
struct ShowArgs {
    /// The folder [default: the current one]
    folder: Option<PathBuf>,
}

impl ProjectArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            ProjectCommand::Allow(allow) => allow.run(cx),
            ProjectCommand::List(_) => list(cx),
            ProjectCommand::Forbid(forbid) => forbid.run(cx),
            ProjectCommand::Show(show) => show.run(cx),
        }
    }
}

fn failed(error: &ProjectError) -> Failure {
    let remedy = "mend or move the file away, then repeat the command";
    Failure::refused("project", error.to_string(), remedy)
}

fn folder(named: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    let current = env::current_dir().map_err(|e| Failure::io("find", Path::new("."), &e))?;
    Ok(named.map_or(current.clone(), |named| current.join(named)))
}

/// A folder by itself: a client's variables name the folder of its session, which is not meant here.
fn place(named: Option<&PathBuf>, list: &AllowedProjects) -> Result<ProjectPlace, Failure> {
    folder_place(&folder(named)?, list).map_err(|e| failed(&e))
}

impl AllowArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let mut list = allowed_projects().map_err(|e| failed(&e))?;
        let entry = self.entry(&place(self.folder.as_ref(), &list)?, &list)?;
        // A flag would be at hand for programs that an agent runs, too.
        if !stdin().is_terminal() || !stdout().is_terminal() || cx.is_json() {
            return Err(Failure::refused(
                "no_terminal",
                "only a person allows a folder to be a project, and there is no terminal to ask on",
                "run amemctl project allow in a terminal of your own",
            ));
        }
        confirm(cx, &stake(&entry), "Allow it?", "an answer at a terminal")?;
        list.allow(entry.clone());
        write(&list)?;
        cx.answer(None, &row(&entry), |page| {
            page.line(format!(
                "{} is the project {} now",
                entry.folder.display(),
                entry.project
            ));
        })?;
        Ok(Exit::Ok)
    }

    /// What is to be allowed: what the folder says, as far as the flags do not say it.
    fn entry(
        &self,
        place: &ProjectPlace,
        list: &AllowedProjects,
    ) -> Result<AllowedFolder, Failure> {
        let shown = || place.claimant.display();
        let Some(own) = &place.project else {
            let why = format!("{} is the home folder or /: it is no project", shown());
            return Err(Failure::argument(why, "name the folder of a project"));
        };
        let is_named = self.project.is_some() || self.brain.is_some() || !self.was.is_empty();
        let is_own = |entry: &&AllowedFolder| entry.folder == place.claimant;
        let says = match (&place.claim, place.allowed.as_ref().filter(is_own)) {
            (Some(claim), _) => claim.clone(),
            (None, Some(entry)) if is_named => entry.says.clone(),
            (None, Some(entry)) => {
                let why = format!("{} is the project {} already", shown(), entry.project);
                let remedy = "name another one with --project, or a folder that it was moved from with --was";
                return Err(Failure::argument(why, remedy));
            }
            (None, None) if is_named => ProjectClaim::default(),
            (None, None) => {
                let why = format!("{} says of no other project that it is one", shown());
                let remedy =
                    "name one with --project, or the folder that it was moved from with --was";
                return Err(Failure::argument(why, remedy));
            }
        };
        let wanted = self.project.as_ref().or(says.project.as_ref());
        // Beside a claim of a brain alone the project stays what it is.
        let project = Project::named(wanted.unwrap_or(&own.id)).map_err(|e| failed(&e))?;
        // What was learned in these folders until now.
        let was = self.was.iter().chain([&place.claimant]);
        let mut earlier: Vec<String> = was.map(|was| Project::of_path(was).id).collect();
        earlier.extend(place.path_id.clone());
        // The entry of this folder is replaced, also one of another claim; that of a folder around it stays.
        let replaced = list.entries().iter().find(is_own);
        if let Some(entry) = replaced {
            earlier.push(entry.project.clone());
            earlier.extend(entry.earlier.iter().cloned());
        }
        let mut seen = HashSet::from([project.id.clone()]);
        earlier.retain(|id| seen.insert(id.clone()));
        let kept = place.allowed.as_ref().filter(is_own);
        let kept = kept.and_then(|entry| entry.brain.clone());
        Ok(AllowedFolder {
            folder: place.claimant.clone(),
            project: project.id,
            brain: self.brain.clone().or(says.brain.clone()).or(kept),
            earlier,
            says,
        })
    }
}

/// What a permission means.
fn stake(entry: &AllowedFolder) -> String {
    let mut out = format!(
        "{} becomes the project {} in the brain {}: its agents read what that project learned, and write there.\n",
        printable(&entry.folder.display().to_string()),
        printable(&entry.project),
        printable(entry.brain.as_deref().unwrap_or(DEFAULT_BRAIN)),
    );
    if !entry.earlier.is_empty() {
        out.push_str(&format!(
            "All folders of the project find what these learned, too: {}.\n",
            printable(&entry.earlier.join(", "))
        ));
    }
    out
}

impl ForbidArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let mut list = allowed_projects().map_err(|e| failed(&e))?;
        let named = folder(self.folder.as_ref())?;
        let named = named.canonicalize().unwrap_or(named);
        // A folder of an entry is not looked into: what is in it may be what is wrong with it.
        let claimant = match list.entries().iter().any(|entry| entry.folder == named) {
            true => named,
            false => {
                let place = place(self.folder.as_ref(), &list)?;
                place.allowed.map_or(place.claimant, |entry| entry.folder)
            }
        };
        if !list.forbid(&claimant) {
            let why = format!("{} is not allowed to be a project", claimant.display());
            return Err(Failure::argument(
                why,
                "amemctl project list shows the folders that are",
            ));
        }
        write(&list)?;
        cx.answer(None, &json!({"allowed": []}), |page| {
            page.line(format!(
                "{} has the memory of its path again",
                printable(&claimant.display().to_string())
            ));
        })?;
        Ok(Exit::Ok)
    }
}

impl ShowArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let list = allowed_projects().map_err(|e| failed(&e))?;
        let place = place(self.folder.as_ref(), &list)?;
        let says = place.claim.clone().unwrap_or_default();
        let project = place.project.as_ref();
        let data = json!({
            "folder": place.claimant.to_string_lossy(),
            "project": project.map(|project| &project.id),
            "earlier": project.map_or(&[][..], |project| &project.earlier_ids),
            "brain": place.brain,
            "saysProject": says.project,
            "saysBrain": says.brain,
        });
        cx.answer(None, &data, |page| show(&place, &says, page))?;
        Ok(Exit::Ok)
    }
}

fn show(place: &ProjectPlace, says: &ProjectClaim, page: &mut TextPage) {
    page.field("folder", place.claimant.display());
    let own = place.project.as_ref().map_or(
        "none: only what holds for the user is remembered here",
        |project| &project.id,
    );
    page.field("project", own);
    for (name, value) in [
        ("brain", &place.brain),
        ("says it is", &says.project),
        ("says brain", &says.brain),
    ] {
        if let Some(value) = value {
            page.field(name, value);
        }
    }
    if says.project.is_some() || says.brain.is_some() {
        page.aside("amemctl project allow lets it be what it says");
    }
}

fn row(entry: &AllowedFolder) -> Value {
    let mut row = json!({
        "folder": entry.folder.to_string_lossy(),
        "project": entry.project,
        "earlier": entry.earlier,
    });
    if let Some(brain) = &entry.brain {
        row["brain"] = brain.as_str().into();
    }
    row
}

fn list(cx: &mut CommandContext) -> Result<Exit, Failure> {
    let list = allowed_projects().map_err(|e| failed(&e))?;
    let rows: Vec<Value> = list.entries().iter().map(row).collect();
    cx.answer(None, &json!({"allowed": rows}), |page| {
        page.rows(&ALLOWED, list.entries());
    })?;
    Ok(Exit::Ok)
}

const ALLOWED: [Column<AllowedFolder>; 3] = [
    ("project", Align::Left, |entry| entry.project.clone()),
    ("brain", Align::Left, |entry| {
        entry.brain.clone().unwrap_or_default()
    }),
    ("folder", Align::Left, |entry| {
        entry.folder.display().to_string()
    }),
];

/// Replaces the list: readers find the old one or the new one.
fn write(list: &AllowedProjects) -> Result<(), Failure> {
    let path = allowed_file().ok_or_else(|| {
        Failure::refused(
            "no_home",
            "no home folder is known, where the list is kept",
            "set HOME",
        )
    })?;
    // The list may be a link, as those who keep their settings in one folder have it.
    let path = path.canonicalize().unwrap_or(path);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let io = |e: std::io::Error| Failure::io("write", &path, &e);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(io)?;
    let mut file = tempfile::Builder::new()
        .prefix(".amemctl")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(folder)
        .map_err(io)?;
    let text = list.to_toml().map_err(|e| failed(&e))?;
    file.write_all(text.as_bytes()).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(&path).map_err(|e| io(e.error))?;
    Ok(())
}
