//! GetEvents and Resolve.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::Resolve;
use amem_query::limits::PAGE_MAX;
use amem_query::planner::Sight;

use super::event::{EventEncoder, EventFields};
use super::question::{Evaluate, ids};
use super::refusal::Result;
use super::selection::{count, scope};
use super::word::moment;
use crate::limits::{ANSWER_EVENTS, LIGHT_EVENTS_MAX};
use crate::v1;

impl Evaluate for v1::GetEventsRequest {
    type Answer = v1::GetEventsResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let asked = self.event_ids.len() as u64;
        amem_format::Error::check_limit("the number of event ids", asked, PAGE_MAX as u64)?;
        let sight = Sight::new(&scope(self.scope), self.include_forgotten)?;
        let shape = EventFields {
            vector: self.include_vectors,
            edges: self.include_edges.then_some(&sight),
        };
        let mut encoder = EventEncoder::new(view);
        let events = self.event_ids.into_iter().map(|id| {
            let node = sight.open(view, NodeId(id))?;
            encoder.event(&node, shape)
        });
        Ok(v1::GetEventsResponse {
            events: events.collect::<Result<_>>()?,
            moment: Some(moment(view)),
        })
    }

    fn is_large(&self) -> bool {
        self.include_edges || self.event_ids.len() > LIGHT_EVENTS_MAX
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(&answer.events)
    }
}

impl Evaluate for v1::ResolveRequest {
    type Answer = v1::ResolveResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let found = Resolve {
            event: NodeId(self.event_id),
            limit: count(self.limit, ANSWER_EVENTS),
            scope: scope(self.scope),
            include_forgotten: self.include_forgotten,
        }
        .run(view)?;
        let mut encoder = EventEncoder::new(view);
        let chain = found.chain.iter();
        let chain = chain.map(|link| encoder.whole_or_stub(link.id, link.is_stub));
        Ok(v1::ResolveResponse {
            moment: Some(moment(view)),
            chain: chain.collect::<Result<_>>()?,
            head: Some(encoder.whole(found.head)?),
            heads: encoder.all(&found.heads)?,
            contested: found.is_contested(),
            head_count: found.head_count as u64,
            chain_length: found.chain_len as u64,
            cyclic: found.is_cyclic,
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(&answer.head)
    }
}
