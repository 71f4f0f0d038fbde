//! The secrets of TCP: tokens, and the keys of TLS.
//!
//! Promises: a file that others can write, or a secret that others can read, is refused; no secret is ever logged or
//! printed. Not here: what a token is (`tokens`).

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::digest::Digest;
use super::tokens::Tokens;
use crate::config::{Config, TlsFiles};
use crate::error::{Error, Result};
use crate::limits::PEM_BYTES_MAX;
use amem_host::files::{FileFault, FileKind, read_file};
use amem_host::trust::OthersMay;

/// The CA of client certificates: the bytes of its file.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClientCa(Arc<Vec<u8>>);

impl std::fmt::Debug for ClientCa {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ClientCa of {} bytes", self.0.len())
    }
}

/// The TLS configuration in force.
#[derive(Clone)]
pub(crate) struct TlsKeys {
    pub(crate) server: Arc<ServerConfig>,
    /// The same for HTTP, whose clients may speak HTTP/1.1.
    pub(crate) http: Arc<ServerConfig>,
    /// The CA of client certificates, if clients must present one.
    pub(crate) client_ca: Option<ClientCa>,
    /// The files it was made from, to detect a change.
    pem: Vec<Vec<u8>>,
}

/// What callers by TCP must present, and what the daemon presents to them.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    /// `None` if no token is required.
    pub(crate) tokens: Option<Tokens>,
    pub(crate) keys: Option<TlsKeys>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (tokens, tls) = (self.tokens.is_some(), self.keys.is_some());
        write!(out, "Secrets {{ tokens: {tokens}, tls: {tls} }}")
    }
}

impl Secrets {
    /// Reads the files that the configuration names.
    pub(crate) fn load(config: &Config) -> Result<Self> {
        let Some(tcp) = &config.tcp else {
            return Ok(Self::default());
        };
        let keys = tcp.tls.as_ref().map(|tls| keys(config, tls)).transpose()?;
        let tokens = tcp.tokens_file.as_deref().map(Tokens::load).transpose()?;
        Ok(Self { tokens, keys })
    }

    /// A warning if no caller can connect by TCP because there is no token.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        let is_useless = self.tokens.as_ref().is_some_and(Tokens::is_empty);
        is_useless.then_some(
            "no caller can connect by TCP yet: there is no token; `amemctl token create NAME` creates one",
        )
    }

    /// The settings whose files have changed.
    pub(crate) fn changes(&self, before: &Self) -> Vec<&'static str> {
        let mut out = Vec::new();
        if self.tokens != before.tokens {
            out.push("tcp.tokens_file");
        }
        let pem = |secrets: &Self| secrets.keys.as_ref().map(|keys| keys.pem.clone());
        if pem(self) != pem(before) {
            out.push("tcp.tls_certificate");
        }
        out
    }
}

fn keys(config: &Config, tls: &TlsFiles) -> Result<TlsKeys> {
    let provider = Arc::new(ring::default_provider());
    let mut pem = Vec::new();
    let chain = certificates(config, "tcp.tls_certificate", &tls.certificate, &mut pem)?;
    let bytes = read_pem(
        config,
        "tcp.tls_key",
        &tls.key,
        OthersMay::GroupReads,
        &mut pem,
    )?;
    let shown = tls.key.display();
    let wrong = |why: String| config.wrong("tcp.tls_key", why);
    let key = PrivateKeyDer::from_pem_slice(&bytes)
        .map_err(|e| wrong(format!("{shown} contains no key in PEM: {e}")))?;
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| wrong(e.to_string()))?;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let wrong = |why: String| config.wrong("tcp.tls_client_ca", why);
            let mut roots = RootCertStore::empty();
            for certificate in certificates(config, "tcp.tls_client_ca", path, &mut pem)? {
                roots
                    .add(certificate)
                    .map_err(|e| wrong(format!("{}: {e}", path.display())))?;
            }
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
            let verifier = verifier.build().map_err(|e| wrong(e.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    // The file of the CA was read last.
    let client_ca = tls.client_ca.as_ref().and_then(|_| pem.last().cloned());
    let mut server = builder
        .with_single_cert(chain, key)
        .map_err(|e| wrong(mismatch(&e, &tls.key, &tls.certificate)))?;
    let mut http = server.clone();
    server.alpn_protocols = vec![b"h2".to_vec()];
    http.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsKeys {
        server: Arc::new(server),
        http: Arc::new(http),
        client_ca: client_ca.map(|bytes| ClientCa(Arc::new(bytes))),
        pem,
    })
}

/// Why certificate and key do not serve.
fn mismatch(error: &tokio_rustls::rustls::Error, key: &Path, certificate: &Path) -> String {
    // rustls has no variant for it.
    if format!("{error:?}").contains("UnsupportedCertVersion") {
        let certificate = certificate.display();
        return format!(
            "{certificate} is of version 1, which TLS clients no longer accept: make one of version 3, \
             `openssl req -x509 -addext subjectAltName=DNS:HOST …` as in deploy/README.md"
        );
    }
    format!("{} does not match the certificate: {error}", key.display())
}

fn certificates(
    config: &Config,
    key: &'static str,
    path: &Path,
    pem: &mut Vec<Vec<u8>>,
) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = read_pem(config, key, path, OthersMay::Read, pem)?;
    let wrong = |why: String| config.wrong(key, format!("{} {why}", path.display()));
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|e| wrong(format!("is not PEM: {e}")))?;
    if found.is_empty() {
        return Err(wrong("contains no certificate in PEM".into()));
    }
    Ok(found)
}

fn read_pem(
    config: &Config,
    key: &'static str,
    path: &Path,
    others: OthersMay,
    pem: &mut Vec<Vec<u8>>,
) -> Result<Vec<u8>> {
    let failed = |e| Error::io("read", path, e);
    // A longer file is refused: a truncated list of CAs must not pass for the list.
    let read = read_file(path, FileKind::Settings(others), PEM_BYTES_MAX);
    let read = read.map_err(|fault| match fault {
        FileFault::Io { source, .. } => failed(source),
        fault => config.wrong(key, fault.to_string()),
    })?;
    let bytes = read.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    pem.push(bytes.clone());
    Ok(bytes)
}

/// The principal of a client certificate: the first half of its SHA-256.
pub(crate) fn certificate_name(certificate: &[u8]) -> Option<String> {
    Some(format!("certificate:{}", Digest::of(certificate)?.half()))
}

#[cfg(test)]
mod tests;
