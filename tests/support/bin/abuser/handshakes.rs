//! Handshakes of TLS that come to nothing.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::{AGAIN_AFTER, Abuser};

/// Bytes of a greeting that are sent of it where only a part is.
const PART: usize = 40;

/// The kinds that go on together.
const KINDS: [&str; 4] = ["tls-half", "tls-garbage", "tls-unfinished", "tls-closing"];

/// A client that trusts the certificate in a file.
fn config(certificate: &str) -> io::Result<Arc<ClientConfig>> {
    let certificate = CertificateDer::from_pem_file(certificate).map_err(io::Error::other)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(io::Error::other)?;
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(io::Error::other)?;
    Ok(Arc::new(
        builder.with_root_certificates(roots).with_no_client_auth(),
    ))
}

fn name() -> io::Result<ServerName<'static>> {
    ServerName::try_from("localhost").map_err(io::Error::other)
}

/// The first message of a client.
fn greeting(config: &Arc<ClientConfig>) -> io::Result<Vec<u8>> {
    let mut connection =
        ClientConnection::new(config.clone(), name()?).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    connection.write_tls(&mut bytes)?;
    Ok(bytes)
}

/// Goes on until the process ends.
pub(crate) async fn again_and_again(abuser: &Abuser, kind: &str, number: usize) {
    let kind = if kind == "tls" {
        KINDS[number % KINDS.len()]
    } else {
        kind
    };
    let config = match config(&abuser.brain) {
        Ok(config) => config,
        Err(why) => return eprintln!("{}: {why}", abuser.brain),
    };
    loop {
        if let Ok(stream) = TcpStream::connect(&abuser.socket).await {
            let sums = &abuser.sums;
            sums.connections.set(sums.connections.get() + 1);
            // A connection that is closed is what is wanted; then comes the next.
            if one(kind, &config, stream).await.is_ok() {
                sums.sent(1);
            }
        }
        sleep(AGAIN_AFTER).await;
    }
}

/// One connection to its end; an error is that of the network.
async fn one(kind: &str, config: &Arc<ClientConfig>, mut stream: TcpStream) -> io::Result<()> {
    match kind {
        "tls-closing" => {
            let connector = TlsConnector::from(config.clone());
            // It is dropped as it is, without a word of farewell.
            return connector.connect(name()?, stream).await.map(drop);
        }
        "tls-garbage" => stream.write_all(&[0x47; 16 << 10]).await?,
        "tls-half" => stream.write_all(&greeting(config)?[..PART]).await?,
        // The daemon has signed and answered, and hears nothing more.
        _ => stream.write_all(&greeting(config)?).await?,
    }
    let mut heard = vec![0; 16 << 10];
    while let Ok(1..) = stream.read(&mut heard).await {}
    Ok(())
}
