//! Events by id, and what is believed in place of one.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::limits::PAGE_MAX;
use amem_query::{Resolve, Sight};

use super::event::{Shape, Teller};
use super::refusal::Result;
use super::selection::{count, scope};
use super::word::moment;
use crate::limits::ANSWER_EVENTS;
use crate::v1;

pub(super) fn get_events(
    view: &View,
    request: v1::GetEventsRequest,
) -> Result<v1::GetEventsResponse> {
    let asked = request.event_ids.len() as u64;
    amem_format::Error::check_limit("the number of event ids", asked, PAGE_MAX as u64)?;
    let sight = Sight::new(&scope(request.scope), request.include_forgotten)?;
    let shape = Shape {
        vector: request.include_vectors,
        edges: request.include_edges.then_some(&sight),
    };
    let mut teller = Teller::new(view);
    let events = request.event_ids.into_iter().map(|id| {
        let node = sight.open(view, NodeId(id))?;
        teller.event(&node, shape)
    });
    Ok(v1::GetEventsResponse {
        events: events.collect::<Result<_>>()?,
        moment: Some(moment(view)),
    })
}

pub(super) fn resolve(view: &View, request: v1::ResolveRequest) -> Result<v1::ResolveResponse> {
    let found = Resolve {
        event: NodeId(request.event_id),
        limit: count(request.limit, ANSWER_EVENTS),
        scope: scope(request.scope),
        include_forgotten: request.include_forgotten,
    }
    .run(view)?;
    let mut teller = Teller::new(view);
    let chain = found.chain.iter();
    let chain = chain.map(|link| teller.whole_or_stub(link.id, link.is_stub));
    Ok(v1::ResolveResponse {
        moment: Some(moment(view)),
        chain: chain.collect::<Result<_>>()?,
        head: Some(teller.whole(found.head)?),
        heads: teller.all(&found.heads)?,
        contested: found.is_contested(),
        head_count: found.head_count as u64,
        chain_length: found.chain_len as u64,
        cyclic: found.is_cyclic,
    })
}
