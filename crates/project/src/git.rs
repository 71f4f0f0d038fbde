//! A git repository, as far as it names a project: its remote and its first commit.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long git may look for the first commit: a large history is not worth the wait, and has a remote.
const FIRST_COMMIT_TIME_MAX: Duration = Duration::from_millis(250);
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The file with the remotes is read up to this size.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// First commits by common directory: they never change, unless there is none yet.
static FIRST_COMMITS: Mutex<Option<HashMap<PathBuf, String>>> = Mutex::new(None);

pub(crate) struct Repository {
    /// The folder of the main worktree.
    pub(crate) top: PathBuf,
    git_dir: PathBuf,
    /// What all worktrees share.
    common: PathBuf,
}

impl Repository {
    /// The repository whose worktree begins at a folder.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let dot_git = folder.join(".git");
        let kind = fs::metadata(&dot_git).ok()?;
        let git_dir = if kind.is_dir() {
            dot_git
        } else {
            // A worktree, or a submodule: a file names the directory.
            let text = fs::read_to_string(&dot_git).ok()?;
            folder.join(text.strip_prefix("gitdir:")?.trim())
        };
        let common = match fs::read_to_string(git_dir.join("commondir")) {
            Ok(relative) => git_dir.join(relative.trim()),
            Err(_) => git_dir.clone(),
        };
        let common = common.canonicalize().ok()?;
        let top = match (common.file_name(), common.parent()) {
            (Some(name), Some(parent)) if name == ".git" => parent.to_owned(),
            // Bare, or a submodule: its own folder stands for it.
            _ => folder.to_owned(),
        };
        Some(Self {
            top,
            git_dir,
            common,
        })
    }

    /// `host/owner/repo` of `origin`, else of the first remote on another machine.
    pub(crate) fn remote(&self) -> Option<String> {
        let path = self.common.join("config");
        if fs::metadata(&path).ok()?.len() > CONFIG_BYTES_MAX {
            return None;
        }
        let remotes = remotes(&fs::read_to_string(path).ok()?);
        let origin = remotes.iter().filter(|(name, _)| name == "origin");
        let all = origin.chain(remotes.iter());
        all.filter_map(|(_, url)| remote_id(url)).next()
    }

    /// The hash of the first commit; the least one, if histories were joined. `None` if there is none, or git is
    /// missing, or takes too long.
    pub(crate) fn first_commit(&self) -> Option<String> {
        let mut known = FIRST_COMMITS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        if let Some(commit) = known.get(&self.common) {
            return Some(commit.clone());
        }
        let commit = self.ask_first_commit()?;
        known.insert(self.common.clone(), commit.clone());
        Some(commit)
    }

    fn ask_first_commit(&self) -> Option<String> {
        let mut git = Command::new("git")
            .arg("--git-dir")
            .arg(&self.git_dir)
            .args(["rev-list", "--max-parents=0", "HEAD", "--"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let since = Instant::now();
        while git.try_wait().ok()?.is_none() {
            if since.elapsed() > FIRST_COMMIT_TIME_MAX {
                // Its answer is not waited for; the process must not stay as a zombie.
                let _gone = git.kill();
                let _status = git.wait();
                return None;
            }
            thread::sleep(LOOK_EVERY);
        }
        let output = git.wait_with_output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let hashes = text.lines().map(str::trim);
        let is_hash = |hash: &&str| hash.len() >= 40 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        hashes.filter(is_hash).min().map(str::to_owned)
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
    (id.len() <= crate::error::PROJECT_BYTES_MAX && !id.chars().any(char::is_control)).then_some(id)
}
