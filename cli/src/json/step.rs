//! The steps of a walk.

use amem_client::v1;
use amem_format::EdgeType;
use serde::Serialize;

use super::event::{EventJson, edge_type_of, whole};
use crate::failure::Failure;

#[derive(Debug, Serialize)]
pub(crate) struct StepJson {
    pub(crate) id: u64,
    pub(crate) depth: u32,
    /// The index of the previous step.
    pub(crate) parent: Option<u32>,
    pub(crate) edge: Option<EdgeType>,
    /// The edge was followed from target to source.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) incoming: bool,
    /// A forgotten event, only named.
    pub(crate) stub: bool,
    /// It belongs to a belief with several heads.
    pub(crate) contested: bool,
    /// Another event replaces it.
    pub(crate) superseded: bool,
    /// `None` for a stub.
    pub(crate) event: Option<EventJson>,
}

pub(crate) fn steps(steps: &[v1::Step]) -> Result<Vec<StepJson>, Failure> {
    let step = |step: &v1::Step| {
        let of = step.event.clone().unwrap_or_default();
        let event = whole(&of)?;
        Ok(StepJson {
            id: of.id,
            depth: step.depth,
            parent: step.parent,
            edge: edge_type_of(step.r#type)?,
            incoming: step.incoming,
            stub: event.is_none(),
            contested: step.contested,
            superseded: step.superseded,
            event,
        })
    };
    steps.iter().map(step).collect()
}
