//! `amemctl conflicts`: contradictions and contested beliefs; without a brain, quarantined files (`quarantine`).

use amem_client::v1;
use amem_client::v1::conflict::Conflict as Of;
use clap::Args;
use serde::Serialize;

use super::quarantine::QuarantineArgs;
use crate::args::selection::MomentArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::EventJson;
use crate::listing::{self, line};
use crate::output::context::CommandContext;
use crate::render::{Branch, TextPage, plural, tree};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl conflicts work
  amemctl conflicts work --as-of \"a week ago\"
  amemctl conflicts
  amemctl conflicts --merge conflicts/work-1764000000000000.amem

To resolve a conflict, correct the wrong event: `amemctl correct BRAIN ID TEXT`. Without a brain the command
lists quarantined files: files that took the name of a brain, brains that were saved after their file was
removed, and originals that a brain does not hold completely.")]
pub(crate) struct ConflictsArgs {
    #[arg(help = target::HELP, conflicts_with_all = ["keep_ours", "take_theirs", "merge", "restore"])]
    brain: Option<BrainTarget>,
    #[command(flatten)]
    resolving: QuarantineArgs,
    /// The name of the brain that --restore creates.
    #[arg(
        long = "as",
        value_name = "NAME",
        id = "as_name",
        requires = "restore",
        help_heading = "Quarantined files"
    )]
    as_name: Option<String>,
    /// Do not ask before --keep-ours.
    #[arg(
        short,
        long,
        requires = "keep_ours",
        help_heading = "Quarantined files"
    )]
    yes: bool,
    /// At most this many.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Continue after a page, with the token at its end.
    #[arg(long, value_name = "TOKEN")]
    after: Option<String>,
    #[command(flatten)]
    looking: MomentArgs,
}

#[derive(Serialize)]
struct ConflictsOutput {
    as_of_lsn: Option<u64>,
    conflicts: Vec<ConflictJson>,
    next: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum ConflictJson {
    Contradiction {
        source: Box<EventJson>,
        target: Box<EventJson>,
    },
    Contested {
        belief: Box<EventJson>,
        heads: Vec<EventJson>,
        head_count: u64,
    },
}

impl ConflictsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let Some(brain) = self.brain.as_ref().filter(|_| !self.resolving.is_asked()) else {
            return self.resolving.run(cx, self.as_name.as_deref(), self.yes);
        };
        let opened = BrainHandle::open(cx, brain)?;
        let request = v1::ListConflictsRequest {
            include_forgotten: self.looking.include_forgotten,
            page_size: self.limit,
            page_token: self.after.clone().unwrap_or_default(),
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        let output = ConflictsOutput {
            as_of_lsn: self.looking.answered(moment),
            conflicts: answer
                .conflicts
                .iter()
                .filter_map(|conflict| conflict.conflict.as_ref())
                .map(conflict)
                .collect::<Result<_, _>>()?,
            next: listing::next(&answer.next_page_token),
        };
        cx.answer(Some(&opened.named(moment)), &output, |page| {
            write(&output, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

fn conflict(of: &Of) -> Result<ConflictJson, Failure> {
    let event =
        |event: &Option<v1::Event>| EventJson::of(&event.clone().unwrap_or_default()).map(Box::new);
    Ok(match of {
        Of::Contradiction(of) => ConflictJson::Contradiction {
            source: event(&of.source)?,
            target: event(&of.target)?,
        },
        Of::Contested(of) => ConflictJson::Contested {
            belief: event(&of.belief)?,
            heads: EventJson::list(&of.heads)?,
            head_count: of.head_count,
        },
    })
}

fn write(output: &ConflictsOutput, page: &mut TextPage) {
    let leaf = |text: String| Branch {
        text,
        children: Vec::new(),
    };
    for conflict in &output.conflicts {
        let root = match conflict {
            ConflictJson::Contradiction { source, target } => Branch {
                text: line(source),
                children: vec![leaf(format!("contradicts: {}", line(target)))],
            },
            ConflictJson::Contested {
                belief,
                heads,
                head_count,
            } => {
                let or = |head| leaf(format!("or: {}", line(head)));
                let mut children: Vec<Branch> = heads.iter().map(or).collect();
                let more = head_count.saturating_sub(heads.len() as u64);
                if more > 0 {
                    children.push(leaf(format!("or one of {more} more")));
                }
                Branch {
                    text: format!("contested: {}", line(belief)),
                    children,
                }
            }
        };
        page.tree(&tree(&root));
    }
    page.aside(plural(output.conflicts.len() as u64, "conflict"));
    listing::write_next(output.next.as_deref(), page);
}
