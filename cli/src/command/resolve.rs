//! `amemctl resolve`: what is believed now in place of an event.

use amem_client::v1;
use clap::Args;

use crate::args::event_id::EventId;
use crate::args::selection::MomentArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::{line_with_author, line_with_author_or_stub};
use crate::output::context::CommandContext;
use crate::render::{Branch, TextPage, count, tree};
use crate::when;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl resolve work 12
  amemctl resolve work 12 --as-of \"2 days ago\"
  amemctl resolve work.amem 12 --as-of 40")]
pub(crate) struct ResolveArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// The event: its id, or "last".
    id: EventId,
    #[command(flatten)]
    looking: MomentArgs,
}

impl ResolveArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let request = v1::ResolveRequest {
            event_id: self.id.number_at(cx, &opened, self.looking.as_of())?,
            as_of: self.looking.as_of(),
            include_forgotten: self.looking.include_forgotten,
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        let head = answer.head.clone().unwrap_or_default();
        cx.message(Some(&opened.named(moment)), &answer, |page| {
            page.title(format!("believed now: event {}", head.id));
            page.tree(&tree(&branches(&answer)));
            for event in answer.heads.iter().skip(1) {
                page.line(format!("or {}", line_with_author(event)));
            }
            page.field("recorded", when::long_of(head.created_at));
            write(&answer, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

/// The chain, from the head down.
fn branches(answer: &v1::ResolveResponse) -> Branch {
    let mut branch: Option<Branch> = None;
    for event in &answer.chain {
        branch = Some(Branch {
            text: line_with_author_or_stub(event),
            children: branch.take().into_iter().collect(),
        });
    }
    branch.unwrap_or_default()
}

fn write(output: &v1::ResolveResponse, page: &mut TextPage) {
    if output.chain_length > output.chain.len() as u64 {
        let all = count(output.chain_length);
        page.field("chain", format!("{all} events, the newest are shown"));
    }
    if output.contested {
        page.field("contested", format!("{} heads", count(output.head_count)));
    }
    if output.cyclic {
        page.field("cyclic", "events supersede each other in a cycle");
    }
}
