//! `amemctl conflicts`: contradictions and contested beliefs; without a brain, quarantined files (`quarantine`).

use amem_client::v1;
use amem_client::v1::conflict::Conflict as Of;
use clap::Args;

use super::quarantine::QuarantineArgs;
use crate::args::selection::MomentArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
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
        cx.message(Some(&opened.named(moment)), &answer, |page| {
            write(&answer, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

fn write(answer: &v1::ListConflictsResponse, page: &mut TextPage) {
    let leaf = |text: String| Branch {
        text,
        children: Vec::new(),
    };
    let line = |event: &Option<v1::Event>| line(&event.clone().unwrap_or_default());
    let conflicts = answer.conflicts.iter();
    for conflict in conflicts.filter_map(|conflict| conflict.conflict.as_ref()) {
        let root = match conflict {
            Of::Contradiction(of) => Branch {
                text: line(&of.source),
                children: vec![leaf(format!("contradicts: {}", line(&of.target)))],
            },
            Of::Contested(of) => {
                let or = |head| leaf(format!("or: {}", listing::line(head)));
                let mut children: Vec<Branch> = of.heads.iter().map(or).collect();
                let more = of.head_count.saturating_sub(of.heads.len() as u64);
                if more > 0 {
                    children.push(leaf(format!("or one of {more} more")));
                }
                Branch {
                    text: format!("contested: {}", line(&of.belief)),
                    children,
                }
            }
        };
        page.tree(&tree(&root));
    }
    page.aside(plural(answer.conflicts.len() as u64, "conflict"));
    listing::write_next(&answer.next_page_token, page);
}
