//! `amemctl resolve`: what is believed now instead of an event.

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::args::event_id::Id;
use crate::args::selection::Looking;
use crate::brain::opened::Opened;
use crate::brain::target::{self, Target};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{EventJson, whole};
use crate::listing::{line, line_or_stub};
use crate::output::context::Context;
use crate::render::{Branch, Page, count, tree};
use crate::when;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl resolve work 12
  amemctl resolve work 12 --as-of \"2 days ago\"
  amemctl resolve work.amem 12 --as-of 40")]
pub(crate) struct Resolve {
    #[arg(help = target::HELP)]
    brain: Target,
    /// The event: its id, or "last".
    id: Id,
    #[command(flatten)]
    looking: Looking,
}

#[derive(Serialize)]
struct Told {
    as_of_lsn: Option<u64>,
    head: EventJson,
    contested: bool,
    heads: Vec<u64>,
    head_count: u64,
    chain: Vec<Link>,
    chain_length: u64,
    cyclic: bool,
}

#[derive(Serialize)]
struct Link {
    id: u64,
    stub: bool,
}

impl Resolve {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let opened = Opened::open(cx, &self.brain)?;
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
            Ok(Link {
                id: event.id,
                stub: whole(event)?.is_none(),
            })
        });
        let told = Told {
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
        cx.answer(Some(&opened.named(moment)), &told, |page| {
            page.title(format!("believed now: event {}", told.head.id));
            page.tree(&tree(&root));
            others.iter().for_each(|line| page.line(line));
            write(&told, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

/// The chain from the head down.
fn branches(answer: &v1::ResolveResponse) -> Result<Branch, Failure> {
    let mut branch: Option<Branch> = None;
    for event in &answer.chain {
        branch = Some(Branch {
            text: line_or_stub(event)?,
            children: branch.take().into_iter().collect(),
        });
    }
    Ok(branch.unwrap_or_default())
}

/// The other heads.
fn others(answer: &v1::ResolveResponse) -> Result<Vec<String>, Failure> {
    let others = answer.heads.iter().skip(1);
    others
        .map(|event| Ok(format!("or {}", line(&EventJson::of(event)?))))
        .collect()
}

fn write(told: &Told, page: &mut Page) {
    page.field("recorded", when::long(told.head.created_at.0));
    if told.chain_length > told.chain.len() as u64 {
        let all = count(told.chain_length);
        page.field("chain", format!("{all} events, the newest are shown"));
    }
    if told.contested {
        page.field("contested", format!("{} heads", count(told.head_count)));
    }
    if told.cyclic {
        page.field("cyclic", "events replace each other in a circle");
    }
}
