//! `amemctl completions`, `amemctl man`, and the hidden `amemctl complete`, which the scripts of the shells call.
//!
//! Promises: completing starts no daemon, waits at most `ASK_MAX` for one, and prints nothing but words.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use amem_client::paths::UserPaths;
use amem_client::v1;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::brain::target::BrainTarget;
use crate::completion::{Candidate, WantedWords, at_cursor};
use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// How long one question to amemd may take while the user waits for a completion.
const ASK_MAX: Duration = Duration::from_millis(400);
/// Brains and sessions shown.
const ROWS_MAX: u32 = 200;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl completions bash > ~/.local/share/bash-completion/completions/amemctl
  amemctl completions zsh > ~/.zfunc/_amemctl
  amemctl completions fish > ~/.config/fish/completions/amemctl.fish

In bash, zsh and fish the names of brains and sessions are completed, too. It starts no daemon: without one, the brains
are the files of the folder.")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl man | man -l -
  amemctl man --folder ~/.local/share/man/man1      a page for every command
  amemd --man /tmp/pages                            amemd.8, and amemd.toml.5 of its settings")]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, instead of the first page to stdout.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// The words up to the cursor, the program first; the last one may be empty.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl CompleteArgs {
    /// Never fails: a shell that completes shows no errors.
    pub(crate) fn run(&self, cx: &mut CommandContext, whole: &Command) -> Result<Exit, Failure> {
        let point = at_cursor(whole, &self.words);
        let begun = point.begun.trim_start_matches(['"', '\'']);
        if let Some(socket) = &point.socket {
            cx.reach_at(Path::new(socket));
        }
        let (words, or_file) = match point.wanted {
            WantedWords::Words(words) => (words, false),
            WantedWords::Brain { or_file } => (brains(cx), or_file),
            WantedWords::Session => (sessions(cx, point.brain.as_deref()), false),
            WantedWords::File => (Vec::new(), true),
            WantedWords::Anything => return Ok(Exit::Ok),
        };
        let fit: Vec<_> = words
            .into_iter()
            .filter(|candidate| candidate.word.starts_with(begun))
            .collect();
        let mut out = String::new();
        for candidate in &fit {
            let about = candidate.about.replace(['\t', '\n'], " ");
            out.push_str(&format!("{}{}\t{about}\n", point.front, candidate.word));
        }
        // Names come first: files only for what looks like a path.
        if or_file && (fit.is_empty() || begun.starts_with(['.', '/', '~']) || begun.contains('/'))
        {
            out.push_str(":files\n");
        }
        cx.stream()
            .write_all(out.as_bytes())
            .map_err(|e| Failure::output(&e))?;
        Ok(Exit::Ok)
    }
}

/// The daemon that runs, if it accepts the connection at once.
fn running(cx: &CommandContext) -> Option<Remote> {
    let (reach, (send, receive)) = (cx.reach().clone(), mpsc::channel());
    // A thread, because an address on the network may not answer at all; it ends with the process.
    thread::spawn(move || drop(send.send(reach.running())));
    receive.recv_timeout(ASK_MAX).ok()?.ok()
}

/// The brains of the daemon that runs, else the files of the usual folder.
fn brains(cx: &CommandContext) -> Vec<Candidate> {
    let of_daemon = |remote: &Remote| {
        let request = v1::ListBrainsRequest {
            page_size: ROWS_MAX,
            ..Default::default()
        };
        remote.call_within(ASK_MAX, remote.client.brains().list_brains(request))
    };
    let listed = running(cx).as_ref().and_then(of_daemon);
    if let Some(listed) = listed {
        let brains = listed.brains.into_iter();
        let brain = |brain: v1::ListedBrain| {
            let events = brain.events.map(|n| crate::render::plural(n, "event"));
            Candidate::new(brain.brain, events.unwrap_or_default())
        };
        return brains.map(brain).collect();
    }
    let folder = UserPaths::of_process().folder();
    let files = folder.and_then(|folder| fs::read_dir(folder).ok());
    let names = files.into_iter().flatten().flatten().filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        Some(Candidate::new(name.strip_suffix(".amem")?, ""))
    });
    let mut names: Vec<_> = names.filter(|name| !name.word.starts_with('.')).collect();
    names.sort_unstable_by(|a, b| a.word.cmp(&b.word));
    names
}

/// The keys of the newest sessions; the number where a session has no key.
fn sessions(cx: &CommandContext, brain: Option<&str>) -> Vec<Candidate> {
    let Some(Ok(BrainTarget::Name(brain))) = brain.map(str::parse) else {
        return Vec::new();
    };
    let Some(remote) = running(cx) else {
        return Vec::new();
    };
    let request = v1::ListSessionsRequest {
        brain,
        page_size: ROWS_MAX,
        ..Default::default()
    };
    let listed = remote.call_within(ASK_MAX, remote.client.queries().list_sessions(request));
    let sessions = listed.unwrap_or_default().sessions.into_iter();
    let session = |session: v1::Session| {
        let is_number = session.key.bytes().all(|b| b.is_ascii_digit());
        let word = match (session.key.as_str(), is_number) {
            ("", _) => session.id.to_string(),
            (key, true) => format!("key:{key}"),
            (key, false) => key.to_owned(),
        };
        Candidate::new(
            word,
            if session.closed_at.is_some() {
                "closed"
            } else {
                "open"
            },
        )
    };
    sessions.map(session).collect()
}

impl CompletionsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext, mut whole: Command) -> Result<Exit, Failure> {
        let mut out = Vec::new();
        match self.shell {
            Shell::Bash => out.extend(include_bytes!("../../completions/amemctl.bash")),
            Shell::Zsh => out.extend(include_bytes!("../../completions/amemctl.zsh")),
            Shell::Fish => out.extend(include_bytes!("../../completions/amemctl.fish")),
            // Commands and options, without the names of brains.
            other => clap_complete::generate(other, &mut whole, "amemctl", &mut out),
        }
        cx.stream()
            .write_all(&out)
            .map_err(|e| Failure::output(&e))?;
        Ok(Exit::Ok)
    }
}

impl ManArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext, whole: Command) -> Result<Exit, Failure> {
        let command = unabridged(whole);
        let Some(folder) = &self.folder else {
            let mut out = Vec::new();
            let rendered = clap_mangen::Man::new(command).render(&mut out);
            rendered
                .and_then(|()| cx.stream().write_all(&out))
                .map_err(|e| Failure::output(&e))?;
            return Ok(Exit::Ok);
        };
        fs::create_dir_all(folder).map_err(|e| Failure::io("make", folder, &e))?;
        clap_mangen::generate_to(command, folder)
            .map_err(|e| Failure::io("write into", folder, &e))?;
        Ok(Exit::Ok)
    }
}

/// For manual pages: they show options that short help hides.
fn unabridged(command: Command) -> Command {
    command
        .mut_args(|arg| arg.hide_short_help(false).hide_env_values(false))
        .mut_subcommands(unabridged)
}
