//! TLS settings of the connection to the daemon.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::certificate::{CertificateVerifier, explained};
use super::connect_error::ConnectError;

/// Trusted certificates and the client's own certificate, in PEM.
#[derive(Clone, Default)]
pub struct Tls {
    /// The certificates that sign the daemon's.
    pub authority: Vec<u8>,
    /// The name in the daemon's certificate; that of the address if `None`.
    pub name: Option<String>,
    /// Our certificate and its key, if the daemon requires them.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Debug for Tls {
    /// Omits the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("name", &self.name)
            .field("has_identity", &self.identity.is_some())
            .finish_non_exhaustive()
    }
}

#[derive(Clone)]
pub(super) struct TlsConnection {
    tls: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnection {
    pub(super) fn new(tls: Tls, address: &str) -> Result<Self, ConnectError> {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = tls.name.unwrap_or_else(|| host.to_owned());
        let name = ServerName::try_from(name)
            .map_err(|e| ConnectError::invalid("the daemon's name", e))?;
        let mut roots = RootCertStore::empty();
        let trusted = certificates("authority", &tls.authority)?;
        for certificate in trusted.iter().cloned() {
            roots
                .add(certificate)
                .map_err(|e| ConnectError::invalid("authority", e))?;
        }
        let provider = Arc::new(ring::default_provider());
        let verifier = CertificateVerifier::new(roots, trusted, provider.clone())?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| ConnectError::invalid("TLS", e))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match tls.identity {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from_pem_slice(&key)
                    .map_err(|e| ConnectError::invalid("our key", e))?;
                let chain = certificates("our certificate", &certificate)?;
                config
                    .with_client_auth_cert(chain, key)
                    .map_err(|e| ConnectError::invalid("our certificate", e))?
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self {
            tls: TlsConnector::from(Arc::new(config)),
            name,
        })
    }

    pub(super) async fn connect(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let connected = self.tls.connect(self.name.clone(), stream).await;
        connected.map_err(|error| explained(error, &self.name))
    }
}

fn certificates(
    what: &'static str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|e| ConnectError::invalid(what, e))?;
    if certificates.is_empty() {
        return Err(ConnectError::invalid(what, "it contains no certificate"));
    }
    Ok(certificates)
}
