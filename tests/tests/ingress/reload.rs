//! SIGHUP: what changes, what needs a restart, what is broken.

use tonic::Code;
use tonic::transport::Endpoint;

use crate::process::{Setup, ask, check_refused};

const TCP: &str = "[tcp]\nlisten = \"127.0.0.1:0\"\ntokens_file = \"tokens.toml\"\n";

#[tokio::test]
async fn a_reload_applies_changes_and_a_broken_file_changes_nothing() {
    let daemon = Setup::new(TCP).start();
    let first = format!("Bearer {}", daemon.token().await);
    let address = daemon.tcp.unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = endpoint.connect().await.unwrap();
    ask(channel.clone(), &[("authorization", &first)])
        .await
        .unwrap();

    // A broken file: the old configuration stays, and the log says why.
    daemon
        .place
        .configure(&format!("{TCP}[limits]\nconections = 1\n"));
    daemon.signal("-HUP");
    let line = daemon.says("cannot reload the configuration");
    assert!(line.contains("limits.connections"), "{line}");
    ask(channel.clone(), &[("authorization", &first)])
        .await
        .unwrap();

    // Another file of tokens, another limit, and one thing that needs a restart.
    let other = TCP.replace("tokens.toml", "other.toml");
    let next = format!("{other}[limits]\nconnections = 7\n[log]\nformat = \"json\"\n");
    daemon.place.configure(&next);
    daemon.signal("-HUP");
    daemon.says("there is no token");
    let line = daemon.says("reloaded the configuration");
    assert!(line.contains("needs_restart=[\"log.format\"]"), "{line}");
    for key in ["limits.connections", "tcp.tokens_file"] {
        assert!(line.contains(key), "{key}: {line}");
    }
    // The same connection, the new rules.
    let answer = ask(channel.clone(), &[("authorization", &first)]).await;
    check_refused(answer, Code::Unauthenticated, "TOKEN", &[]);
    let second = format!("Bearer {}", daemon.token().await);
    ask(channel, &[("authorization", &second)]).await.unwrap();
    assert!(daemon.stop().success());
}
