//! QueryService: every call is one question to one view. What answers it is `amem_proto::answer`.

use amem_proto::v1;
use amem_proto::v1::query_service_server::QueryService;
use tonic::{Request, Response, Status};

use super::Service;

/// Calls that are answered by what the question itself says.
macro_rules! questions {
    ($($call:ident($request:ident) -> $response:ident;)*) => {
        #[tonic::async_trait]
        impl QueryService for Service {
            $(async fn $call(
                &self,
                request: Request<v1::$request>,
            ) -> Result<Response<v1::$response>, Status> {
                Ok(Response::new(self.0.ask(request).await?))
            })*
        }
    };
}

questions! {
    get_events(GetEventsRequest) -> GetEventsResponse;
    traverse(TraverseRequest) -> TraverseResponse;
    path(PathRequest) -> PathResponse;
    why(WhyRequest) -> WhyResponse;
    impact(ImpactRequest) -> ImpactResponse;
    pattern(PatternRequest) -> PatternResponse;
    timeline(TimelineRequest) -> TimelineResponse;
    similar(SimilarRequest) -> SimilarResponse;
    text(TextRequest) -> TextResponse;
    search(SearchRequest) -> SearchResponse;
    resolve(ResolveRequest) -> ResolveResponse;
    list_conflicts(ListConflictsRequest) -> ListConflictsResponse;
    pipeline(PipelineRequest) -> PipelineResponse;
    context(ContextRequest) -> ContextResponse;
    list_sessions(ListSessionsRequest) -> ListSessionsResponse;
    get_session(GetSessionRequest) -> GetSessionResponse;
}
