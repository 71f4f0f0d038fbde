//! The client: one connection, the generated stubs over it, and brains.

use std::path::PathBuf;
use std::sync::Arc;

use amem_format::reader::Reader;
use amem_proto::answer::{Refusal, Result};
use amem_proto::v1::admin_service_client::AdminServiceClient;
use amem_proto::v1::brain_service_client::BrainServiceClient;
use amem_proto::v1::memory_service_client::MemoryServiceClient;
use amem_proto::v1::query_service_client::QueryServiceClient;
use amem_proto::v1::{OpenBrainRequest, OpenBrainResponse};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::connect;
use super::connect_error::ConnectError;
use super::file::{aside, open_live};
use super::retry::Retry;
use super::tls::Tls;
use crate::limits::DIRECT_READS_MAX;

/// A connection that says who we are.
pub type Connection = InterceptedService<Channel, Authorization>;

/// Puts the token into calls, if there is one.
#[derive(Debug, Clone)]
pub struct Authorization(Option<MetadataValue<Ascii>>);

impl Interceptor for Authorization {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request
                .metadata_mut()
                .insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// A connection to a daemon. Cloning it is cheap and shares the connection, which is made again if it is lost.
#[derive(Debug, Clone)]
pub struct Client {
    channel: Channel,
    link: Connection,
    is_local: bool,
    retry: Retry,
    /// Turns of direct reads that take their time.
    reads: Arc<Semaphore>,
}

/// A brain that was opened.
#[derive(Debug)]
pub struct BrainAccess {
    /// What the daemon says of it.
    pub response: OpenBrainResponse,
    /// Follows its file; `None` if the daemon says to ask it instead, or it can't be opened here.
    pub reader: Option<Reader>,
}

impl Client {
    /// Connects to the daemon that listens on a Unix socket.
    pub async fn connect_unix(path: impl Into<PathBuf>) -> Result<Self, ConnectError> {
        let channel = connect::unix(&path.into()).await?;
        Ok(Self::new(channel, Authorization(None), true))
    }

    /// Connects to the daemon that listens on an address such as `127.0.0.1:7420`, with the token of its token file,
    /// and by TLS if that is given: to another machine no token goes without.
    pub async fn connect_tcp(
        address: &str,
        token: Option<&str>,
        tls: Option<Tls>,
    ) -> Result<Self, ConnectError> {
        let authorization = match token {
            None => None,
            Some(token) => {
                let value = MetadataValue::try_from(format!("Bearer {}", token.trim()));
                let mut value =
                    value.map_err(|_| ConnectError::invalid("token", "it is no line of ASCII"))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let channel = connect::tcp(address, tls, authorization.is_some()).await?;
        // Whatever answers there may be another machine: its paths are not ours.
        Ok(Self::new(channel, Authorization(authorization), false))
    }

    fn new(channel: Channel, authorization: Authorization, is_local: bool) -> Self {
        Self {
            link: InterceptedService::new(channel.clone(), authorization),
            channel,
            is_local,
            retry: Retry::default(),
            reads: Arc::new(Semaphore::new(DIRECT_READS_MAX)),
        }
    }

    /// The same connection with another way to begin calls again; of the calls of `Brain`, not of the stubs.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    pub(super) fn retry(&self) -> &Retry {
        &self.retry
    }

    /// Waits for a turn to read directly; none if turns have ended, which they never do.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        self.reads.clone().acquire_owned().await.ok()
    }

    /// Brains: making, opening, listing them.
    pub fn brains(&self) -> BrainServiceClient<Connection> {
        BrainServiceClient::new(self.link.clone())
    }

    /// Changes to brains.
    pub fn memory(&self) -> MemoryServiceClient<Connection> {
        MemoryServiceClient::new(self.link.clone())
    }

    /// Questions to brains.
    pub fn queries(&self) -> QueryServiceClient<Connection> {
        QueryServiceClient::new(self.link.clone())
    }

    /// The daemon itself.
    pub fn admin(&self) -> AdminServiceClient<Connection> {
        AdminServiceClient::new(self.link.clone())
    }

    /// The connection, for other services such as grpc.health.v1.
    pub fn link(&self) -> Connection {
        self.link.clone()
    }

    /// The bare connection: calls by it carry no token.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Opens a brain, and its file if the daemon allows that and it can be opened here: views of it then cost no call.
    pub async fn open(&self, brain: &str) -> Result<BrainAccess> {
        let response = self.say_open(brain).await?;
        let reader = match self.path(&response) {
            None => None,
            Some(path) => {
                let instance = response.moment.as_ref().map(|moment| &moment.instance);
                let live = aside(move || open_live(&path)).await?;
                live.filter(|(_, view)| Some(&view.instance().to_string()) == instance)
                    .and_then(|(reader, _)| Arc::into_inner(reader))
            }
        };
        Ok(BrainAccess { response, reader })
    }

    /// Where a brain may be read directly, if the daemon says so and is on this machine.
    pub(super) fn path(&self, response: &OpenBrainResponse) -> Option<PathBuf> {
        (response.direct_read && self.is_local).then(|| PathBuf::from(&response.path))
    }

    pub(super) async fn say_open(&self, brain: &str) -> Result<OpenBrainResponse> {
        let request = OpenBrainRequest {
            brain: brain.to_owned(),
        };
        self.call("/amem.v1.BrainService/OpenBrain", &request).await
    }
}

impl From<ConnectError> for Refusal {
    fn from(error: ConnectError) -> Self {
        let code = match error {
            ConnectError::Unreachable { .. } => tonic::Code::Unavailable,
            ConnectError::Invalid { .. } => tonic::Code::InvalidArgument,
        };
        Self::new(code, "CONNECT", error.to_string())
    }
}
