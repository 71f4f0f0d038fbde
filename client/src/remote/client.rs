//! The client: one connection, and the stubs over it.

use std::path::PathBuf;
use std::sync::Arc;

use amem_format::reader::Reader;
use amem_proto::answer::{Code, Refusal, Result};
use amem_proto::v1::{OpenBrainRequest, OpenBrainResponse};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::metadata::MetadataValue;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;

use super::connect;
use super::connect_error::ConnectError;
use super::file::{aside, open_live};
use super::link::{AuthorizedChannel, TokenInterceptor};
use super::retry::Retry;
use super::stubs::{AdminStub, BrainStub, FactStub, HookStub, ItemStub, MemoryStub, QueryStub};
use super::tls::Tls;
use crate::limits::DIRECT_READS_MAX;

/// A connection to a daemon. Cloning it is cheap and shares the connection, which is made again if it is lost.
#[derive(Debug, Clone)]
pub struct Client {
    channel: Channel,
    link: AuthorizedChannel,
    is_local: bool,
    retry: Retry,
    /// Permits of heavy direct reads.
    reads: Arc<Semaphore>,
}

/// An open brain, and the reader of its file.
#[derive(Debug)]
pub struct BrainAccess {
    /// The daemon's answer.
    pub response: OpenBrainResponse,
    /// `None` if the daemon does not allow direct reads, or the file cannot be opened here.
    pub reader: Option<Reader>,
}

impl Client {
    /// Connects to a daemon on a Unix socket.
    pub async fn connect_unix(path: impl Into<PathBuf>) -> Result<Self, ConnectError> {
        let channel = connect::unix(&path.into()).await?;
        Ok(Self::new(channel, TokenInterceptor(None), true))
    }

    /// Connects to a daemon on an address such as `127.0.0.1:7420`, with a token, and over TLS if given. A token is not
    /// sent to another machine without TLS.
    pub async fn connect_tcp(
        address: &str,
        token: Option<&str>,
        tls: Option<Tls>,
    ) -> Result<Self, ConnectError> {
        let authorization = match token {
            None => None,
            Some(token) => {
                let value = MetadataValue::try_from(format!("Bearer {}", token.trim()));
                let mut value = value
                    .map_err(|_| ConnectError::invalid("token", "it is not a line of ASCII"))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let channel = connect::tcp(address, tls, authorization.is_some()).await?;
        // The address may be another machine, whose paths are not ours.
        Ok(Self::new(channel, TokenInterceptor(authorization), false))
    }

    fn new(channel: Channel, authorization: TokenInterceptor, is_local: bool) -> Self {
        Self {
            link: InterceptedService::new(channel.clone(), authorization),
            channel,
            is_local,
            retry: Retry::default(),
            reads: Arc::new(Semaphore::new(DIRECT_READS_MAX)),
        }
    }

    /// The same connection with other retries, for the calls of `Brain`; the stubs do not retry.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    pub(super) fn retry(&self) -> &Retry {
        &self.retry
    }

    /// `None` only if the semaphore is closed, which never happens.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        self.reads.clone().acquire_owned().await.ok()
    }

    /// Creates, opens, lists brains.
    pub fn brains(&self) -> BrainStub {
        BrainStub(self.link.clone())
    }

    /// Changes brains.
    pub fn memory(&self) -> MemoryStub {
        MemoryStub(self.link.clone())
    }

    /// Queries brains.
    pub fn queries(&self) -> QueryStub {
        QueryStub(self.link.clone())
    }

    /// Remembers facts.
    pub fn facts(&self) -> FactStub {
        FactStub(self.link.clone())
    }

    /// Stores items by namespace and key.
    pub fn items(&self) -> ItemStub {
        ItemStub(self.link.clone())
    }

    /// Gives sessions of agents what they need, and remembers what was said in them.
    pub fn hooks(&self) -> HookStub {
        HookStub(self.link.clone())
    }

    /// Controls the daemon.
    pub fn admin(&self) -> AdminStub {
        AdminStub(self.link.clone())
    }

    /// The connection, for other services such as grpc.health.v1.
    pub fn link(&self) -> AuthorizedChannel {
        self.link.clone()
    }

    /// The connection without the token.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Opens a brain, and its file if the daemon allows it and it can be opened here: views of the file cost no call.
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

    /// The path to read directly, if the daemon is on this machine and allows it.
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
            ConnectError::Unreachable { .. } => Code::Unavailable,
            ConnectError::Invalid { .. } => Code::InvalidArgument,
        };
        Self::new(code, "CONNECT", error.to_string())
    }
}
