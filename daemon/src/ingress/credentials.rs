//! Credentials: the evidence of a request for its caller, and the caller that it identifies.
//!
//! By the Unix socket the kernel names the user. By TCP the caller shows a token, or presented a certificate. The
//! credentials stay with the request and are checked again whenever the configuration in force changes.

use std::net::SocketAddr;

use amem_proto::answer::Code;
use hyper::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

use super::peer::Peer;
use super::session::CallerIdentity;
use crate::auth::{Caller, Digest, Rights, Tokens};
use crate::control::LiveConfig;
use crate::refusal::{Refusal, Result};

/// The evidence of a request for its caller.
#[derive(Debug, Clone)]
pub(crate) struct Credentials {
    peer: Peer,
    /// The hash of the token, or why there is none.
    token: Result<Digest>,
}

impl Credentials {
    /// The credentials of a request. An error if a request by loopback names another host.
    pub(crate) fn of(peer: &Peer, uri: &Uri, headers: &HeaderMap) -> Result<Self> {
        let peer = peer.clone();
        // A TLS client has verified the daemon's certificate: no other name leads here.
        if let Peer::Tcp { to, tls: false, .. } = &peer {
            check_host(*to, uri, headers)?;
        }
        let token = shown_token(headers).and_then(|token| {
            Digest::of(token).ok_or_else(|| Refusal::internal("there is no SHA-256"))
        });
        Ok(Self { peer, token })
    }

    /// The caller under this configuration.
    pub(crate) fn caller(&self, live: &LiveConfig) -> Result<Caller> {
        let (certificate, client_ca) = match &self.peer {
            Peer::Unix { uid, gid } => {
                let rights = live.access.rights(*uid, *gid);
                // A reload may have revoked them since the connection began.
                rights.most().ok_or_else(unidentified)?;
                return Ok(Caller {
                    user: Some((*uid, *gid)),
                    ..Caller::new(format!("uid:{uid}"), rights)
                });
            }
            Peer::Anonymous { from } => {
                let principal = format!("anonymous:{}", from.ip());
                return Ok(Caller::new(principal, Rights::default()));
            }
            Peer::Tcp {
                certificate,
                client_ca,
                ..
            } => (certificate, client_ca),
        };
        // The handshake verified the certificate against the CA of that moment.
        let keys = live.secrets.keys.as_ref();
        if keys.and_then(|keys| keys.client_ca.as_ref()) != client_ca.as_ref() {
            let why = "the CA of client certificates (tcp.tls_client_ca) has changed since the connection began: connect \
                       again";
            return Err(Refusal::new(Code::Unauthenticated, "PRINCIPAL", why));
        }
        if let Some(tokens) = &live.secrets.tokens {
            return self.by_token(tokens);
        }
        // No configuration allows TCP without tokens and certificates, but a reload may have come in between.
        let principal = certificate.clone().ok_or_else(unidentified)?;
        Ok(Caller::new(principal, Rights::with_all(live.tcp_role)))
    }

    fn by_token(&self, tokens: &Tokens) -> Result<Caller> {
        if tokens.is_empty() {
            return Err(token_refused("no token exists"));
        }
        let digest = self.token.clone()?;
        let token = tokens
            .find(&digest)
            .ok_or_else(|| token_refused("the token is unknown or revoked"))?;
        let rights = Rights::with_each(token.rights.role, &token.rights.brains);
        Ok(Caller {
            scope: token.rights.scope.clone(),
            ..Caller::new(format!("token:{}", token.name), rights)
        })
    }
}

impl CallerIdentity for Credentials {
    fn is_accepted(&self, live: &LiveConfig) -> bool {
        self.caller(live).is_ok()
    }
}

/// The refusal of a caller that nothing identifies.
pub(crate) fn unidentified() -> Refusal {
    let why = "the caller is not identified: connect through the Unix socket as a user to whom the configuration of \
               amemd grants a role";
    Refusal::new(Code::Unauthenticated, "PRINCIPAL", why)
}

fn token_refused(what: &str) -> Refusal {
    let message = format!(
        "{what}: send the header \"authorization: Bearer TOKEN\"; on the daemon's machine, `amemctl token create NAME` \
         creates a token"
    );
    Refusal::new(Code::Unauthenticated, "TOKEN", message)
}

/// The header of clients that send a key instead of an `authorization`.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The schemes of `authorization`: ours, and that of mem0's clients.
const SCHEMES: [&[u8]; 2] = [b"bearer ", b"token "];

/// The token of a request: one, in one header.
fn shown_token(headers: &HeaderMap) -> Result<&[u8]> {
    let schemes = headers.get_all(header::AUTHORIZATION).iter();
    let keys = headers.get_all(API_KEY).iter();
    let mut shown = schemes
        .map(|value| scheme_token(value.as_bytes()))
        .chain(keys.map(|key| Ok(key.as_bytes().trim_ascii())));
    match (shown.next(), shown.next()) {
        (Some(token), None) => token,
        _ => Err(token_refused("the request has no token, or more than one")),
    }
}

