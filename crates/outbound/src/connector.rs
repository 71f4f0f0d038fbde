//! A connection to a server, through a proxy if there is one, with TLS if the URL says so.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tower::Service;

use crate::limits::{ADDRESSES_MAX, ANSWER_HEAD_BYTES_MAX};
use crate::proxy::ProxyAddress;
use crate::target::ConnectTarget;

type Result<T, E = String> = std::result::Result<T, E>;

/// Refuses addresses of a host, with the reason. `None` is the address that a proxy finds for the name.
pub type AddressJudge = Arc<dyn Fn(&ConnectTarget, Option<IpAddr>) -> Result<()> + Send + Sync>;

/// Opens connections for a client.
#[derive(Clone)]
pub struct Connector {
    /// Asked about every address of a name before one is called.
    pub judge: AddressJudge,
    /// Where connections go instead of to the server.
    pub proxy: Option<ProxyAddress>,
    /// The error is that of connections that need TLS.
    pub tls: Result<TlsConnector>,
    /// How long a connection may take, TLS included.
    pub connect_after: Duration,
}

impl Service<Uri> for Connector {
    type Response = Transport;
    type Error = ConnectFailure;
    type Future = Pin<Box<dyn Future<Output = Result<Transport, ConnectFailure>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(&url).await.map_err(ConnectFailure) })
    }
}

impl Connector {
    async fn connect(&self, url: &Uri) -> Result<Transport> {
        let target = ConnectTarget::of(url)?;
        let stream = timeout(self.connect_after, self.stream(&target)).await;
        let stream = stream.unwrap_or_else(|_| {
            let (authority, seconds) = (&target.authority, self.connect_after.as_secs());
            Err(format!("no connection to {authority} within {seconds} s"))
        })?;
        Ok(Transport {
            stream: TokioIo::new(stream),
            is_proxied: self.proxy.is_some() && !target.is_tls,
            mark: AnswerMark::default(),
        })
    }

    async fn stream(&self, target: &ConnectTarget) -> Result<Box<dyn Stream>> {
        let stream = match &self.proxy {
            None => {
                let addresses = addresses(&target.host, target.port).await?;
                for address in &addresses {
                    (self.judge)(target, Some(address.ip()))?;
                }
                self.open(&addresses, &target.authority).await?
            }
            Some(proxy) => {
                (self.judge)(target, None)?;
                let addresses = addresses(&proxy.host, proxy.port).await?;
                let name = format!("the proxy {}:{}", proxy.host, proxy.port);
                let stream = self.open(&addresses, &name).await?;
                if target.is_tls {
                    let tunnelled = tunnel(stream, target, proxy).await;
                    tunnelled.map_err(|why| failed(name)(&why))?
                } else {
                    stream
                }
            }
        };
        if !target.is_tls {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(target.host.clone());
        let name = name.map_err(|why| failed("the host cannot be verified")(&why))?;
        let stream = self.tls.clone()?.connect(name, stream).await;
        let stream = stream.map_err(|why| failed(format!("TLS with {}", target.host))(&why))?;
        Ok(Box::new(stream))
    }

    /// The first address that answers. A silent one leaves time for the others.
    async fn open(&self, addresses: &[SocketAddr], name: &str) -> Result<TcpStream> {
        let tried = &addresses[..addresses.len().min(ADDRESSES_MAX)];
        let count = u32::try_from(tried.len().max(1)).unwrap_or(1);
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in tried {
            let opened = TcpStream::connect(address);
            let opened = timeout(self.connect_after / count, opened).await;
            match opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(stream) => {
                    // A request is written in two parts, which should not wait for each other.
                    _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Err(why) => last = why,
            }
        }
        Err(failed(format!("cannot connect to {name}"))(&last))
    }
}

fn failed(what: impl Display) -> impl Fn(&dyn Display) -> String {
    move |why| format!("{what}: {why}")
}

async fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>> {
    let found = lookup_host((host, port)).await;
    let found = found.map_err(|why| failed(format!("{host} has no address"))(&why))?;
    Ok(found.collect())
}

/// Asks a proxy for a tunnel.
async fn tunnel(
    mut stream: TcpStream,
    target: &ConnectTarget,
    proxy: &ProxyAddress,
) -> Result<TcpStream> {
    let host = if target.host.contains(':') {
        format!("[{}]:{}", target.host, target.port)
    } else {
        format!("{}:{}", target.host, target.port)
    };
    let mut head = format!("CONNECT {host} HTTP/1.1\r\nhost: {host}\r\n").into_bytes();
    if let Some(value) = &proxy.authorization {
        head.extend_from_slice(b"proxy-authorization: ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let broke = failed("the connection broke");
    let written = stream.write_all(&head).await;
    written.map_err(|why| broke(&why))?;
    // Byte by byte: what follows the head belongs to TLS.
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() > ANSWER_HEAD_BYTES_MAX {
            return Err("its answer has no end".into());
        }
        answer.push(stream.read_u8().await.map_err(|why| broke(&why))?);
    }
    let status = answer
        .get(9..12)
        .and_then(|text| std::str::from_utf8(text).ok());
    match status {
        Some(status) if status.starts_with('2') => Ok(stream),
        Some("407") => Err("it wants a user and a password (407)".into()),
        status => Err(format!(
            "it refuses the connection ({})",
            status.unwrap_or("no status")
        )),
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub struct ConnectFailure(pub String);

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ConnectFailure {}

/// True once the connection has carried an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerMark(Arc<AtomicBool>);

impl AnswerMark {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What carries requests.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An open connection.
pub struct Transport {
    stream: TokioIo<Box<dyn Stream>>,
    is_proxied: bool,
    mark: AnswerMark,
}

impl Connection for Transport {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.mark.clone());
        connected.proxy(self.is_proxied)
    }
}

impl Read for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Transport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
