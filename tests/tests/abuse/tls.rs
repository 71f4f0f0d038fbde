//! Floods of handshakes that come to nothing, beside callers by TLS that are well-behaved.

use std::time::{Duration, Instant};

use amem_client::{Client, Tls, v1};
use amem_locks::LockResultExt;
use rcgen::{CertificateParams, KeyPair};

use crate::healthy::Way;
use crate::process::{Setup, write_private};
use crate::{ALONE, Abuser, Trial};

/// Kinds that are tried one after the other where there is time for it.
const KINDS: [&str; 4] = ["tls-half", "tls-garbage", "tls-unfinished", "tls-closing"];

/// Until when a new caller is let in while others take what their address may have.
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn floods_of_handshakes_neither_take_memory_nor_slow_callers_down() {
    let _alone = ALONE.lock().unpoisoned();
    let place = Setup::new(
        "[tcp]\nlisten = \"127.0.0.1:0\"\ntls_certificate = \"cert\"\ntls_key = \"key\"\n\
         tokens_file = \"tokens.toml\"",
    );
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap().pem();
    write_private(&place.path("cert"), &certificate);
    write_private(&place.path("key"), &key.serialize_pem());
    let daemon = place.start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let token = runtime.block_on(daemon.token());
    let tls = Tls {
        authority: certificate.into_bytes(),
        name: Some("localhost".into()),
        identity: None,
    };
    let address = daemon.tcp.unwrap().to_string();
    let mut trial = Trial::start(
        daemon.pid(),
        &Way::Tls(address.clone(), token.clone(), tls.clone()),
    );
    let file = daemon.place.path("cert");
    let start = |kind: &str| Abuser::start_at(kind, address.as_ref(), file.as_os_str());
    let mut wrong = trial.abuse("tls", || start("tls"));
    if std::env::var_os("AMEM_ABUSE_SECS").is_some() {
        for kind in KINDS {
            wrong.extend(trial.abuse(kind, || start(kind)));
        }
    }
    // Who comes meanwhile is let in as well.
    let abuser = start("tls");
    let begun = Instant::now();
    let is_served = || {
        let connected = Client::connect_tcp(&address, Some(&token), Some(tls.clone()));
        runtime.block_on(async {
            let client = connected.await.ok()?;
            let status = client.admin().get_status(v1::GetStatusRequest {}).await;
            status.ok()
        })
    };
    while is_served().is_none() {
        assert!(begun.elapsed() < PATIENCE, "a new caller is not served");
    }
    abuser.end();
    trial.healthy.end();
    assert!(daemon.stop().success());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
