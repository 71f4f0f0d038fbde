//! `amemctl resolve`: what is believed now in place of an event.

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::args::event_id::EventId;
use crate::args::selection::MomentArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{EventJson, whole};
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

#[derive(Serialize)]
struct ResolveOutput {
    as_of_lsn: Option<u64>,
    head: EventJson,
    contested: bool,
    heads: Vec<u64>,
    head_count: u64,
    chain: Vec<ChainLink>,
    chain_length: u64,
    cyclic: bool,
}

#[derive(Serialize)]
struct ChainLink {
    id: u64,
    stub: bool,
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
        let head = EventJson::of(&answer.head.clone().unwrap_or_default())?;
        let chain = answer.chain.iter().map(|event| {
            Ok(ChainLink {
                id: event.id,
                stub: whole(event)?.is_none(),
            })
        });
        let output = ResolveOutput {
            as_of_lsn: self.looking.answered(moment),
            contested: answer.contested,
            heads: answer.heads.iter().map(|event| event.id).collect(),
            head_count: answer.head_count,
            chain: chain.collect::<Result<_, Failure>>()?,
            chain_length: answer.chain_length,
            cyclic: answer.cyclic,
            head,
        };
        let root = branches(&answer)?;
        let others = others(&answer)?;
        cx.answer(Some(&opened.named(moment)), &output, |page| {
            page.title(format!("believed now: event {}", output.head.id));
            page.tree(&tree(&root));
            others.iter().for_each(|line| page.line(line));
            write(&output, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

/// The chain, from the head down.
fn branches(answer: &v1::ResolveResponse) -> Result<Branch, Failure> {
    let mut branch: Option<Branch> = None;
    for event in &answer.chain {
        branch = Some(Branch {
            text: line_with_author_or_stub(event)?,
            children: branch.take().into_iter().collect(),
        });
    }
    Ok(branch.unwrap_or_default())
}

fn others(answer: &v1::ResolveResponse) -> Result<Vec<String>, Failure> {
    let others = answer.heads.iter().skip(1);
    others
        .map(|event| Ok(format!("or {}", line_with_author(&EventJson::of(event)?))))
        .collect()
}

fn write(output: &ResolveOutput, page: &mut TextPage) {
    page.field("recorded", when::long(output.head.created_at.0));
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
