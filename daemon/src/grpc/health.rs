//! grpc.health.v1 for the daemon and for every brain: the service `brain/NAME`.
//!
//! Promises: a brain that cannot be opened or is being recovered is not serving, and the daemon still is; for a caller,
//! brains that it does not see do not exist.

use amem_engine::{BrainHealth, HealthFuture};
use tonic::{Request, Response, Status};
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::{Health as Checks, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_health::server::{HealthReporter, HealthService};

use crate::auth::Caller;

/// The health of the daemon and of every brain.
#[derive(Debug, Clone)]
pub(crate) struct Health(HealthReporter);

impl Health {
    pub(crate) fn new() -> Self {
        Self(HealthReporter::new())
    }

    pub(crate) fn service(&self) -> HealthServer<VisibleHealth> {
        HealthServer::new(VisibleHealth(HealthService::from_health_reporter(
            self.0.clone(),
        )))
    }

    /// The daemon, and its services by name.
    pub(crate) async fn serving(&self, service: &str, is_serving: bool) {
        let status = match is_serving {
            true => ServingStatus::Serving,
            false => ServingStatus::NotServing,
        };
        self.0.set_service_status(service, status).await;
    }
}

impl BrainHealth for Health {
    fn report<'a>(&'a self, brain: &'a str, is_serving: bool) -> HealthFuture<'a> {
        Box::pin(async move { self.serving(&service(brain), is_serving).await })
    }

    fn forget<'a>(&'a self, brain: &'a str) -> HealthFuture<'a> {
        let mut reporter = self.0.clone();
        Box::pin(async move { reporter.clear_service_status(&service(brain)).await })
    }
}

/// The prefix of the services of brains.
const BRAIN: &str = "brain/";

fn service(name: &str) -> String {
    format!("{BRAIN}{name}")
}

/// The service of health, restricted to what each caller sees.
#[derive(Debug)]
pub(crate) struct VisibleHealth(HealthService);

/// Replaces the name of a brain that the caller does not see by one that no brain has.
fn restrict(mut request: Request<HealthCheckRequest>) -> Request<HealthCheckRequest> {
    let caller = request.extensions().get::<Caller>();
    let sees = |name| caller.is_some_and(|caller| caller.sees(name));
    let asked = &request.get_ref().service;
    if asked.strip_prefix(BRAIN).is_some_and(|name| !sees(name)) {
        request.get_mut().service = BRAIN.to_owned();
    }
    request
}

#[tonic::async_trait]
impl Checks for VisibleHealth {
    type WatchStream = <HealthService as Checks>::WatchStream;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        self.0.check(restrict(request)).await
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        self.0.watch(restrict(request)).await
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::FileDescriptorSet;

    use crate::ingress::methods;

    #[test]
    fn every_call_of_health_is_measured_as_its_descriptor_says() {
        let methods = methods::all();
        let health = FileDescriptorSet::decode(tonic_health::pb::FILE_DESCRIPTOR_SET).unwrap();
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
}
