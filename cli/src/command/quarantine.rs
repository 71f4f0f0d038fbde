//! `amemctl conflicts` without a brain: lists quarantined files, and resolves them.

use amem_client::v1;
use amem_client::v1::merge_options::From;
use amem_client::v1::resolve_kept_file_request::Action;
use clap::Args;
use serde_json::json;

use super::merge::{self, MergeOutput};
use crate::brain::target::BrainTarget;
use crate::brain::writable::Writable;
use crate::connection::remote::{Remote, whole_list};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::confirm::confirm;
use crate::output::context::{CommandContext, message_json};
use crate::render::{Detail, TextPage, bytes, plural, printable};
use crate::when;

/// Files per request.
const PAGE: u32 = 200;

#[derive(Debug, Args)]
#[command(next_help_heading = "Quarantined files")]
#[group(multiple = false)]
pub(crate) struct QuarantineArgs {
    /// Delete a file: the brain stays as it is.
    #[arg(long, value_name = "FILE")]
    keep_ours: Option<String>,
    /// Make a file the brain whose name it had; the current file of that name is quarantined instead.
    #[arg(long, value_name = "FILE")]
    take_theirs: Option<String>,
    /// Merge a file into the brain whose name it had, and delete the file if nothing was left out.
    #[arg(long, value_name = "FILE")]
    merge: Option<String>,
    /// Make a file a brain of another name.
    #[arg(long, value_name = "FILE", requires = "as_name")]
    restore: Option<String>,
}

/// Edges and values that no brain can hold, in words.
fn misfits(edges: u64, values: u64) -> String {
    let counts = [(edges, "edge"), (values, "value")].into_iter();
    let counts = counts.filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, what)| plural(count, what));
    let counts = counts.collect::<Vec<_>>().join(" and ");
    format!("{counts} that no brain can hold")
}

fn write_stays(file: &str, lacks: &str, page: &mut TextPage) {
    page.aside(format!(
        "{file} stays, because the brain lacks some of it: {lacks}; --keep-ours deletes it"
    ));
}

impl QuarantineArgs {
    pub(super) fn is_asked(&self) -> bool {
        let named = [
            &self.keep_ours,
            &self.take_theirs,
            &self.merge,
            &self.restore,
        ];
        named.into_iter().any(Option::is_some)
    }

    /// Resolves a file, or lists all.
    pub(super) fn run(
        &self,
        cx: &mut CommandContext,
        as_name: Option<&str>,
        yes: bool,
    ) -> Result<Exit, Failure> {
        if let Some(file) = &self.keep_ours {
            let kept = find(cx.daemon()?, file)?;
            if !yes {
                let stake = stake(cx, &kept)?;
                confirm(cx, &stake, "delete it for good?", "--yes")?;
            }
            return resolve(cx, file, Action::Discard(true));
        }
        if let Some(file) = &self.take_theirs {
            return resolve(cx, file, Action::Take(true));
        }
        if let Some(file) = &self.restore {
            return resolve(
                cx,
                file,
                Action::RestoreAs(as_name.unwrap_or_default().to_owned()),
            );
        }
        match &self.merge {
            Some(file) => merge(cx, file),
            None => list(cx),
        }
    }
}

fn list(cx: &mut CommandContext) -> Result<Exit, Failure> {
    let answer = files(cx.daemon()?)?;
    cx.message(None, &answer, |page| write(&answer.files, page))?;
    Ok(Exit::Ok)
}

fn files(remote: &Remote) -> Result<v1::ListKeptFilesResponse, Failure> {
    Ok(whole_list(
        |page_token| {
            let request = v1::ListKeptFilesRequest {
                page_size: PAGE,
                page_token,
            };
            remote.call(remote.client.admin().list_kept_files(request))
        },
        |answer| (&mut answer.files, &mut answer.next_page_token),
    )?)
}

fn find(remote: &Remote, file: &str) -> Result<v1::KeptFile, Failure> {
    let found = files(remote)?
        .files
        .into_iter()
        .find(|kept| kept.file == file);
    found.ok_or_else(|| {
        Failure::new(
            Exit::NotFound,
            "unknown_file",
            format!("there is no quarantined file {file:?}"),
            "`amemctl conflicts` lists them",
        )
    })
}

