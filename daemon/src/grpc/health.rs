//! grpc.health.v1 for the daemon and for every brain: the service `brain/NAME`.
//!
//! Promises: a brain that cannot be opened or is being recovered is not serving, and the daemon still is; for a caller,
//! brains that it does not see do not exist.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use amem_engine::{BrainHealth, HealthFuture};
use amem_locks::LockResultExt;
use amem_proto::answer::Code;
use amem_proto::health::health_check_response::ServingStatus;
use amem_proto::health::health_server::{Health as Checks, HealthServer};
use amem_proto::health::{
    HealthCheckRequest, HealthCheckResponse, HealthListRequest, HealthListResponse,
};
use tokio::sync::watch;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::WatchStream;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use crate::auth::Caller;
use crate::limits::HEALTH_SERVICES_MAX;
use crate::refusal::Refusal;

/// The health of the daemon and of every brain, by service.
#[derive(Debug, Clone)]
pub(crate) struct Health(Arc<Mutex<BTreeMap<String, watch::Sender<bool>>>>);

impl Health {
    /// The daemon is serving.
    pub(crate) fn new() -> Self {
        let daemon = (String::new(), watch::Sender::new(true));
        Self(Arc::new(Mutex::new(BTreeMap::from([daemon]))))
    }

    pub(crate) fn service(&self) -> HealthServer<VisibleHealth> {
        HealthServer::new(VisibleHealth(self.clone()))
    }

    /// The daemon, and its services by name.
    pub(crate) fn serving(&self, service: &str, is_serving: bool) {
        let mut services = self.services();
        match services.get(service) {
            Some(state) => drop(state.send_replace(is_serving)),
            None => drop(services.insert(service.to_owned(), watch::Sender::new(is_serving))),
        }
    }

    fn services(&self) -> MutexGuard<'_, BTreeMap<String, watch::Sender<bool>>> {
        self.0.lock().unpoisoned()
    }

    /// The state of a service that the caller sees.
    fn state(
        &self,
        request: &Request<HealthCheckRequest>,
    ) -> Result<watch::Receiver<bool>, Status> {
        let service = &request.get_ref().service;
        let services = self.services();
        let state = services.get(service).filter(|_| sees(request, service));
        // No word about the service: one that is hidden looks like one that does not exist.
        let state = state.ok_or_else(|| Status::not_found("service not registered"))?;
        Ok(state.subscribe())
    }
}

impl BrainHealth for Health {
    fn report<'a>(&'a self, brain: &'a str, is_serving: bool) -> HealthFuture<'a> {
        self.serving(&service(brain), is_serving);
        Box::pin(std::future::ready(()))
    }

    fn forget<'a>(&'a self, brain: &'a str) -> HealthFuture<'a> {
        self.services().remove(&service(brain));
        Box::pin(std::future::ready(()))
    }
}

/// The prefix of the services of brains.
const BRAIN: &str = "brain/";

fn service(name: &str) -> String {
    format!("{BRAIN}{name}")
}

/// True if the caller of the request sees a service: all but those of brains that are not for it.
fn sees<T>(request: &Request<T>, service: &str) -> bool {
    let caller = request.extensions().get::<Caller>();
    let sees = |name| caller.is_some_and(|caller| caller.sees(name));
    service.strip_prefix(BRAIN).is_none_or(sees)
}

fn response(is_serving: bool) -> HealthCheckResponse {
    let status = match is_serving {
        true => ServingStatus::Serving,
        false => ServingStatus::NotServing,
    };
    HealthCheckResponse {
        status: status.into(),
    }
}

/// The service of health, restricted to what each caller sees.
#[derive(Debug)]
pub(crate) struct VisibleHealth(Health);

#[tonic::async_trait]
impl Checks for VisibleHealth {
    type WatchStream = BoxStream<HealthCheckResponse>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let state = self.0.state(&request)?;
        let is_serving = *state.borrow();
        Ok(Response::new(response(is_serving)))
    }

    async fn list(
        &self,
        request: Request<HealthListRequest>,
    ) -> Result<Response<HealthListResponse>, Status> {
        let services = self.0.services();
        let visible = services.iter().filter(|(name, _)| sees(&request, name));
        let statuses: HashMap<_, _> = visible
            .take(HEALTH_SERVICES_MAX + 1)
            .map(|(name, state)| (name.clone(), response(*state.borrow())))
            .collect();
        if statuses.len() > HEALTH_SERVICES_MAX {
            let message = format!(
                "there are more than {HEALTH_SERVICES_MAX} services, the most that one answer has: check each"
            );
            return Err(Refusal::new(Code::ResourceExhausted, "LIMIT", message).into());
        }
        Ok(Response::new(HealthListResponse { statuses }))
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let state = self.0.state(&request)?;
        let states = WatchStream::new(state).map(|is_serving| Ok(response(is_serving)));
        Ok(Response::new(Box::pin(states)))
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;
    use crate::ingress::methods;

    #[test]
    fn every_call_of_health_is_measured_as_its_descriptor_says() {
        let methods = methods::all();
        let health = FileDescriptorSet::decode(amem_proto::health::DESCRIPTORS).unwrap();
        let health = health.file.iter().flat_map(|file| &file.service);
        for method in health.flat_map(|service| &service.method) {
            let path = format!("/grpc.health.v1.Health/{}", method.name());
            let measured = methods.iter().find(|method| method.path == path);
            assert_eq!(
                measured.unwrap().streams,
                method.server_streaming(),
                "{path}"
            );
        }
    }

    #[tokio::test]
    async fn more_services_than_an_answer_has_are_refused_with_the_limit() {
        let health = Health::new();
        for at in 1..HEALTH_SERVICES_MAX {
            health.serving(&format!("service {at}"), at % 2 == 0);
        }
        let listed = async || {
            let checks = VisibleHealth(health.clone());
            checks.list(Request::new(HealthListRequest {})).await
        };
        let statuses = listed().await.unwrap().into_inner().statuses;
        assert_eq!(statuses.len(), HEALTH_SERVICES_MAX);
        assert_eq!(statuses["service 1"], response(false));
        assert_eq!(statuses[""], response(true));
        // Brains that nobody may see are no part of it.
        health.serving("brain/veiled", true);
        assert!(
            !listed()
                .await
                .unwrap()
                .into_inner()
                .statuses
                .contains_key("brain/veiled")
        );
        health.serving("one more", true);
        let refused = listed().await.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::ResourceExhausted);
        assert!(refused.message().contains("10000"), "{refused}");
    }
}
