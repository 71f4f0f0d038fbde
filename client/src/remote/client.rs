//! The client: one connection, the generated stubs over it, and brains.

use std::path::{Path, PathBuf};

use amem_core::reader::Reader;
use amem_proto::answer::{Refusal, Result};
use amem_proto::v1::admin_service_client::AdminServiceClient;
use amem_proto::v1::brain_service_client::BrainServiceClient;
use amem_proto::v1::memory_service_client::MemoryServiceClient;
use amem_proto::v1::query_service_client::QueryServiceClient;
use amem_proto::v1::{OpenBrainRequest, OpenBrainResponse};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::brain::Brain;
use super::connect::{self, ConnectError};
use super::retry::Retry;
use super::tls::Tls;

/// A connection that says who we are.
pub type Link = InterceptedService<Channel, Authorization>;

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
    link: Link,
    is_local: bool,
    retry: Retry,
}

/// A brain that was opened.
#[derive(Debug)]
pub struct Opened {
    /// What the daemon says of it.
    pub response: OpenBrainResponse,
    /// Follows its file; `None` if the daemon says to ask it instead.
    pub reader: Option<Reader>,
}

impl Client {
    /// Connects to the daemon that listens on a Unix socket.
    pub async fn connect_unix(path: impl Into<PathBuf>) -> Result<Self, ConnectError> {
        let channel = connect::unix(&path.into()).await?;
        Ok(Self::new(channel, Authorization(None), true))
    }

    /// Connects to the daemon that listens on an address such as `127.0.0.1:7420`, with the token of its token file,
    /// and by TLS if that is given.
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
        let channel = connect::tcp(address, tls).await?;
        // Whatever answers there may be another machine: its paths are not ours.
        Ok(Self::new(channel, Authorization(authorization), false))
    }

    fn new(channel: Channel, authorization: Authorization, is_local: bool) -> Self {
        Self {
            link: InterceptedService::new(channel.clone(), authorization),
            channel,
            is_local,
            retry: Retry::default(),
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

    /// Brains: making, opening, listing them.
    pub fn brains(&self) -> BrainServiceClient<Link> {
        BrainServiceClient::new(self.link.clone())
    }

    /// Changes to brains.
    pub fn memory(&self) -> MemoryServiceClient<Link> {
        MemoryServiceClient::new(self.link.clone())
    }

    /// Questions to brains.
    pub fn queries(&self) -> QueryServiceClient<Link> {
        QueryServiceClient::new(self.link.clone())
    }

    /// The daemon itself.
    pub fn admin(&self) -> AdminServiceClient<Link> {
        AdminServiceClient::new(self.link.clone())
    }

    /// The connection, for other services such as grpc.health.v1.
    pub fn link(&self) -> Link {
        self.link.clone()
    }

    /// The bare connection: calls by it carry no token.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Opens a brain, and its file if the daemon allows that and is on this machine: views of it then cost no call.
    pub async fn open(&self, brain: &str) -> Result<Opened> {
        let response = self.say_open(brain).await?;
        let reader = match response.direct_read && self.is_local {
            true => Some(Reader::open(Path::new(&response.path))?),
            false => None,
        };
        Ok(Opened { response, reader })
    }

    async fn say_open(&self, brain: &str) -> Result<OpenBrainResponse> {
        let request = OpenBrainRequest {
            brain: brain.to_owned(),
        };
        self.call("/amem.v1.BrainService/OpenBrain", &request).await
    }

    /// Opens a brain: to be read directly where the daemon allows it and the file can be opened here, through the
    /// daemon otherwise; to be written through the daemon.
    pub async fn brain(&self, brain: &str) -> Result<Brain> {
        let response = self.say_open(brain).await?;
        let reader = match response.direct_read && self.is_local {
            // A file that can't be opened here, for want of permission or in another container, is no misfortune.
            true => Reader::open(Path::new(&response.path)).ok(),
            false => None,
        };
        let moment = response.moment.unwrap_or_default();
        let reader = reader.filter(|reader| {
            let view = reader.view();
            view.is_ok_and(|view| view.instance().to_string() == moment.instance)
        });
        let name = brain.to_owned();
        Ok(Brain::new(self.clone(), name, reader, moment.lsn))
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
