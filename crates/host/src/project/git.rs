//! A git repository, as far as it names a project: its main worktree, and its remote.
//!
//! Promises: files are read, no program runs: git obeys the configuration of the folder, which another person may have
//! written. A folder is a worktree of a repository only if the repository says so, too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{FileKind, read_text};

/// The file with the remotes is read up to this size.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// `.git` of a worktree, `commondir` and `gitdir` have one path each.
const PATH_BYTES_MAX: u64 = 16 << 10;
/// The folder of the linked worktrees of a repository.
const WORKTREES: &str = "worktrees";

pub(crate) struct Repository {
    /// The folder of the main worktree.
    pub(crate) top: PathBuf,
    /// The folder of this worktree.
    worktree: PathBuf,
    /// The folder with the configuration.
    common: PathBuf,
}

/// The path that a file has; `None` for a file that is not read, for whatever reason.
fn path_in(file: &Path) -> Option<String> {
    let text = read_text(file, FileKind::Foreign, PATH_BYTES_MAX).ok()??;
    Some(text.trim().to_owned())
}

impl Repository {
    /// The repository whose worktree begins at a folder, which has no links in its path.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let dot_git = folder.join(".git");
        // A link is not followed: it could lead into another person's repository, or to a device.
        let kind = fs::symlink_metadata(&dot_git).ok()?.file_type();
        if kind.is_dir() {
            return Some(Self {
                top: folder.to_owned(),
                worktree: folder.to_owned(),
                common: dot_git,
            });
        }
        // A worktree, or a submodule: a file names the directory.
        let named = path_in(&dot_git)?;
        let git_dir = folder.join(named.strip_prefix("gitdir:")?.trim());
        let git_dir = git_dir.canonicalize().ok()?;
        let main = Self::of_worktree(folder, &git_dir);
        Some(main.unwrap_or_else(|| Self {
            top: folder.to_owned(),
            worktree: folder.to_owned(),
            common: git_dir,
        }))
    }

    /// The repository of a linked worktree, if it has one in the folder.
    fn of_worktree(folder: &Path, git_dir: &Path) -> Option<Self> {
        let common = git_dir.join(path_in(&git_dir.join("commondir"))?);
        let common = common.canonicalize().ok()?;
        let is_listed = git_dir.parent()? == common.join(WORKTREES);
        let back = git_dir.join(path_in(&git_dir.join("gitdir"))?);
        if !is_listed || back.canonicalize().ok()? != folder.join(".git") {
            return None;
        }
        // The main worktree of a bare repository is the repository itself.
        let top = match (common.file_name(), common.parent()) {
            (Some(name), Some(parent)) if name == ".git" => parent.to_owned(),
            _ => common.clone(),
        };
        Some(Self {
            top,
            worktree: folder.to_owned(),
            common,
        })
    }

    /// The place in the main worktree of a folder of this worktree; `None` for a folder outside.
    pub(crate) fn in_main(&self, folder: &Path) -> Option<PathBuf> {
        let below = folder.strip_prefix(&self.worktree).ok()?;
        // Joining an empty path adds a slash.
        Some(match below.as_os_str().is_empty() {
            true => self.top.clone(),
            false => self.top.join(below),
        })
    }

    /// `host/owner/repo` of `origin`, else of the first remote on another machine.
    pub(crate) fn remote(&self) -> Option<String> {
        let config = self.common.join("config");
        let config = read_text(&config, FileKind::Foreign, CONFIG_BYTES_MAX).ok()??;
        let remotes = remotes(&config);
        let origin = remotes.iter().filter(|(name, _)| name == "origin");
        let all = origin.chain(remotes.iter());
        all.filter_map(|(_, url)| remote_id(url)).next()
    }
}

/// Names and addresses of remotes, in order.
fn remotes(config: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut remote: Option<String> = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default();
            let name = section
                .strip_prefix("remote ")
                .map(|name| name.trim().trim_matches('"'));
            remote = name.map(str::to_owned);
        } else if let (Some(remote), Some((key, value))) = (&remote, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
        {
            out.push((remote.clone(), value.trim().trim_matches('"').to_owned()));
        }
    }
    out
}

/// `host/owner/repo` in lower case, without user, port and `.git`; `None` for a path on this machine.
pub(crate) fn remote_id(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // scp's form; a path may have a colon behind a slash.
        None => url
            .split_once(':')
            .filter(|(host, _)| !host.contains('/'))?,
    };
    let host = host.rsplit('@').next()?;
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let path = path.split(['?', '#']).next()?.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    // One letter is a drive.
    if host.len() < 2 || path.is_empty() {
        return None;
    }
    let id = format!("{host}/{path}").to_lowercase();
    (id.len() <= super::error::PROJECT_BYTES_MAX && !id.chars().any(char::is_control)).then_some(id)
}
