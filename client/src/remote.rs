//! The daemon's client: the generated stubs over its Unix socket, and opening a brain to read it directly.

use std::path::{Path, PathBuf};

use amem_core::reader::Reader;
use amem_proto::v1::OpenBrainRequest;
use amem_proto::v1::OpenBrainResponse;
use amem_proto::v1::admin_service_client::AdminServiceClient;
use amem_proto::v1::brain_service_client::BrainServiceClient;
use amem_proto::v1::memory_service_client::MemoryServiceClient;
use amem_proto::v1::query_service_client::QueryServiceClient;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::Status;
use tonic::transport::{Channel, Endpoint, Uri};

/// The result of asking the daemon.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong when the daemon is asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody answers on the socket.
    #[error("cannot reach a daemon on {}: {source}; start amemd, or give another socket", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// Why not.
        source: tonic::transport::Error,
    },
    /// The daemon refused.
    #[error("{}", .0.message())]
    Refused(#[from] Box<Status>),
    /// The brain's file can't be read.
    #[error(transparent)]
    Core(#[from] amem_core::Error),
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::Refused(Box::new(status))
    }
}

/// A connection to a daemon. Cloning it is cheap and shares the connection, which is made again if it is lost.
#[derive(Debug, Clone)]
pub struct Client {
    channel: Channel,
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
    pub async fn connect_unix(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        // The name only fills the requests' authority; the connector knows where to go.
        let endpoint = Endpoint::from_static("http://localhost");
        let to = path.clone();
        let connector = tower::service_fn(move |_: Uri| {
            let to = to.clone();
            async move { UnixStream::connect(to).await.map(TokioIo::new) }
        });
        match endpoint.connect_with_connector(connector).await {
            Ok(channel) => Ok(Self { channel }),
            Err(source) => Err(Error::Connect { path, source }),
        }
    }

    /// Brains: making, opening, listing them.
    pub fn brains(&self) -> BrainServiceClient<Channel> {
        BrainServiceClient::new(self.channel.clone())
    }

    /// Changes to brains.
    pub fn memory(&self) -> MemoryServiceClient<Channel> {
        MemoryServiceClient::new(self.channel.clone())
    }

    /// Questions to brains.
    pub fn queries(&self) -> QueryServiceClient<Channel> {
        QueryServiceClient::new(self.channel.clone())
    }

    /// The daemon itself.
    pub fn admin(&self) -> AdminServiceClient<Channel> {
        AdminServiceClient::new(self.channel.clone())
    }

    /// The bare connection, for other services such as grpc.health.v1.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Opens a brain, and its file if the daemon allows that: views of it then cost no call.
    pub async fn open(&self, brain: &str) -> Result<Opened> {
        let request = OpenBrainRequest {
            brain: brain.to_owned(),
        };
        let response = self.brains().open_brain(request).await?.into_inner();
        let reader = match response.direct_read {
            true => Some(Reader::open(Path::new(&response.path))?),
            false => None,
        };
        Ok(Opened { response, reader })
    }
}
