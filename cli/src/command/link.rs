//! `amemctl link` and `amemctl unlink`.

use amem_client::v1;
use amem_format::types::EdgeType;
use clap::Args;

use crate::args::event_id::EventId;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::types::{edge_type_number, parse_edge_type};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl link work 12 caused-by 9          event 9 caused event 12
  amemctl link work 12 supports 3           event 3 is evidence for event 12
  amemctl link work 12 related-to 7 --weight 0.4

An existing edge gets the new weight. Linking with `supersedes` is the same as `correct`.")]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    edge: EdgeArgs,
    /// Its weight, 0 to 1 [default: 1]
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    weight: Option<f32>,
    #[command(flatten)]
    writing: WriteArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl unlink work 12 related-to 7

The history keeps the edge: see `amemctl get work 12 --history`, or use --as-of.")]
pub(crate) struct UnlinkArgs {
    #[command(flatten)]
    edge: EdgeArgs,
    #[command(flatten)]
    writing: WriteArgs,
}

#[derive(Debug, Args)]
struct EdgeArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The source: its id, or "last".
    source: EventId,
    /// The type: caused-by, supports, contradicts, supersedes, related-to, part-of, temporal-next.
    #[arg(value_name = "TYPE", value_parser = parse_edge_type)]
    edge_type: EdgeType,
    /// The target: its id, or "last".
    target: EventId,
}

impl LinkArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let (mut brain, source_id, target_id) = self.edge.open(cx)?;
        let request = v1::LinkRequest {
            options: Some(self.writing.options(cx)),
            source_id,
            target_id,
            r#type: edge_type_number(self.edge.edge_type),
            weight: self.weight,
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        cx.changed(Some(&brain.named), &answer, |page| {
            page.drawn(&self.edge.text(source_id, target_id));
        })?;
        Ok(Exit::Ok)
    }
}

impl UnlinkArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let (mut brain, source_id, target_id) = self.edge.open(cx)?;
        let request = v1::UnlinkRequest {
            options: Some(self.writing.options(cx)),
            source_id,
            target_id,
            r#type: edge_type_number(self.edge.edge_type),
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        cx.changed(Some(&brain.named), &answer, |page| {
            let edge = self.edge.text(source_id, target_id);
            page.drawn(&format!("no more: {edge}"));
        })?;
        Ok(Exit::Ok)
    }
}

impl EdgeArgs {
    fn open(&self, cx: &mut CommandContext) -> Result<(Writable, u64, u64), Failure> {
        let brain = Writable::open(cx, &self.brain)?;
        let source = self.source.number(cx, &brain.opened)?;
        let target = self.target.number(cx, &brain.opened)?;
        Ok((brain, source, target))
    }

    fn text(&self, source: u64, target: u64) -> String {
        format!("{source} ─{}→ {target}", self.edge_type)
    }
}
