//! TCP by TLS: with a token, and with certificates of callers.

use std::sync::Arc;
use std::time::Duration;

use amem_client::{Client, Tls};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::Code;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::process::{Daemon, Setup, ask, check_refused, write_private};

/// An authority.
struct Authority {
    pem: String,
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key.
struct Identity {
    pem: String,
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let made = params.self_signed(&key).unwrap();
    Authority {
        pem: made.pem(),
        certificate: made.der().clone(),
        issuer: Issuer::new(params, key),
    }
}

impl Authority {
    fn identity(&self) -> Identity {
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let made = params.signed_by(&key, &self.issuer).unwrap();
        Identity {
            pem: made.pem(),
            certificate: made.der().clone(),
            key,
        }
    }
}

/// Settings of a daemon that shows a certificate of the authority.
fn place(authority: &Authority, more: &str) -> Setup {
    let place = Setup::new(&format!(
        "[tcp]\nlisten = \"0.0.0.0:0\"\ntls_certificate = \"cert\"\ntls_key = \"key\"\n{more}"
    ));
    let ours = authority.identity();
    write_private(&place.path("cert"), &ours.pem);
    write_private(&place.path("key"), &ours.key.serialize_pem());
    write_private(&place.path("ca"), &authority.pem);
    place
}

/// Connects as a client that trusts the authority, and may have a certificate.
async fn connect(
    daemon: &Daemon,
    authority: &Authority,
    identity: Option<&Identity>,
) -> Result<Channel, tonic::transport::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
            let chain = vec![identity.certificate.clone()];
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let connector = TlsConnector::from(Arc::new(config));
    let port = daemon.tcp.unwrap().port();
    let dial = tower::service_fn(move |_: Uri| {
        let connector = connector.clone();
        async move {
            let stream = TcpStream::connect(("127.0.0.1", port)).await?;
            let name = ServerName::try_from("localhost").unwrap();
            connector.connect(name, stream).await.map(TokioIo::new)
        }
    });
    let endpoint = Endpoint::from_shared(format!("http://localhost:{port}")).unwrap();
    endpoint.connect_with_connector(dial).await
}

#[tokio::test]
async fn a_tls_caller_presents_the_token() {
    let authority = authority();
    let daemon = place(&authority, "tokens_file = \"tokens.toml\"\n").start();
    let channel = connect(&daemon, &authority, None).await.unwrap();
    let bearer = format!("Bearer {}", daemon.token().await);
    ask(channel.clone(), &[("authorization", &bearer)])
        .await
        .unwrap();
    let answer = ask(channel, &[]).await;
    check_refused(answer, Code::Unauthenticated, "TOKEN", &[]);
    // Without TLS every connection is refused.
    let port = daemon.tcp.unwrap().port();
    let bare = Endpoint::from_shared(format!("http://127.0.0.1:{port}")).unwrap();
    let answer = match bare.connect().await {
        Ok(channel) => ask(channel, &[("authorization", &bearer)]).await.is_ok(),
        Err(_) => false,
    };
    assert!(!answer);
}

#[tokio::test]
async fn a_certificate_of_the_configured_authority_identifies_the_caller() {
    let (authority, other) = (authority(), self::authority());
    let daemon = place(&authority, "tls_client_ca = \"ca\"\n").start();
    let identity = authority.identity();
    let channel = connect(&daemon, &authority, Some(&identity)).await.unwrap();
    ask(channel, &[]).await.unwrap();
    let stranger = other.identity();
    for identity in [None, Some(&stranger)] {
        // By TLS 1.3 the refusal comes with the first answer.
        let served = match connect(&daemon, &authority, identity).await {
            Ok(channel) => ask(channel, &[]).await.is_ok(),
            Err(_) => false,
        };
        assert!(!served);
    }
}

#[tokio::test]
async fn a_caller_of_a_replaced_authority_must_reconnect() {
    let (authority, next) = (authority(), self::authority());
    let daemon = place(&authority, "tls_client_ca = \"ca\"\n").start();
    let identity = authority.identity();
    let channel = connect(&daemon, &authority, Some(&identity)).await.unwrap();
    ask(channel.clone(), &[]).await.unwrap();
    // Another reload changes nothing for it.
    daemon.signal("-HUP");
    daemon.says("reloaded the configuration");
    ask(channel.clone(), &[]).await.unwrap();
    write_private(&daemon.place.path("ca"), &next.pem);
    daemon.signal("-HUP");
    daemon.says("reloaded the configuration");
    let answer = ask(channel, &[]).await;
    let words = ["tcp.tls_client_ca"];
    check_refused(answer, Code::Unauthenticated, "PRINCIPAL", &words);
    let identity = next.identity();
    let channel = connect(&daemon, &authority, Some(&identity)).await.unwrap();
    ask(channel, &[]).await.unwrap();
}

