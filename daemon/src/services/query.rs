//! QueryService: every call is one query on one view.

use amem_core::NodeId;
use amem_core::limits::PAGE_MAX;
use amem_proto::v1;
use amem_proto::v1::query_service_server::QueryService;
use tonic::{Request, Response, Status};

use super::Service;
use crate::convert::{Shape, as_of, event, moment};
use crate::refusal::Result;

#[tonic::async_trait]
impl QueryService for Service {
    async fn get_events(
        &self,
        request: Request<v1::GetEventsRequest>,
    ) -> Result<Response<v1::GetEventsResponse>, Status> {
        let request = request.into_inner();
        let (asked, hidden) = (request.event_ids.len() as u64, request.include_forgotten);
        amem_core::Error::check_limit("the number of event ids", asked, PAGE_MAX as u64)
            .map_err(crate::refusal::Refusal::from)?;
        let shape = Shape {
            vector: request.include_vectors,
            edges: request.include_edges,
            forgotten: hidden,
        };
        let answer = self
            .0
            .read(&request.brain, as_of(request.as_of)?, move |view| {
                let mut edges = 0;
                let mut events = Vec::with_capacity(request.event_ids.len());
                for id in request.event_ids {
                    let node = view.node(NodeId(id))?;
                    if node.is_forgotten() && !hidden {
                        return Err(amem_core::Error::Forgotten { id: node.id() }.into());
                    }
                    events.push(event(view, &node, shape, &mut edges)?);
                }
                Ok(v1::GetEventsResponse {
                    moment: Some(moment(view)),
                    events,
                })
            })
            .await?;
        Ok(Response::new(answer))
    }

    async fn search(
        &self,
        _request: Request<v1::SearchRequest>,
    ) -> Result<Response<v1::SearchResponse>, Status> {
        Err(Status::unimplemented("search"))
    }

    async fn resolve(
        &self,
        _request: Request<v1::ResolveRequest>,
    ) -> Result<Response<v1::ResolveResponse>, Status> {
        Err(Status::unimplemented("resolve"))
    }
}
