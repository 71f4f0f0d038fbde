//! grpc.health.v1 for the daemon and for every brain: the service `brain/NAME`.
//!
//! Promises: a brain that can't be opened or is being recovered is not serving, and the daemon still is.

use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

/// Where states of health are told.
#[derive(Debug, Clone)]
pub(crate) struct Health(HealthReporter);

impl Health {
    pub(crate) fn new(reporter: HealthReporter) -> Self {
        Self(reporter)
    }

    /// The daemon, and its services by name.
    pub(crate) async fn serving(&self, service: &str, is_serving: bool) {
        let status = match is_serving {
            true => ServingStatus::Serving,
            false => ServingStatus::NotServing,
        };
        self.0.set_service_status(service, status).await;
    }

    /// A brain.
    pub(crate) async fn brain(&self, name: &str, is_serving: bool) {
        self.serving(&service(name), is_serving).await;
    }

    /// A brain that is no more.
    pub(crate) async fn forget(&self, name: &str) {
        self.0.clone().clear_service_status(&service(name)).await;
    }
}

fn service(name: &str) -> String {
    format!("brain/{name}")
}