#[tokio::test]
async fn the_client_library_connects_by_tls_and_reads_by_rpc() {
    let (authority, other) = (authority(), self::authority());
    let more = "tokens_file = \"tokens.toml\"\ntls_client_ca = \"ca\"\n";
    let daemon = place(&authority, more).start();
    let here = daemon.client().await;
    let create = amem_client::v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    here.brains().create_brain(create).await.unwrap();
    let text = "told over the socket".to_owned();
    let event = amem_client::v1::NewEvent {
        text: text.clone(),
        ..Default::default()
    };
    let brain = here.brain("b").await.unwrap();
    brain.ingest(vec![event]).await.unwrap();

    let (port, token) = (daemon.tcp.unwrap().port(), daemon.token().await);
    let address = format!("127.0.0.1:{port}");
    let identity = authority.identity();
    let tls = |trusted: &Authority, name: &str| Tls {
        authority: trusted.pem.clone().into_bytes(),
        name: Some(name.into()),
        identity: Some((
            identity.pem.clone().into(),
            identity.key.serialize_pem().into(),
        )),
    };
    let trusted = tls(&authority, "localhost");
    let there = Client::connect_tcp(&address, Some(&token), Some(trusted)).await;
    let brain = there.unwrap().brain("b").await.unwrap();
    assert!(brain.reader().is_none());
    let got = amem_client::v1::GetEventsRequest {
        event_ids: vec![0],
        touch: Some(false),
        ..Default::default()
    };
    assert_eq!(brain.ask(got).await.unwrap().events[0].text, text);
    for stranger in [tls(&other, "localhost"), tls(&authority, "elsewhere")] {
        let connected = Client::connect_tcp(&address, Some(&token), Some(stranger)).await;
        assert!(connected.is_err());
    }
}

#[tokio::test]
async fn an_unfinished_handshake_times_out_and_others_continue() {
    let ca = authority();
    let limits = "tokens_file = \"tokens.toml\"\n[limits]\nhandshake_millis = 300\n\
                  preface_millis = 600000\n";
    let daemon = place(&ca, limits).start();
    let address = daemon.tcp.unwrap();
    let mut silent = TcpStream::connect(address).await.unwrap();
    // The first bytes of a greeting of 200.
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(&[22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])
        .await
        .unwrap();
    for stream in [&mut silent, &mut slow] {
        let mut said = Vec::new();
        let reading = timeout(Duration::from_secs(20), stream.read_to_end(&mut said));
        // A reset is an end as well.
        drop(reading.await.expect("the connection stays open"));
    }
    // One whose handshake has ended is not held to that deadline.
    let channel = connect(&daemon, &ca, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    check_refused(ask(channel, &[]).await, Code::Unauthenticated, "TOKEN", &[]);
}

/// What `openssl req -x509` makes, in files `key` and `cert` of a folder; true if there is openssl.
fn made_by_openssl(folder: &std::path::Path, arguments: &str) -> bool {
    let mut openssl = std::process::Command::new("openssl");
    openssl.args([
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "cert",
    ]);
    openssl.args(arguments.split(' ')).current_dir(folder);
    match openssl.output() {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            true
        }
        Err(_) => false,
    }
}

/// Starts a daemon with this certificate and connects as amemctl does, with `authority` as --tls-ca.
async fn connected(arguments: &str, authority: Option<&str>) -> Option<Result<(), String>> {
    let place = Setup::new(
        "[tcp]\nlisten = \"127.0.0.1:0\"\ntls_certificate = \"cert\"\ntls_key = \"key\"\n\
         tokens_file = \"tokens.toml\"",
    );
    if !made_by_openssl(&place.path(""), arguments) {
        return None;
    }
    let own = std::fs::read(place.path("cert")).unwrap();
    let daemon = place.start();
    let address = format!("localhost:{}", daemon.tcp.unwrap().port());
    let tls = Tls {
        authority: authority.map_or(own, |pem| pem.as_bytes().to_vec()),
        ..Tls::default()
    };
    let connected = Client::connect_tcp(&address, None, Some(tls)).await;
    Some(connected.map(drop).map_err(|error| {
        let mut cause: &dyn std::error::Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        cause.to_string()
    }))
}

#[tokio::test]
async fn certificates_by_openssl_work_or_are_explained() {
    let named = "-subj /CN=localhost -addext subjectAltName=DNS:localhost";
    for recipe in [
        // What the first page of a search says: an authority of its own, without and with a name.
        "-subj /CN=localhost",
        named,
        "-subj /CN=localhost -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:localhost",
        "-subj /CN=other -addext subjectAltName=DNS:other",
    ] {
        match connected(recipe, None).await {
            Some(done) => assert_eq!(done, Ok(()), "{recipe}"),
            None => return amem_tests::machine::skipped("there is no openssl"),
        }
    }
    let stranger = authority();
    let refused = connected(named, Some(&stranger.pem)).await.unwrap();
    let refused = refused.unwrap_err();
    for part in ["CA:TRUE", "--tls-ca"] {
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn a_certificate_of_version_1_is_refused_with_what_to_run() {
    let place = Setup::new(
        "[tcp]\nlisten = \"127.0.0.1:0\"\ntls_certificate = \"cert\"\ntls_key = \"key\"",
    );
    let openssl = |arguments: &str| {
        let mut command = std::process::Command::new("openssl");
        let made = command
            .args(arguments.split(' '))
            .current_dir(place.path(""));
        made.output().map(|output| output.status.success())
    };
    let requested =
        openssl("req -new -newkey rsa:2048 -nodes -keyout key -out csr -subj /CN=localhost");
    let Ok(true) = requested else {
        return amem_tests::machine::skipped("there is no openssl");
    };
    assert!(openssl("x509 -req -in csr -signkey key -out cert").unwrap());
    let text = std::process::Command::new("openssl")
        .args(["x509", "-in", "cert", "-noout", "-text"])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    if !String::from_utf8_lossy(&text.stdout).contains("Version: 1") {
        // Newer ones make version 3.
        return;
    }
    let (exit, told) = place.refused(&[]);
    assert_eq!(exit, Some(1));
    for part in ["version 1", "openssl req -x509"] {
        assert!(told.contains(part), "{told}");
    }
}
