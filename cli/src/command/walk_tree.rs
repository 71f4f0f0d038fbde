//! The steps of a walk, drawn as a tree.

use amem_client::v1;

use super::side_edges::{SideEdges, id_of};
use crate::json::event::{edge_name, is_stub};
use crate::listing::line_with;
use crate::render::{Branch, TextPage, tree};

fn line_of(step: &v1::Step, side: &SideEdges) -> String {
    let id = id_of(step);
    match step.event.as_ref().filter(|event| !is_stub(event)) {
        Some(event) => {
            let replaced_by = side.replaced_by.get(&id);
            let replaced_by = replaced_by.map(|by| format!("replaced by {by}"));
            let is_superseded = step.superseded && replaced_by.is_none();
            let superseded = is_superseded.then(|| "superseded".to_owned());
            let contested = step.contested.then(|| "contested".to_owned());
            line_with(
                event,
                replaced_by.into_iter().chain(superseded).chain(contested),
            )
        }
        None => format!("{id} (forgotten)"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeArrows {
    /// The same direction for all, which the command implies.
    One,
    /// Each edge with its direction.
    Each,
}

/// Parents precede their children, so the tree is built from the end. An edge to a step elsewhere in the tree is one
/// line.
pub(crate) fn write_tree(
    steps: &[v1::Step],
    arrows: EdgeArrows,
    side: &SideEdges,
    page: &mut TextPage,
) {
    let mut made: Vec<Branch> = Vec::with_capacity(steps.len());
    for step in steps {
        let via = match (edge_name(step.r#type), arrows, step.incoming) {
            (None, ..) => String::new(),
            (Some(edge), EdgeArrows::One, _) => format!("{edge}: "),
            (Some(edge), EdgeArrows::Each, false) => format!("{edge} → "),
            (Some(edge), EdgeArrows::Each, true) => format!("← {edge} "),
        };
        let elsewhere = side.more.iter().filter(|edge| edge.from == id_of(step));
        let elsewhere = elsewhere.map(|edge| Branch {
            text: format!("{}: {} (shown elsewhere)", edge.edge_type, edge.to),
            children: Vec::new(),
        });
        made.push(Branch {
            text: format!("{via}{}", line_of(step, side)),
            // In reverse order until all are there.
            children: elsewhere.rev().collect(),
        });
    }
    for at in (1..steps.len()).rev() {
        let Some(mut branch) = made.pop() else {
            continue;
        };
        branch.children.reverse();
        let parent = steps[at].parent.and_then(|at| made.get_mut(at as usize));
        if let Some(parent) = parent {
            parent.children.push(branch);
        }
    }
    let mut root = made.into_iter().next().unwrap_or_default();
    root.children.reverse();
    page.tree(&tree(&root));
}
