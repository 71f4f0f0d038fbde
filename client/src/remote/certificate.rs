//! The check of the daemon's certificate, and what is wrong with one that fails it.
//!
//! A certificate is accepted if an authority of the caller signed it for the name, or if it is itself one of the given
//! certificates: `openssl req -x509` makes such a one, which is its own authority, often without a name. The caller
//! then trusts this key and no other, so its names do not matter. Its dates do.

use std::io;
use std::sync::Arc;

use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::connect_error::ConnectError;

/// A certificate that works with every client, for the remedies.
const RECIPE: &str = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 825 -keyout key.pem \
                      -out certificate.pem -subj /CN=amemd -addext basicConstraints=critical,CA:FALSE -addext \
                      subjectAltName=";

#[derive(Debug)]
pub(super) struct CertificateVerifier {
    authorities: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl CertificateVerifier {
    pub(super) fn new(
        roots: RootCertStore,
        trusted: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, ConnectError> {
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        Ok(Self {
            authorities: authorities
                .build()
                .map_err(|e| ConnectError::invalid("authority", e))?,
            trusted,
        })
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let checked = self
            .authorities
            .verify_server_cert(certificate, between, name, ocsp, now);
        match checked {
            // Both are found after the dates were checked.
            Err(Error::InvalidCertificate(why))
                if (is_own_authority(&why) || is_other_name(&why))
                    && self.trusted.iter().any(|trusted| trusted == certificate) =>
            {
                Ok(ServerCertVerified::assertion())
            }
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// A certificate of an authority that a server presents: rustls has no variant for it.
fn is_own_authority(why: &CertificateError) -> bool {
    format!("{why:?}").contains("CaUsedAsEndEntity")
}

fn is_other_name(why: &CertificateError) -> bool {
    matches!(
        why,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
    )
}

/// The same failure in words: what is wrong with the certificate, and what to do.
pub(super) fn explained(error: io::Error, name: &ServerName<'_>) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let Some(Error::InvalidCertificate(why)) = inner else {
        return error;
    };
    let name = name.to_str();
    let kind = if name.parse::<std::net::IpAddr>().is_ok() {
        "IP"
    } else {
        "DNS"
    };
    let text = format!("{why:?}");
    let (what, remedy) = if is_other_name(why) {
        let names = match why {
            CertificateError::NotValidForNameContext { presented, .. } if !presented.is_empty() => {
                format!("it is for {}", presented.join(", "))
            }
            _ => "it has no subjectAltName".to_owned(),
        };
        (
            format!("it is not for {name}: {names}"),
            format!(
                "name one of its names with --tls-name, or make another: {RECIPE}{kind}:{name}"
            ),
        )
    } else if is_own_authority(why) {
        (
            "it is that of an authority (CA:TRUE), and not the one that was given".to_owned(),
            format!(
                "give this certificate itself with --tls-ca, or make another: {RECIPE}{kind}:{name}"
            ),
        )
    } else if text.contains("UnsupportedCertVersion") {
        (
            "it is of version 1, which TLS libraries no longer accept".to_owned(),
            format!("make one of version 3: {RECIPE}{kind}:{name}"),
        )
    } else if matches!(why, CertificateError::UnknownIssuer) {
        (
            "the given authority has not signed it".to_owned(),
            "give the certificate of the authority that signed it with --tls-ca; of a self-signed one, itself"
                .to_owned(),
        )
    } else {
        (
            why.to_string(),
            format!("make another: {RECIPE}{kind}:{name}"),
        )
    };
    io::Error::other(CertificateRefusal(format!(
        "the certificate of the daemon is refused: {what}; {remedy}"
    )))
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct CertificateRefusal(String);
