//! One post: its signature, the judge of its addresses, its answer.

use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use amem_outbound::{
    AddressJudge, AddressKind, Connector, HttpClient, HttpSetup, address_kind, tls_connector,
};
use hyper::Request;
use hyper::header::{HeaderName, HeaderValue};
use tokio::time::timeout;

use crate::signature::signature;

/// How long a post may take, from the look-up of the name to the head of the answer.
const POST_AFTER: Duration = Duration::from_secs(10);
/// Bytes of the head of an answer.
const ANSWER_HEAD_BYTES_MAX: usize = 16 << 10;
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
/// None: without certificates only a post that needs them fails.
pub fn start() -> Result<Post> {
    let tls = tls_connector(None);
    Ok(Arc::new(move |request, secret, is_private| {
        let connector = Connector {
            judge: judge(is_private),
            proxy: None,
            tls: tls.clone(),
            connect_after: POST_AFTER,
        };
        Box::pin(async move {
            let posted = timeout(POST_AFTER, post(connector, request, &secret)).await;
            posted.unwrap_or_else(|_| Err(format!("no answer within {} s", POST_AFTER.as_secs())))
        })
    }))
}

async fn post(connector: Connector, mut request: Request<String>, secret: &str) -> Result<u16> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |now| now.as_secs());
    let value = HeaderValue::try_from(signature(secret, seconds, request.body()));
    let failed = |why: &dyn Display| {
        format!("the signature cannot be sent as a header ({why}): set another secret")
    };
    let value = value.map_err(|why| failed(&why))?;
    request.headers_mut().insert(SIGNATURE, value);
    // Each post looks its host up.
    let setup = HttpSetup {
        keeps_connections: false,
        head_bytes_max: ANSWER_HEAD_BYTES_MAX,
    };
    let answer = HttpClient::new(connector, setup).send(request).await?;
    Ok(answer.status)
}

/// One address that is refused refuses the name: another post might reach it.
fn judge(is_private: bool) -> AddressJudge {
    Arc::new(move |target, address| {
        let name = &target.host;
        let Some(address) = address else {
            return Err(format!("{name} is not called by a proxy"));
        };
        // A name that lists link-local addresses could be meant; a literal is.
        let is_literal = name.parse::<std::net::IpAddr>().is_ok();
        let refused = |why: &str| Err(format!("{name} has the address {address}, {why}"));
        match address_kind(address) {
            AddressKind::Unusable => refused("which is that of no single host"),
            AddressKind::LinkLocal if is_private && is_literal => Ok(()),
            AddressKind::LinkLocal => refused("which is link-local: list the address itself"),
            AddressKind::Private if is_private => Ok(()),
            AddressKind::Private => refused("which is private: the host is not listed as such"),
            AddressKind::Public if target.is_tls => Ok(()),
            AddressKind::Public => refused("which is public: it needs https"),
        }
    })
}
