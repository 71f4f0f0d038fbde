//! `amemctl why`: what an event rests on.

use std::path::PathBuf;

use amem_core::query;
use amem_core::query::walk::Tree;
use amem_core::types::{EdgeType, NodeId};
use amem_core::view::{AsOf, View};
use clap::Args;
use serde::Serialize;

use super::resolve::line;
use crate::context::Context;
use crate::event::EventJson;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment::{at, parse_moment};
use crate::render::{Branch, tree};
use crate::source::Source;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl why work.amem 12
  amemctl why work.amem 12 --depth 3")]
pub(crate) struct Why {
    /// A brain, a file of the reference, or a spec-1 file.
    file: PathBuf,
    /// The event.
    id: u64,
    /// At most as many edges from it.
    #[arg(long, default_value_t = 10, value_name = "N")]
    depth: u32,
    /// At most as many events.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    limit: usize,
    /// As it was then: an LSN, or a time.
    #[arg(long, value_name = "LSN|TIME", value_parser = parse_moment)]
    as_of: Option<AsOf>,
    /// Forgotten events, too; otherwise they are named where the way leads through them.
    #[arg(long, visible_alias = "forgotten")]
    include_forgotten: bool,
}

#[derive(Serialize)]
struct Told {
    as_of_lsn: Option<u64>,
    steps: Vec<Step>,
    cut: bool,
}

#[derive(Serialize)]
struct Step {
    id: u64,
    depth: u32,
    /// The place of the step before in this list.
    parent: Option<usize>,
    edge: Option<EdgeType>,
    stub: bool,
    /// None for a stub.
    event: Option<EventJson>,
}

impl Why {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let source = Source::open(&self.file)?;
        let view = at(&source.view, self.as_of)?;
        let found = query::Why {
            event: NodeId(self.id),
            depth: self.depth,
            limit: self.limit,
            include_forgotten: self.include_forgotten,
            ..query::Why::default()
        }
        .run(&view)?;
        let steps: Result<Vec<_>, Failure> = found.steps.iter().map(|s| step(&view, s)).collect();
        let told = Told {
            as_of_lsn: self.as_of.map(|_| view.moment().0.0),
            steps: steps?,
            cut: found.is_cut,
        };
        let root = branches(&view, &found)?;
        cx.answer(Some(&source.named), &told, |page| {
            tree(&root).into_iter().for_each(|line| page.line(line));
            if told.steps.len() == 1 {
                page.aside("it rests on nothing that was recorded");
            }
            if told.cut {
                page.aside("there is more: --limit shows it");
            }
            source.write_notes(page);
        })?;
        Ok(Exit::Ok)
    }
}

fn step(view: &View, step: &query::walk::Step) -> Result<Step, Failure> {
    let event = match step.is_stub {
        true => None,
        false => Some(EventJson::of(view, &view.node(step.id)?, false)?),
    };
    Ok(Step {
        id: step.id.0,
        depth: step.depth,
        parent: step.via.map(|via| via.parent),
        edge: step.via.map(|via| via.edge_type),
        stub: step.is_stub,
        event,
    })
}

/// The steps as a tree. Parents stand before their children, so it is put together from the end.
fn branches(view: &View, found: &Tree) -> Result<Branch, Failure> {
    let mut made: Vec<Branch> = Vec::with_capacity(found.steps.len());
    for step in &found.steps {
        let via = step
            .via
            .map_or(String::new(), |via| format!("{}: ", via.edge_type));
        made.push(Branch {
            text: format!("{via}{}", line(view, step.id, step.is_stub)?),
            children: Vec::new(),
        });
    }
    for at in (1..found.steps.len()).rev() {
        let (Some(via), Some(branch)) = (found.steps[at].via, made.pop()) else {
            continue;
        };
        if let Some(parent) = made.get_mut(via.parent) {
            parent.children.insert(0, branch);
        }
    }
    Ok(made.into_iter().next().unwrap_or_default())
}