fn scheme_token(value: &[u8]) -> Result<&[u8]> {
    let token = SCHEMES.iter().find_map(|scheme| {
        let (front, token) = value.split_at_checked(scheme.len())?;
        front.eq_ignore_ascii_case(scheme).then_some(token)
    });
    let token = token.map(<[u8]>::trim_ascii);
    token.ok_or_else(|| token_refused("the authorization header has no bearer token"))
}

/// True if a request shows its token as mem0's clients do.
pub(crate) fn is_mem0_client(headers: &HeaderMap) -> bool {
    let value = headers
        .get(header::AUTHORIZATION)
        .map(HeaderValue::as_bytes);
    value
        .and_then(|value| value.split_at_checked(SCHEMES[1].len()))
        .is_some_and(|(front, _)| front.eq_ignore_ascii_case(SCHEMES[1]))
}

/// Refuses a request by loopback that names another host: a web page can make a browser connect to loopback under the
/// page's own host name (DNS rebinding).
fn check_host(to: SocketAddr, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    if !to.ip().is_loopback() {
        return Ok(());
    }
    let hosts = headers.get_all(header::HOST).iter();
    let hosts = hosts.map(|host| host.as_bytes());
    let authority = uri
        .authority()
        .map(|authority| authority.as_str().as_bytes());
    let port = to.port();
    let ours = [
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
        to.to_string(),
    ];
    let is_ours = |name: &[u8]| {
        ours.iter().any(|own| {
            let own = own.as_bytes();
            // Clients leave the default port out.
            let short = own.strip_suffix(b":80").filter(|_| port == 80);
            name.eq_ignore_ascii_case(own)
                || short.is_some_and(|own| name.eq_ignore_ascii_case(own))
        })
    };
    let mut names = authority.into_iter().chain(hosts).peekable();
    if names.peek().is_some() && names.all(is_ours) {
        return Ok(());
    }
    let message = format!("the request names another host: this is localhost:{port}");
    Err(Refusal::new(Code::PermissionDenied, "HOST", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::http::Request;

    fn check(to: &str, authority: &str, host: Option<&str>) -> Result<()> {
        let mut request = Request::builder().uri(format!("http://{authority}/a/b"));
        if let Some(host) = host {
            request = request.header(header::HOST, host);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check_host(to.parse().unwrap(), &parts.uri, &parts.headers)
    }

    #[test]
    fn a_call_by_loopback_must_mean_this_machine() {
        for (to, authority, host, good) in [
            ("127.0.0.1:7411", "localhost:7411", None, true),
            ("127.0.0.1:7411", "LOCALHOST:7411", None, true),
            (
                "127.0.0.1:7411",
                "127.0.0.1:7411",
                Some("127.0.0.1:7411"),
                true,
            ),
            ("[::1]:7411", "[::1]:7411", None, true),
            ("127.0.0.2:7411", "127.0.0.2:7411", None, true),
            ("127.0.0.1:7411", "localhost", None, false),
            ("127.0.0.1:7411", "localhost:7412", None, false),
            ("127.0.0.1:7411", "evil.example:7411", None, false),
            ("127.0.0.1:7411", "localhost.evil.example:7411", None, false),
            (
                "127.0.0.1:7411",
                "localhost:7411",
                Some("evil.example"),
                false,
            ),
            ("127.0.0.1:80", "localhost", None, true),
            ("127.0.0.1:80", "evil.example", None, false),
            ("10.0.0.1:7411", "memory.example:7411", None, true),
        ] {
            let checked = check(to, authority, host);
            assert_eq!(checked.is_ok(), good, "{to} {authority} {host:?}");
            if let Err(refusal) = checked {
                assert_eq!(
                    (refusal.code, &*refusal.reason),
                    (Code::PermissionDenied, "HOST")
                );
            }
        }
        let (parts, ()) = Request::builder()
            .uri("/a/b")
            .body(())
            .unwrap()
            .into_parts();
        let none = check_host("127.0.0.1:1".parse().unwrap(), &parts.uri, &parts.headers);
        assert_eq!(none.unwrap_err().reason, "HOST");
    }

    #[test]
    fn a_token_is_shown_once_in_any_of_the_headers() {
        let token = |values: &[(HeaderName, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in values {
                headers.append(name, value.parse().unwrap());
            }
            shown_token(&headers).map(<[u8]>::to_vec)
        };
        let by = |value| (header::AUTHORIZATION, value);
        for shown in [
            by("Bearer abc"),
            by("bearer  abc "),
            by("Token abc"),
            by("TOKEN abc"),
            (API_KEY, "abc"),
        ] {
            assert_eq!(
                token(std::slice::from_ref(&shown)).unwrap(),
                b"abc",
                "{shown:?}"
            );
        }
        for wrong in [
            &[][..],
            &[by("abc")],
            &[by("Basic abcdef")],
            &[by("Bearer a"), by("Bearer a")],
            &[by("Token a"), (API_KEY, "a")],
            &[(API_KEY, "a"), (API_KEY, "b")],
            &[by("Bearer")],
        ] {
            let refusal = token(wrong).unwrap_err();
            assert_eq!(
                (refusal.code, &*refusal.reason),
                (Code::Unauthenticated, "TOKEN")
            );
        }
    }
}
