//! AdminService.

use std::sync::atomic::Ordering;

use amem_proto::v1;
use amem_proto::v1::admin_service_server::AdminService;
use tonic::{Request, Response, Status};

use super::Service;
use crate::checkpoints::base_bytes;
use crate::convert::moment;
use crate::open_brain::OpenBrain;

#[tonic::async_trait]
impl AdminService for Service {
    async fn get_status(
        &self,
        _request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::GetStatusResponse>, Status> {
        let uptime = self.0.started.elapsed();
        let open = self.0.brains.open();
        Ok(Response::new(v1::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime: Some(amem_proto::Duration {
                seconds: uptime.as_secs() as i64,
                nanos: uptime.subsec_nanos() as i32,
            }),
            folder: self.0.brains.path().display().to_string(),
            socket: self.0.socket.display().to_string(),
            brains: open.iter().map(|brain| status(brain)).collect(),
        }))
    }
}

fn status(brain: &OpenBrain) -> v1::BrainStatus {
    let view = brain.view();
    v1::BrainStatus {
        brain: brain.name.clone(),
        moment: Some(moment(&view)),
        generation: view.identity().generation.0,
        events: view.nodes(),
        edges: view.edges(),
        base_bytes: base_bytes(view.brain()),
        journal_bytes: brain.shared.journal_bytes.load(Ordering::Relaxed),
        queued: brain.queued(),
        checkpointing: brain.shared.checkpointing.load(Ordering::Relaxed),
        poisoned: brain.shared.poisoned().unwrap_or_default(),
    }
}
