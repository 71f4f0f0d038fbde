//! `amemctl conflicts` without a brain: lists quarantined files, and resolves them.

use amem_client::v1;
use amem_client::v1::merge_options::From;
use amem_client::v1::resolve_kept_file_request::Action;
use clap::Args;
use serde::Serialize;

use super::merge::{self, MergeOutput};
use crate::brain::target::BrainTarget;
use crate::brain::writable::Writable;
use crate::connection::remote::{Remote, all_pages};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::confirm::confirm;
use crate::output::context::CommandContext;
use crate::render::{TextPage, bytes, plural, printable};
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

#[derive(Serialize)]
struct QuarantineList {
    files: Vec<QuarantineRow>,
}

#[derive(Serialize)]
struct QuarantineRow {
    file: String,
    reason: &'static str,
    brain: String,
    bytes: u64,
    time: Option<Time>,
    lineage: Option<String>,
    /// Without those of its journal.
    events_in_base: Option<u64>,
    /// Why it cannot be read.
    trouble: Option<String>,
}

#[derive(Serialize)]
struct QuarantineOutput {
    file: String,
    brain: Option<String>,
    /// Where the previous file of the name is quarantined.
    kept_file: Option<String>,
    /// Edges that no brain can hold.
    dropped_edges: u64,
    /// Values that no brain can hold, and that were changed.
    changed: u64,
    /// The file, if it stays because the brain lacks some of it.
    original: Option<String>,
    merged: Option<MergeOutput>,
}

impl QuarantineOutput {
    fn stays(&self, page: &mut TextPage) {
        if let Some(original) = &self.original {
            let left_out = self.merged.as_ref().and_then(MergeOutput::left_out);
            let has = left_out.unwrap_or_else(|| {
                let (edges, values) = (self.dropped_edges, self.changed);
                let counts = [(edges, "edge"), (values, "value")].into_iter();
                let counts = counts.filter(|(count, _)| *count > 0);
                let counts = counts.map(|(count, what)| plural(count, what));
                let counts = counts.collect::<Vec<_>>().join(" and ");
                format!("{counts} that no brain can hold")
            });
            page.aside(format!(
                "{} stays, because the brain lacks some of it: {has}; --keep-ours deletes it",
                printable(original)
            ));
        }
    }
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
    let files = files(cx.daemon()?)?;
    let files = files.iter().map(row).collect::<Result<_, _>>()?;
    let output = QuarantineList { files };
    cx.answer(None, &output, |page| write(&output, page))?;
    Ok(Exit::Ok)
}

fn files(remote: &Remote) -> Result<Vec<v1::KeptFile>, Failure> {
    Ok(all_pages(|page_token| {
        let request = v1::ListKeptFilesRequest {
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_kept_files(request))?;
        Ok((answer.files, answer.next_page_token))
    })?)
}

fn find(remote: &Remote, file: &str) -> Result<v1::KeptFile, Failure> {
    let found = files(remote)?.into_iter().find(|kept| kept.file == file);
    found.ok_or_else(|| {
        Failure::new(
            Exit::NotFound,
            "unknown_file",
            format!("there is no quarantined file {file:?}"),
            "`amemctl conflicts` lists them",
        )
    })
}

fn row(kept: &v1::KeptFile) -> Result<QuarantineRow, Failure> {
    let is_brain = !kept.lineage.is_empty();
    Ok(QuarantineRow {
        file: kept.file.clone(),
        reason: match kept.reason() {
            v1::KeptReason::Conflict => "conflict",
            v1::KeptReason::Recovered => "recovered",
            v1::KeptReason::Original => "original",
            v1::KeptReason::Unspecified => "unknown",
        },
        brain: kept.brain.clone(),
        bytes: kept.bytes,
        time: Time::maybe(kept.time)?,
        lineage: is_brain.then(|| kept.lineage.clone()),
        events_in_base: is_brain.then_some(kept.events),
        trouble: Some(kept.trouble.clone()).filter(|why| !why.is_empty()),
    })
}

/// What would be lost: what the file has and the brain lacks.
fn stake(cx: &mut CommandContext, kept: &v1::KeptFile) -> Result<String, Failure> {
    let row = row(kept)?;
    let more = match compared(cx, kept) {
        Ok(merged) => merged.more(),
        Err(why) => format!("what it has is unknown ({})", why.message),
    };
    let (file, size, brain) = (
        printable(&row.file),
        bytes(row.bytes),
        printable(&row.brain),
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

fn write(output: &QuarantineList, page: &mut TextPage) {
    for file in &output.files {
        // In full, because commands name it so.
        page.title(printable(&file.file));
        page.field(
            "kept",
            match file.time {
                Some(time) => format!(
                    "{}, {} of {}",
                    when::short(time.0),
                    file.reason,
                    printable(&file.brain)
                ),
                None => format!("{} of {}", file.reason, printable(&file.brain)),
            },
        );
        page.field(
            "holds",
            match (&file.trouble, file.events_in_base) {
                (Some(why), _) => format!("it cannot be read: {why}"),
                (None, Some(n)) => format!(
                    "{}, {} in its base and those of its journal",
                    bytes(file.bytes),
                    plural(n, "event")
                ),
                (None, None) => format!("{}, no brain of amemd", bytes(file.bytes)),
            },
        );
    }
    page.aside(match output.files.len() {
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
    let output = QuarantineOutput {
        file: file.to_owned(),
        brain: answer.info.map(|info| info.brain),
        kept_file: Some(answer.kept_file).filter(|kept| !kept.is_empty()),
        dropped_edges: answer.dropped_edges,
        changed: answer.changed,
        original: Some(answer.original).filter(|kept| !kept.is_empty()),
        merged: None,
    };
    cx.done(None, &output, |page| {
        let file = printable(&output.file);
        page.line(match &output.brain {
            None => format!("{file} is deleted"),
            Some(brain) => format!("{file} is brain {}", printable(brain)),
        });
        if let Some(kept) = &output.kept_file {
            page.field("before", format!("quarantined as {}", printable(kept)));
        }
        output.stays(page);
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
    let stays = merged.left_out().is_some();
    if !stays {
        let request = v1::ResolveKeptFileRequest {
            file: file.to_owned(),
            action: Some(Action::Discard(true)),
        };
        let remote = cx.daemon()?;
        remote.call(remote.client.admin().resolve_kept_file(request))?;
    }
    let (dropped_edges, changed) = merged.misfits();
    let output = QuarantineOutput {
        file: file.to_owned(),
        brain: Some(brain.opened.served()?.brain.name().to_owned()),
        kept_file: None,
        dropped_edges,
        changed,
        original: stays.then(|| file.to_owned()),
        merged: Some(merged),
    };
    cx.done(Some(&brain.named), &output, |page| {
        if let Some(merged) = &output.merged {
            merged.write(page);
        }
        match output.original {
            None => page.aside(format!("{} is deleted", printable(&output.file))),
            Some(_) => output.stays(page),
        }
    })?;
    Ok(Exit::Ok)
}
