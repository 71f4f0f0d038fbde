//! A connection to a server, through a proxy if there is one, with TLS if the URL says so.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::address::{is_loopback_name, is_private};
use super::base_url::BaseUrl;
use super::proxy::ProxyAddress;
use crate::limits::{ADDRESSES_MAX, ANSWER_HEAD_BYTES_MAX};

/// What carries requests.
pub(super) trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Transport for S {}

type Result<T, E = String> = std::result::Result<T, E>;

fn failed(what: impl Display) -> impl Fn(&dyn Display) -> String {
    move |why| format!("{what}: {why}")
}

/// Connects. A name is looked up once, and the address that was judged is the one that is called.
pub(super) async fn connect(
    url: &BaseUrl,
    proxy: Option<&ProxyAddress>,
    tls: Option<&TlsConnector>,
    allow_plain_http: bool,
    limit: Duration,
) -> Result<Box<dyn Transport>> {
    let is_plain_allowed = url.is_tls || allow_plain_http;
    let stream = match proxy {
        None => {
            let addresses = addresses(&url.host, url.port).await?;
            let public = addresses.iter().find(|address| !is_private(address.ip()));
            if let Some(address) = public.filter(|_| !is_plain_allowed) {
                return Err(too_plain(&url.host, &address.ip().to_string()));
            }
            open(&addresses, &url.authority, limit).await?
        }
        Some(proxy) => {
            // What the name means is the proxy's affair; only this machine and private addresses are certain.
            let literal = url.host.parse().map(is_private).unwrap_or(false);
            if !is_plain_allowed && !literal && !is_loopback_name(&url.host) {
                return Err(too_plain(&url.host, "reached by a proxy"));
            }
            let addresses = addresses(&proxy.host, proxy.port).await?;
            let name = format!("the proxy {}:{}", proxy.host, proxy.port);
            let stream = open(&addresses, &name, limit).await?;
            if url.is_tls {
                tunnel(stream, url, proxy)
                    .await
                    .map_err(|why| failed(name)(&why))?
            } else {
                stream
            }
        }
    };
    let Some(tls) = tls.filter(|_| url.is_tls) else {
        return Ok(Box::new(stream));
    };
    let name = ServerName::try_from(url.host.clone());
    let name = name.map_err(|why| failed("the host cannot be verified")(&why))?;
    let stream = tls.connect(name, stream).await;
    let stream = stream.map_err(|why| failed(format!("TLS with {}", url.host))(&why))?;
    Ok(Box::new(stream))
}

fn too_plain(host: &str, address: &str) -> String {
    format!(
        "{host} ({address}) is not in this machine's network: use https, or set allow_plain_http"
    )
}

async fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>> {
    let found = lookup_host((host, port)).await;
    let found = found.map_err(|why| failed(format!("{host} has no address"))(&why))?;
    Ok(found.take(ADDRESSES_MAX).collect())
}

/// The first address that answers. A silent one leaves time for the others.
async fn open(addresses: &[SocketAddr], name: &str, limit: Duration) -> Result<TcpStream> {
    let count = u32::try_from(addresses.len().max(1)).unwrap_or(1);
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        let connected = timeout(limit / count, TcpStream::connect(address)).await;
        match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
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

/// Asks a proxy for a tunnel.
async fn tunnel(mut stream: TcpStream, url: &BaseUrl, proxy: &ProxyAddress) -> Result<TcpStream> {
    let host = if url.host.contains(':') {
        format!("[{}]:{}", url.host, url.port)
    } else {
        format!("{}:{}", url.host, url.port)
    };
    let mut head = format!("CONNECT {host} HTTP/1.1\r\nhost: {host}\r\n");
    if let Some(secret) = &proxy.authorization {
        head += &format!("proxy-authorization: {}\r\n", secret.reveal());
    }
    head += "\r\n";
    let broke = failed("the connection broke");
    stream
        .write_all(head.as_bytes())
        .await
        .map_err(|why| broke(&why))?;
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