/// What would be lost: what the file has and the brain lacks.
fn stake(cx: &mut CommandContext, kept: &v1::KeptFile) -> Result<String, Failure> {
    let more = match compared(cx, kept) {
        Ok(merged) => merged.more(),
        Err(why) => format!("what it has is unknown ({})", why.message),
    };
    let (file, size, brain) = (
        printable(&kept.file),
        bytes(kept.bytes),
        printable(&kept.brain),
    );
    Ok(format!("{file}: {size}; what {brain} lacks: {more}\n"))
}

/// A dry run of the merge.
fn compared(cx: &mut CommandContext, kept: &v1::KeptFile) -> Result<MergeOutput, Failure> {
    let mut brain = Writable::open(cx, &BrainTarget::Name(kept.brain.clone()))?;
    let options = v1::MergeOptions {
        dry_run: true,
        ..Default::default()
    };
    let from = From::FromKeptFile(kept.file.clone());
    merge::run(cx, &mut brain, options, from)
}

const DETAILS: [Detail<v1::KeptFile>; 2] = [
    ("kept", |file| {
        let reason = match file.reason() {
            v1::KeptReason::Conflict => "conflict",
            v1::KeptReason::Recovered => "recovered",
            v1::KeptReason::Original => "original",
            v1::KeptReason::Unspecified => "unknown",
        };
        match file.time {
            Some(_) => format!("{}, {reason} of {}", when::short_of(file.time), file.brain),
            None => format!("{reason} of {}", file.brain),
        }
    }),
    ("holds", |file| {
        match (file.trouble.as_str(), file.lineage.as_str()) {
            ("", "") => format!("{}, no brain of amemd", bytes(file.bytes)),
            ("", _) => format!(
                "{}, {} in its base and those of its journal",
                bytes(file.bytes),
                plural(file.events, "event")
            ),
            (why, _) => format!("it cannot be read: {why}"),
        }
    }),
];

fn write(files: &[v1::KeptFile], page: &mut TextPage) {
    for file in files {
        // In full, because commands name it so.
        page.title(&file.file);
        page.details(&DETAILS, file);
    }
    page.aside(match files.len() {
        0 => {
            "no file is quarantined; `amemctl conflicts BRAIN` shows beliefs in conflict".to_owned()
        }
        n => format!(
            "{}: --keep-ours, --take-theirs or --merge FILE, or --restore FILE --as NAME",
            plural(n as u64, "file")
        ),
    });
}

fn resolve(cx: &mut CommandContext, file: &str, action: Action) -> Result<Exit, Failure> {
    let request = v1::ResolveKeptFileRequest {
        file: file.to_owned(),
        action: Some(action),
    };
    let remote = cx.daemon()?;
    let answer = remote.call(remote.client.admin().resolve_kept_file(request))?;
    cx.changed(None, &answer, |page| {
        page.line(match &answer.info {
            None => format!("{file} is deleted"),
            Some(info) => format!("{file} is brain {}", info.brain),
        });
        if !answer.kept_file.is_empty() {
            page.field("before", format!("quarantined as {}", answer.kept_file));
        }
        if !answer.original.is_empty() {
            let lacks = misfits(answer.dropped_edges, answer.changed);
            write_stays(&answer.original, &lacks, page);
        }
    })?;
    Ok(Exit::Ok)
}

fn merge(cx: &mut CommandContext, file: &str) -> Result<Exit, Failure> {
    let kept = find(cx.daemon()?, file)?;
    let mut brain = Writable::open(cx, &BrainTarget::Name(kept.brain))?;
    let options = v1::MergeOptions {
        options: Some(v1::WriteOptions {
            agent: cx.reach().agent.clone(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let merged = merge::run(cx, &mut brain, options, From::FromKeptFile(file.to_owned()))?;
    // Only the file has what was left out.
    let left_out = merged.left_out();
    if left_out.is_none() {
        let request = v1::ResolveKeptFileRequest {
            file: file.to_owned(),
            action: Some(Action::Discard(true)),
        };
        let remote = cx.daemon()?;
        remote.call(remote.client.admin().resolve_kept_file(request))?;
    }
    let data = json!({
        "file": file,
        "isDeleted": left_out.is_none(),
        "merge": message_json(&merged.answer)?,
    });
    cx.done(Some(&brain.named), &data, |page| {
        merged.write(page);
        match left_out {
            None => page.aside(format!("{file} is deleted")),
            Some(lacks) => write_stays(file, &lacks, page),
        }
    })?;
    Ok(Exit::Ok)
}
