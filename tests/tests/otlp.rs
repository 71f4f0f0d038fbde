//! Calls as spans for a collector.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_tests::daemon::DaemonHome;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

/// What a collector received.
#[derive(Debug, Clone, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = TraceServiceServer::new(self.clone());
        let server = Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        address
    }

    /// The names of the spans, and everything that was received.
    fn told(&self) -> (Vec<String>, String) {
        let told = self.0.lock().unwrap();
        let spans = told
            .iter()
            .flat_map(|request| &request.resource_spans)
            .flat_map(|resource| &resource.scope_spans)
            .flat_map(|scope| &scope.spans);
        (
            spans.map(|span| span.name.clone()).collect(),
            format!("{told:?}"),
        )
    }
}

fn place(folder: &tempfile::TempDir, collector: SocketAddr) -> DaemonHome {
    let mut place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    place.set("AMEMD_TRACES_OTLP", collector.to_string());
    place
}

async fn remember(place: &DaemonHome, text: &str) {
    let client = Client::connect_unix(place.socket()).await.unwrap();
    let request = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    client.brains().create_brain(request).await.unwrap();
    let request = v1::IngestRequest {
        brain: "b".into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: text.into(),
            ..Default::default()
        }],
        ..Default::default()
    };
    client.memory().ingest(request).await.unwrap();
    let request = v1::GetBrainRequest {
        brain: "none".into(),
    };
    client.brains().get_brain(request).await.unwrap_err();
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_every_call_and_no_content_of_a_brain() {
    let (folder, collector) = (folder(), Collector::default());
    let place = place(&folder, collector.start().await);
    let daemon = place.start();
    remember(&place, "only the brain knows").await;
    // The last are sent at the end.
    let ended = tokio::task::spawn_blocking(move || daemon.stop());
    assert!(ended.await.unwrap().success());
    let (names, everything) = collector.told();
    for call in [
        "BrainService/CreateBrain",
        "MemoryService/Ingest",
        "BrainService/GetBrain",
    ] {
        let name = format!("amem.v1.{call}");
        assert_eq!(
            names.iter().filter(|n| **n == name).count(),
            1,
            "{name}: {names:?}"
        );
    }
    for (words, told) in [
        ("amemd", true),
        ("uid:", true),
        ("only the brain knows", false),
    ] {
        assert_eq!(everything.contains(words), told, "{words}: {everything}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_collector_delays_neither_calls_nor_the_shutdown() {
    let folder = folder();
    // A port that was free a moment ago.
    let gone = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let place = place(&folder, gone);
    let daemon = place.start();
    let began = Instant::now();
    remember(&place, "a fact").await;
    let ended = tokio::task::spawn_blocking(move || daemon.stop());
    assert!(ended.await.unwrap().success());
    assert!(
        began.elapsed() < Duration::from_secs(9),
        "{:?}",
        began.elapsed()
    );
}
