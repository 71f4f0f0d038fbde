//! What makes TCP safe: the token, and the keys of TLS.
//!
//! Promises: a secret that others can read is refused; a token is compared in the same time however wrong it is; no
//! secret is ever shown.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use subtle::ConstantTimeEq;
use tokio_rustls::rustls::crypto::{CryptoProvider, hash, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::config::{Config, Tls};
use crate::error::{Error, Result};
use crate::folder::make_private;
use crate::limits::{PEM_BYTES_MAX, TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};

/// Random bytes of a token that we make.
const TOKEN_RANDOM_BYTES: usize = 32;

/// A token; equal ones are the same.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(Vec<u8>);

impl Token {
    /// True if this is what the caller shows.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        bool::from(self.0.ct_eq(shown))
    }
}

/// The authority of callers' certificates: the bytes of its file.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Authority(Arc<Vec<u8>>);

impl std::fmt::Debug for Authority {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Authority of {} bytes", self.0.len())
    }
}

/// TLS as it is in force.
#[derive(Clone)]
pub(crate) struct Keys {
    /// For handshakes.
    pub(crate) server: Arc<ServerConfig>,
    /// Whose certificates callers must show, if they must.
    pub(crate) authority: Option<Authority>,
    /// The bytes it is made of, to see when they change.
    pem: Vec<Vec<u8>>,
}

/// What callers by TCP must show, and what is shown to them.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    pub(crate) token: Option<Token>,
    pub(crate) keys: Option<Keys>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (token, tls) = (self.token.is_some(), self.keys.is_some());
        write!(out, "Secrets {{ token: {token}, tls: {tls} }}")
    }
}

impl Secrets {
    /// Reads what the configuration names. A token that is missing is made if `make` says so.
    pub(crate) fn load(config: &Config, make: bool) -> Result<Self> {
        let Some(tcp) = &config.tcp else {
            return Ok(Self::default());
        };
        let keys = tcp.tls.as_ref().map(|tls| keys(config, tls)).transpose()?;
        let token = match &tcp.token_file {
            Some(path) => token(config, path, make)?,
            None => None,
        };
        Ok(Self { token, keys })
    }

    /// The settings behind which others stand than before.
    pub(crate) fn changes(&self, before: &Self) -> Vec<&'static str> {
        let mut out = Vec::new();
        if self.token != before.token {
            out.push("tcp.token_file");
        }
        let pem = |secrets: &Self| secrets.keys.as_ref().map(|keys| keys.pem.clone());
        if pem(self) != pem(before) {
            out.push("tcp.tls_certificate");
        }
        out
    }
}

/// Reads a token; `None` if there is none and none is to be made.
fn token(config: &Config, path: &Path, make: bool) -> Result<Option<Token>> {
    let wrong = |why: String| config.wrong("tcp.token_file", why);
    let failed = |e| Error::io("read the token in", path, e);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound && make => return make_token(path).map(Some),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
    };
    let meta = file.metadata().map_err(failed)?;
    let shown = path.display();
    if !meta.is_file() {
        return Err(wrong(format!("{shown} is not a file")));
    }
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(wrong(format!(
            "others may read {shown} (its mode is {mode:04o}): take that right away (chmod 600), and make a new \
             token by removing the file"
        )));
    }
    let ours = rustix::process::geteuid().as_raw();
    if meta.uid() != ours && meta.uid() != 0 {
        let owner = meta.uid();
        return Err(wrong(format!("{shown} belongs to user {owner}, not to us")));
    }
    let mut bytes = Vec::new();
    file.take(TOKEN_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    let text = bytes.trim_ascii();
    if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX as usize).contains(&text.len()) {
        return Err(wrong(format!(
            "{shown} has a token of {} bytes; it must have {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX}: remove it, and \
             one is made",
            text.len()
        )));
    }
    if !text.iter().all(u8::is_ascii_graphic) {
        let why = "has a token that no header can carry: it must be visible ASCII, one word";
        return Err(wrong(format!("{shown} {why}")));
    }
    Ok(Some(Token(text.to_vec())))
}

fn make_token(path: &Path) -> Result<Token> {
    let failed = |e| Error::io("make the token in", path, e);
    if let Some(folder) = path.parent() {
        make_private(folder)?;
    }
    let mut random = [0; TOKEN_RANDOM_BYTES];
    ring::default_provider()
        .secure_random
        .fill(&mut random)
        .map_err(|_| failed(io::Error::other("the system gives no random bytes")))?;
    let text = hex(&random);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    file.write_all(format!("{text}\n").as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    tracing::info!(path = %path.display(), "made a token for TCP");
    Ok(Token(text.into_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn keys(config: &Config, tls: &Tls) -> Result<Keys> {
    let provider = Arc::new(ring::default_provider());
    let mut pem = Vec::new();
    let chain = certificates(config, "tcp.tls_certificate", &tls.certificate, &mut pem)?;
    let bytes = read_pem(config, "tcp.tls_key", &tls.key, &mut pem)?;
    let shown = tls.key.display();
    let wrong = |why: String| config.wrong("tcp.tls_key", why);
    let meta = std::fs::metadata(&tls.key).map_err(|e| Error::io("look at", &tls.key, e))?;
    if meta.permissions().mode() & 0o007 != 0 {
        let why = format!("anybody may read {shown}: take that right away (chmod o=)");
        return Err(wrong(why));
    }
    let key = PrivateKeyDer::from_pem_slice(&bytes)
        .map_err(|e| wrong(format!("{shown} has no key in PEM: {e}")))?;
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
    // The last file that was read.
    let authority = tls.client_ca.as_ref().and_then(|_| pem.last().cloned());
    let mut server = builder
        .with_single_cert(chain, key)
        .map_err(|e| wrong(format!("{shown} does not go with the certificate: {e}")))?;
    server.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Keys {
        server: Arc::new(server),
        authority: authority.map(|bytes| Authority(Arc::new(bytes))),
        pem,
    })
}

fn certificates(
    config: &Config,
    key: &'static str,
    path: &Path,
    pem: &mut Vec<Vec<u8>>,
) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = read_pem(config, key, path, pem)?;
    let wrong = |why: String| config.wrong(key, format!("{} {why}", path.display()));
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|e| wrong(format!("is not PEM: {e}")))?;
    match found.is_empty() {
        true => Err(wrong("has no certificate in PEM".into())),
        false => Ok(found),
    }
}

fn read_pem(
    config: &Config,
    key: &'static str,
    path: &Path,
    pem: &mut Vec<Vec<u8>>,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(PEM_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|e| Error::io("read", path, e))?;
    // Half a list of authorities would be another list.
    if bytes.len() as u64 > PEM_BYTES_MAX {
        let why = format!("{} has more than {PEM_BYTES_MAX} bytes", path.display());
        return Err(config.wrong(key, why));
    }
    pem.push(bytes.clone());
    Ok(bytes)
}

/// The name of a caller that showed a certificate: the first half of its SHA-256.
pub(crate) fn certificate_name(certificate: &[u8]) -> Option<String> {
    let provider: CryptoProvider = ring::default_provider();
    let sha256 = provider.cipher_suites.iter().find_map(|suite| {
        let hash = suite.tls13()?.common.hash_provider;
        (hash.algorithm() == hash::HashAlgorithm::SHA256).then_some(hash)
    })?;
    let digest = sha256.hash(certificate);
    Some(format!("certificate:{}", hex(&digest.as_ref()[..16])))
}

#[cfg(test)]
mod tests;
