//! Who makes a call: the user at the other end of the Unix socket, or who shows a certificate or a token by TCP.

use std::net::SocketAddr;

use tonic::Code;
use tonic::codegen::http::{HeaderMap, Uri, header};

use super::peer::Peer;
use super::session::Visitor;
use crate::auth::{Caller, Digest, Rights, Tokens};
use crate::control::Live;
use crate::refusal::{Refusal, Result};

/// What a call shows of who makes it. It is judged by what is in force, and again whenever that changes.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    peer: Peer,
    /// The hash of the token, or why there is none.
    token: Result<Digest>,
}

impl Shown {
    /// What a call of this peer shows.
    pub(crate) fn by(peer: &Peer, uri: &Uri, headers: &HeaderMap) -> Result<Self> {
        let peer = peer.clone();
        // Who comes by TLS has seen our certificate: no other name leads here.
        if let Peer::Tcp { to, tls: false, .. } = &peer {
            check_authority(*to, uri, headers)?;
        }
        let token = shown_token(headers).and_then(|token| {
            Digest::of(token).ok_or_else(|| Refusal::internal("there is no SHA-256"))
        });
        Ok(Self { peer, token })
    }

    /// Who that is by what is in force.
    pub(crate) fn caller(&self, live: &Live) -> Result<Caller> {
        let (certificate, authority) = match &self.peer {
            Peer::Unix { uid, gid } => {
                let rights = live.access.rights(*uid, *gid);
                // They may have been taken away since the connection began.
                rights.most().ok_or_else(unknown)?;
                return Ok(Caller {
                    user: Some((*uid, *gid)),
                    ..Caller::new(format!("uid:{uid}"), rights)
                });
            }
            Peer::Tcp {
                certificate,
                authority,
                ..
            } => (certificate, authority),
        };
        // What was shown was held against the authority of that time.
        let keys = live.secrets.keys.as_ref();
        if keys.and_then(|keys| keys.authority.as_ref()) != authority.as_ref() {
            let why = "the authority of certificates (tcp.tls_client_ca) has changed since the connection began: \
                       connect again";
            return Err(Refusal::new(Code::Unauthenticated, "PRINCIPAL", why));
        }
        if let Some(tokens) = &live.secrets.tokens {
            return self.by_token(tokens);
        }
        // Without either nothing says who calls: no configuration allows that, but a reload may have come in between.
        let principal = certificate.clone().ok_or_else(unknown)?;
        Ok(Caller::new(principal, Rights::with_all(live.tcp_role)))
    }

    fn by_token(&self, tokens: &Tokens) -> Result<Caller> {
        if tokens.is_empty() {
            return Err(token_refused("there is no token yet"));
        }
        let shown = self.token.clone()?;
        let token = tokens
            .find(&shown)
            .ok_or_else(|| token_refused("the token is none, or was revoked"))?;
        let rights = Rights::with_each(token.role, &token.brains);
        Ok(Caller::new(format!("token:{}", token.name), rights))
    }
}

impl Visitor for Shown {
    fn is_let_in(&self, live: &Live) -> bool {
        self.caller(live).is_ok()
    }
}

pub(crate) fn unknown() -> Refusal {
    let why = "nothing says whose the connection is: connect through the Unix socket as a user whom the daemon's \
               configuration allows it";
    Refusal::new(Code::Unauthenticated, "PRINCIPAL", why)
}

fn token_refused(what: &str) -> Refusal {
    let message = format!(
        "{what}: send the header \"authorization: Bearer TOKEN\"; on the daemon's machine, `amemctl token create NAME` \
         makes a token"
    );
    Refusal::new(Code::Unauthenticated, "TOKEN", message)
}

fn shown_token(headers: &HeaderMap) -> Result<&[u8]> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(token_refused("there is no token, or more than one"));
    };
    let (scheme, token) = value
        .as_bytes()
        .split_at_checked(7)
        .ok_or_else(|| token_refused("there is no token"))?;
    match scheme.eq_ignore_ascii_case(b"bearer ") {
        true => Ok(token.trim_ascii()),
        false => Err(token_refused("this is not a bearer's token")),
    }
}

/// On an address of this machine only, the caller must say that it means this machine: a page in a browser can
/// connect to it under a name of its own.
fn check_authority(to: SocketAddr, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    if !to.ip().is_loopback() {
        return Ok(());
    }
    let host = headers.get(header::HOST).map(|host| host.as_bytes());
    let said = uri
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
        ours.iter()
            .any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
    };
    let mut names = said.into_iter().chain(host).peekable();
    if names.peek().is_some() && names.all(is_ours) {
        return Ok(());
    }
    let message = format!("the call is meant for another host: this is localhost:{port}");
    Err(Refusal::new(Code::PermissionDenied, "HOST", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::codegen::http::Request;

    fn check(to: &str, authority: &str, host: Option<&str>) -> Result<()> {
        let mut request = Request::builder().uri(format!("http://{authority}/a/b"));
        if let Some(host) = host {
            request = request.header(header::HOST, host);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check_authority(to.parse().unwrap(), &parts.uri, &parts.headers)
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
        let none = check_authority("127.0.0.1:1".parse().unwrap(), &parts.uri, &parts.headers);
        assert_eq!(none.unwrap_err().reason, "HOST");
    }

    #[test]
    fn a_token_is_shown_by_a_bearer_once() {
        let shown = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            shown_token(&headers).map(<[u8]>::to_vec)
        };
        assert_eq!(shown(&["Bearer abc"]).unwrap(), b"abc");
        assert_eq!(shown(&["bearer  abc "]).unwrap(), b"abc");
        for wrong in [
            &[][..],
            &["abc"],
            &["Basic abcdef"],
            &["Bearer a", "Bearer a"],
            &["Bearer"],
        ] {
            let refusal = shown(wrong).unwrap_err();
            assert_eq!(
                (refusal.code, &*refusal.reason),
                (Code::Unauthenticated, "TOKEN")
            );
        }
    }
}
