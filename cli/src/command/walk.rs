//! What the walks have in common: why, impact, traverse. How edges are named on a command line, and how the
//! steps are told.

use amem_client::v1;
use amem_format::types::EdgeType;
use clap::ValueEnum;
use serde::Serialize;

use crate::args::selection::Looking;
use crate::brain::opened::Opened;
use crate::command::side_edges::{self, Ties};
use crate::failure::Failure;
use crate::listing::{self, StepJson, Ways};
use crate::output::context::Context;

/// Which way edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// From their source to their target.
    Outgoing,
    /// From their target to their source.
    Incoming,
    /// Either way.
    Both,
}

impl Direction {
    /// The direction in a message.
    pub(crate) fn follow(self) -> i32 {
        match self {
            Self::Outgoing => v1::Follow::Outgoing,
            Self::Incoming => v1::Follow::Incoming,
            Self::Both => v1::Follow::Both,
        }
        .into()
    }
}

/// An edge type by its name.
pub(crate) fn parse_edge_type(name: &str) -> Result<EdgeType, String> {
    let opaque = || {
        let number = name.strip_prefix("type-")?.parse().ok()?;
        Some(EdgeType(number))
    };
    EdgeType::from_name(name).or_else(opaque).ok_or_else(|| {
        "no such type (caused-by, supports, contradicts, supersedes, related-to, part-of, temporal-next)".to_owned()
    })
}

/// Types in messages.
pub(crate) fn type_numbers(types: &[EdgeType]) -> Vec<i32> {
    types.iter().map(|t| type_number(*t)).collect()
}

/// A type in messages.
pub(crate) fn type_number(edge_type: EdgeType) -> i32 {
    i32::from(edge_type.0) + 1
}

/// How a walk is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// How its edges are drawn.
    pub(crate) ways: Ways,
    /// What is said of one that went nowhere.
    pub(crate) alone: &'static str,
    /// Whose edges are looked up as well, where a tree is all that there is; and whether it went against them.
    pub(crate) ties: Option<(&'static [EdgeType], bool)>,
}

#[derive(Serialize)]
struct Told {
    as_of_lsn: Option<u64>,
    steps: Vec<StepJson>,
    /// Ties between these steps besides those to their parents, and what has replaced which.
    #[serde(flatten)]
    ties: Ties,
    cut: bool,
}

/// Tells the steps of a walk, and whether there are more.
pub(crate) fn tell(
    cx: &mut Context,
    opened: &Opened,
    looking: &Looking,
    moment: Option<&v1::Moment>,
    (steps, cut): (&[v1::Step], bool),
    words: Words,
) -> Result<(), Failure> {
    let steps = listing::steps(steps)?;
    let ties = match words.ties {
        None => Ties::default(),
        Some((types, is_backwards)) => {
            side_edges::look_up(cx, opened, moment, &steps, types, is_backwards)?
        }
    };
    let told = Told {
        as_of_lsn: looking.answered(moment),
        steps,
        ties,
        cut,
    };
    cx.answer(Some(&opened.named(moment)), &told, |page| {
        listing::write_tree(&told.steps, words.ways, &told.ties, page);
        if told.steps.len() == 1 && !told.cut {
            page.aside(words.alone);
        }
        if told.cut {
            page.aside("there is more: --limit and --depth show it");
        }
        opened.write_notes(page);
    })
}
