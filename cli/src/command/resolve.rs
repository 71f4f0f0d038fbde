//! `amemctl resolve`: what is believed now instead of an event.

use std::path::PathBuf;

use amem_core::NodeId;
use amem_core::query::{self, resolve::Resolved};
use amem_core::view::{AsOf, View};
use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::event::EventJson;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment::{at, parse_moment};
use crate::render::{Branch, Page, count, float, printable, time, tree};
use crate::source::Source;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl resolve work.amem 12
  amemctl resolve work.amem 12 --as-of 40")]
pub(crate) struct Resolve {
    /// A brain, a file of the reference, or a spec-1 file.
    file: PathBuf,
    /// The event.
    id: u64,
    /// As it was then: an LSN, or a time.
    #[arg(long, value_name = "LSN|TIME", value_parser = parse_moment)]
    as_of: Option<AsOf>,
    /// Forgotten replacements count.
    #[arg(long, visible_alias = "forgotten")]
    include_forgotten: bool,
}

#[derive(Serialize)]
struct Told {
    as_of_lsn: Option<u64>,
    head: EventJson,
    contested: bool,
    heads: Vec<u64>,
    head_count: usize,
    chain: Vec<Link>,
    chain_length: usize,
    cyclic: bool,
}

#[derive(Serialize)]
struct Link {
    id: u64,
    stub: bool,
}

impl Resolve {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let source = Source::open(&self.file)?;
        let view = at(&source.view, self.as_of)?;
        let resolved = query::Resolve {
            event: NodeId(self.id),
            include_forgotten: self.include_forgotten,
            ..query::Resolve::default()
        }
        .run(&view)?;
        let chain = resolved.chain.iter().map(|link| Link {
            id: link.id.0,
            stub: link.is_stub,
        });
        let told = Told {
            as_of_lsn: self.as_of.map(|_| view.moment().0.0),
            head: EventJson::of(&view, &view.node(resolved.head)?, false)?,
            contested: resolved.is_contested(),
            heads: resolved.heads.iter().map(|id| id.0).collect(),
            head_count: resolved.head_count,
            chain: chain.collect(),
            chain_length: resolved.chain_len,
            cyclic: resolved.is_cyclic,
        };
        let lines = lines(&view, &resolved)?;
        cx.answer(Some(&source.named), &told, |page| {
            write(&told, lines, page);
            source.write_notes(page);
        })?;
        Ok(Exit::Ok)
    }
}

/// An event in one line.
pub(crate) fn line(view: &View, id: NodeId, is_stub: bool) -> Result<String, Failure> {
    if is_stub {
        return Ok(format!("{id} (forgotten)"));
    }
    let node = view.node(id)?;
    Ok(format!(
        "{id} {}  {}  {}",
        node.event_type(),
        printable(&node.text()?),
        float(node.confidence())
    ))
}

/// The chain from the head down, then the other heads.
fn lines(view: &View, resolved: &Resolved) -> Result<Vec<String>, Failure> {
    let mut branch: Option<Branch> = None;
    for link in &resolved.chain {
        let text = line(view, link.id, link.is_stub)?;
        branch = Some(Branch {
            text,
            children: branch.take().into_iter().collect(),
        });
    }
    let mut lines = branch.as_ref().map(tree).unwrap_or_default();
    for &other in resolved.heads.iter().skip(1) {
        lines.push(format!("or {}", line(view, other, false)?));
    }
    Ok(lines)
}

fn write(told: &Told, lines: Vec<String>, page: &mut Page) {
    page.title(format!("believed now: event {}", told.head.id));
    lines.into_iter().for_each(|line| page.line(line));
    page.field("recorded", time(told.head.created_at.0));
    if told.contested {
        page.field(
            "contested",
            format!("{} heads", count(told.head_count as u64)),
        );
    }
    if told.cyclic {
        page.field("cyclic", "events replace each other in a circle");
    }
}
