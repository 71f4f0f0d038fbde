//! QueryService: every call is one query on one view.

use amem_core::embed::Embedder;
use amem_core::limits::PAGE_MAX;
use amem_core::query::filter::Filter;
use amem_core::query::{Resolve, Search, Selection, Step, Why};
use amem_core::view::{View, check_space};
use amem_core::{NodeId, SessionId};
use amem_proto::v1;
use amem_proto::v1::query_service_server::QueryService;
use tonic::{Request, Response, Status};

use super::Service;
use crate::convert::{Shape, as_of, event, event_types, moment, space, stub, type_number};
use crate::limits::{ANSWER_EVENTS, SEARCH_HITS, WHY_DEPTH};
use crate::refusal::{Refusal, Result};

#[tonic::async_trait]
impl QueryService for Service {
    async fn get_events(
        &self,
        request: Request<v1::GetEventsRequest>,
    ) -> Result<Response<v1::GetEventsResponse>, Status> {
        let request = request.into_inner();
        let (brain, moment) = (request.brain.clone(), as_of(request.as_of)?);
        let answer = self.0.read(&brain, moment, |view| get(view, request));
        Ok(Response::new(answer.await?))
    }

    async fn search(
        &self,
        request: Request<v1::SearchRequest>,
    ) -> Result<Response<v1::SearchResponse>, Status> {
        let request = request.into_inner();
        let (brain, moment) = (request.brain.clone(), as_of(request.as_of)?);
        let answer = self.0.read(&brain, moment, |view| search(view, request));
        Ok(Response::new(answer.await?))
    }

    async fn resolve(
        &self,
        request: Request<v1::ResolveRequest>,
    ) -> Result<Response<v1::ResolveResponse>, Status> {
        let request = request.into_inner();
        let moment = as_of(request.as_of)?;
        let query = Resolve {
            event: NodeId(request.event_id),
            limit: or(request.limit, ANSWER_EVENTS),
            include_forgotten: request.include_forgotten,
            ..Resolve::default()
        };
        let answer = self
            .0
            .read(&request.brain, moment, move |view| resolve(view, &query));
        Ok(Response::new(answer.await?))
    }

    async fn why(
        &self,
        request: Request<v1::WhyRequest>,
    ) -> Result<Response<v1::WhyResponse>, Status> {
        let request = request.into_inner();
        let moment = as_of(request.as_of)?;
        let query = Why {
            event: NodeId(request.event_id),
            depth: or(request.depth, WHY_DEPTH) as u32,
            limit: or(request.limit, ANSWER_EVENTS),
            include_forgotten: request.include_forgotten,
            ..Why::default()
        };
        let answer = self
            .0
            .read(&request.brain, moment, move |view| why(view, &query));
        Ok(Response::new(answer.await?))
    }
}

/// What is asked for, or what is meant by 0.
fn or(asked: u32, otherwise: usize) -> usize {
    match asked {
        0 => otherwise,
        asked => asked as usize,
    }
}

fn get(view: &View, request: v1::GetEventsRequest) -> Result<v1::GetEventsResponse> {
    let asked = request.event_ids.len() as u64;
    amem_core::Error::check_limit("the number of event ids", asked, PAGE_MAX as u64)?;
    let shape = Shape {
        vector: request.include_vectors,
        edges: request.include_edges,
        forgotten: request.include_forgotten,
    };
    let mut edges = 0;
    let mut events = Vec::with_capacity(request.event_ids.len());
    for id in request.event_ids {
        let node = view.node(NodeId(id))?;
        if node.is_forgotten() && !request.include_forgotten {
            return Err(amem_core::Error::Forgotten { id: node.id() }.into());
        }
        events.push(event(view, &node, shape, &mut edges)?);
    }
    Ok(v1::GetEventsResponse {
        moment: Some(moment(view)),
        events,
    })
}

fn search(view: &View, request: v1::SearchRequest) -> Result<v1::SearchResponse> {
    let vector = match request.vector {
        Some(vector) => {
            let own = view.identity().space;
            check_space(own, space(&vector.space)?.unwrap_or(own))?;
            vector.values
        }
        None => embed(view, &request.text)?,
    };
    let filter = match request.filter_json.as_str() {
        "" => None,
        json => {
            let value = serde_json::from_str(json)
                .map_err(|e| Refusal::invalid("filter_json", format!("not JSON: {e}")))?;
            Some(Filter::parse(&value)?)
        }
    };
    let query = Search {
        question: request.text,
        vector,
        selection: Selection {
            types: event_types(&request.types)?,
            sessions: request.session_ids.into_iter().map(SessionId).collect(),
            filter,
            include_forgotten: request.include_forgotten,
            include_compressed: request.include_compressed,
            ..Selection::default()
        },
        limit: or(request.limit, SEARCH_HITS),
        ..Search::default()
    };
    let hits = query.run(view)?.hits.into_iter().map(|hit| {
        Ok(v1::SearchHit {
            event: Some(whole(view, hit.id)?),
            score: hit.score,
            text_score: hit.text,
            vector_score: hit.vector,
            neighbour_score: hit.neighbours,
        })
    });
    Ok(v1::SearchResponse {
        moment: Some(moment(view)),
        hits: hits.collect::<Result<_>>()?,
    })
}

/// The question's vector, if the brain's are made by the built-in embedder; empty if not.
fn embed(view: &View, text: &str) -> Result<Vec<f32>> {
    let embedder = Embedder::builtin();
    if view.identity().space != embedder.space() || !view.settings()?.embed {
        return Ok(Vec::new());
    }
    Ok(embedder.embed(text).unwrap_or_default())
}

fn resolve(view: &View, query: &Resolve) -> Result<v1::ResolveResponse> {
    let found = query.run(view)?;
    let chain = found.chain.iter().map(|link| match link.is_stub {
        true => Ok(stub(link.id)),
        false => whole(view, link.id),
    });
    let heads = found.heads.iter().map(|&id| whole(view, id));
    Ok(v1::ResolveResponse {
        moment: Some(moment(view)),
        head: Some(whole(view, found.head)?),
        chain: chain.collect::<Result<_>>()?,
        heads: heads.collect::<Result<_>>()?,
        contested: found.is_contested(),
        head_count: found.head_count as u64,
        chain_length: found.chain_len as u64,
        cyclic: found.is_cyclic,
    })
}

fn why(view: &View, query: &Why) -> Result<v1::WhyResponse> {
    let tree = query.run(view)?;
    let steps = tree.steps.iter().map(|step: &Step| {
        Ok(v1::WhyStep {
            event: Some(match step.is_stub {
                true => stub(step.id),
                false => whole(view, step.id)?,
            }),
            depth: step.depth,
            parent: step.via.map(|via| via.parent as u32),
            r#type: step.via.map_or(0, |via| type_number(via.edge_type.0)),
        })
    });
    Ok(v1::WhyResponse {
        moment: Some(moment(view)),
        steps: steps.collect::<Result<_>>()?,
        truncated: tree.is_cut,
    })
}

/// An event without vector and edges.
fn whole(view: &View, id: NodeId) -> Result<v1::Event> {
    event(view, &view.node(id)?, Shape::default(), &mut 0)
}
