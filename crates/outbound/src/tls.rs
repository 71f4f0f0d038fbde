//! TLS with the authorities of this machine, and with those of a file.

use std::path::Path;
use std::sync::Arc;

use amem_host::files::{FileKind, read_file};
use amem_host::trust::OthersMay;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::limits::CA_FILE_BYTES_MAX;

/// Reads the authorities (`SSL_CERT_FILE` and `SSL_CERT_DIR` name others than the machine's), and those of a file.
///
/// # Errors
/// There is none, the file cannot be read, or TLS cannot be set up.
pub fn tls_connector(ca_file: Option<&Path>) -> Result<TlsConnector, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Authorities with certificates that cannot be read are not trusted: others may do.
    let (mut usable, _) = roots.add_parsable_certificates(found.certs);
    if let Some(path) = ca_file {
        let failed = |why: &dyn std::fmt::Display| format!("ca_file {}: {why}", path.display());
        let kind = FileKind::Settings(OthersMay::Read);
        let read =
            read_file(path, kind, CA_FILE_BYTES_MAX).map_err(|fault| failed(&fault.why()))?;
        let pem = read.ok_or_else(|| failed(&"there is no such file"))?;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|why| failed(&why))?;
            roots.add(certificate).map_err(|why| failed(&why))?;
            usable += 1;
        }
    }
    if usable == 0 {
        let why = found.errors.first().map(|why| format!(": {why}"));
        let why = why.unwrap_or_default();
        return Err(format!(
            "this machine has no certificates of authorities, so no host can be verified{why}"
        ));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| why.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
