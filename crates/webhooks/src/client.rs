//! One post: its address, its connection, its answer.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::Request;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::http::Uri;
use hyper::http::uri::Scheme;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::address::{AddressKind, kind};
use crate::signature::signature;

/// How long a post may take, from the look-up of the name to the head of the answer.
const POST_AFTER: Duration = Duration::from_secs(10);
/// Bytes of the head of an answer.
const ANSWER_HEAD_BYTES_MAX: usize = 16 << 10;
/// Addresses of one name that are tried.
const ADDRESSES_MAX: usize = 4;
/// The header of the signature.
const SIGNATURE: HeaderName = HeaderName::from_static("x-amem-signature");

/// The status of the answer, or why there is none.
pub type PostFuture = Pin<Box<dyn Future<Output = Result<u16, String>> + Send>>;

/// Posts a request whose URL is whole, signed with a secret; true allows private addresses, and without TLS these only.
pub type Post = Arc<dyn Fn(Request<String>, String, bool) -> PostFuture + Send + Sync>;

type Result<T, E = String> = std::result::Result<T, E>;

/// Reads the certificates of authorities that this machine trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR` name others).
///
/// # Errors
/// If TLS cannot be set up. Without certificates only a post that needs them fails.
pub fn start() -> Result<Post> {
    let tls = tls()?;
    Ok(Arc::new(move |request, secret, is_private| {
        let tls = tls.clone();
        Box::pin(async move {
            let posted = timeout(POST_AFTER, post(tls, request, &secret, is_private)).await;
            posted.unwrap_or_else(|_| Err(format!("no answer within {} s", POST_AFTER.as_secs())))
        })
    }))
}

/// The inner error: there is no certificate.
fn tls() -> Result<Result<TlsConnector>> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Authorities with certificates that cannot be read are not trusted: others may do.
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let why = found.errors.first().map(|why| format!(": {why}"));
        let why = why.unwrap_or_default();
        return Ok(Err(format!(
            "this machine has no certificates of authorities, so no host can be verified{why}"
        )));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| why.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Ok(TlsConnector::from(Arc::new(config))))
}

fn failed(what: &'static str) -> impl Fn(&dyn Display) -> String {
    move |why| format!("{what}: {why}")
}

async fn post(
    tls: Result<TlsConnector>,
    mut request: Request<String>,
    secret: &str,
    is_private: bool,
) -> Result<u16> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |now| now.as_secs());
    let value = HeaderValue::try_from(signature(secret, seconds, request.body()));
    let value = value.map_err(|why| failed("the signature is no header")(&why))?;
    request.headers_mut().insert(SIGNATURE, value);
    let host = put_host(&mut request)?;
    let is_tls = host.is_tls;
    let addresses = host.addresses(is_private).await?;
    let stream = connect(&addresses).await?;
    if !is_tls {
        return send(stream, request).await;
    }
    let name = ServerName::try_from(host.name.clone());
    let name = name.map_err(|why| failed("the host cannot be verified")(&why))?;
    let stream = tls?.connect(name, stream).await;
    send(stream.map_err(|why| failed("TLS")(&why))?, request).await
}

/// The host of a URL.
#[derive(Debug)]
struct UrlHost {
    is_tls: bool,
    /// Without the brackets of an IPv6 address.
    name: String,
    port: u16,
}

/// Takes the host out of the URL of a request, into its header.
fn put_host(request: &mut Request<String>) -> Result<UrlHost> {
    let uri = request.uri();
    let is_tls = match uri.scheme() {
        Some(scheme) if *scheme == Scheme::HTTPS => true,
        Some(scheme) if *scheme == Scheme::HTTP => false,
        _ => return Err("the URL is neither of https nor of http".into()),
    };
    let authority = uri.authority().ok_or("the URL has no host")?;
    let name = authority.host().trim_matches(['[', ']']).to_owned();
    let port = authority
        .port_u16()
        .unwrap_or(if is_tls { 443 } else { 80 });
    let header = HeaderValue::from_str(authority.as_str());
    let header = header.map_err(|why| failed("the host is no header")(&why))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let path = Uri::try_from(path).map_err(|why| failed("the path of the URL")(&why))?;
    *request.uri_mut() = path;
    request.headers_mut().insert(HOST, header);
    Ok(UrlHost { is_tls, name, port })
}

impl UrlHost {
    /// Its addresses. One that is refused refuses the name: another post might reach it.
    async fn addresses(&self, is_private: bool) -> Result<Vec<SocketAddr>> {
        let found = lookup_host((self.name.as_str(), self.port)).await;
        let found = found.map_err(|why| failed("the host has no address")(&why))?;
        // A name that lists link-local addresses could be meant; a literal is.
        let literal: Option<IpAddr> = self.name.parse().ok();
        let mut addresses = Vec::new();
        for address in found {
            self.check(address.ip(), is_private, literal.is_some())?;
            addresses.push(address);
        }
        addresses.truncate(ADDRESSES_MAX);
        Ok(addresses)
    }

    fn check(&self, address: IpAddr, is_private: bool, is_literal: bool) -> Result<()> {
        let name = &self.name;
        let refused = |why: &str| Err(format!("{name} has the address {address}, {why}"));
        match kind(address) {
            AddressKind::Unusable => refused("which is that of no single host"),
            AddressKind::LinkLocal if is_private && is_literal => Ok(()),
            AddressKind::LinkLocal => refused("which is link-local: list the address itself"),
            AddressKind::Private if is_private => Ok(()),
            AddressKind::Private => refused("which is private: the host is not listed as such"),
            AddressKind::Public if self.is_tls => Ok(()),
            AddressKind::Public => refused("which is public: it needs https"),
        }
    }
}

async fn connect(addresses: &[SocketAddr]) -> Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(why) => last = why,
        }
    }
    Err(failed("cannot connect")(&last))
}

/// Sends a request; its connection ends with the head of the answer.
async fn send<S>(stream: S, request: Request<String>) -> Result<u16>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let lost = failed("the connection broke");
    let mut builder = http1::Builder::new();
    builder.max_buf_size(ANSWER_HEAD_BYTES_MAX);
    let (mut sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|why| lost(&why))?;
    let mut connection = pin!(connection);
    let mut answer = pin!(sender.send_request(request));
    let answer = tokio::select! {
        biased;
        answer = &mut answer => answer,
        ended = &mut connection => {
            ended.map_err(|why| lost(&why))?;
            answer.await
        }
    };
    Ok(answer.map_err(|why| lost(&why))?.status().as_u16())
}
