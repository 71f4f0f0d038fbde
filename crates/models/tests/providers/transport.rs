//! TLS, proxies, plain http, and settings that cannot work.

use std::io::Write;

use amem_memory::model::ReplyForm;
use amem_models::{LanguageModel, ModelSettings, Provider};
use amem_scripted::{Protocol, Script, ScriptedProxy, ScriptedServer, Step};

use crate::support::{call, line, runtime, settings};

/// A server with TLS, and a file with its authority.
fn tls_server() -> (ScriptedServer, tempfile::NamedTempFile) {
    let server = ScriptedServer::start_tls(Protocol::Openai, Script::default()).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(server.authority().unwrap().as_bytes())
        .unwrap();
    (server, file)
}

fn outcome(settings: ModelSettings) -> String {
    match LanguageModel::new(settings, runtime()) {
        Ok(model) => line(&call(&model, ReplyForm::Schema)),
        Err(why) => why.to_string(),
    }
}

#[test]
fn a_server_is_verified_by_the_authorities_of_the_settings() {
    let (server, file) = tls_server();
    let mut own = settings(Protocol::Openai, &server.url());
    own.ca_file = Some(file.path().to_owned());
    assert!(outcome(own.clone()).starts_with("text"), "{}", outcome(own));
    // Its own certificate, not that of an authority which this machine trusts.
    let (other, _) = tls_server();
    let mut own = settings(Protocol::Openai, &other.url());
    own.ca_file = Some(file.path().to_owned());
    let found = outcome(own);
    assert!(found.contains("TLS with 127.0.0.1"), "{found}");
    assert!(other.requests().is_empty());
}

#[test]
fn a_proxy_carries_tls_in_a_tunnel_and_plain_requests_whole() {
    let (server, file) = tls_server();
    // Basic of me:p@ss
    let proxy = ScriptedProxy::start(server.address(), Some("Basic bWU6cEBzcw==")).unwrap();
    let mut own = settings(Protocol::Openai, "https://models.example/v1");
    own.ca_file = Some(file.path().to_owned());
    own.proxy = format!("http://me:p%40ss@{}", proxy.address());
    assert!(outcome(own.clone()).starts_with("text"), "{}", outcome(own));
    let head = proxy.requests().remove(0);
    assert_eq!(
        (head.method.as_str(), head.target.as_str()),
        ("CONNECT", "models.example:443")
    );
    assert_eq!(server.requests()[0].header("proxy-authorization"), None);

    let plain = ScriptedServer::start(Protocol::Openai, Script::default()).unwrap();
    let proxy = ScriptedProxy::start(plain.address(), Some("Basic bWU6cEBzcw==")).unwrap();
    let mut own = settings(Protocol::Openai, "http://10.0.0.9:8000/v1");
    own.proxy = format!("http://me:p%40ss@{}", proxy.address());
    assert!(outcome(own.clone()).starts_with("text"), "{}", outcome(own));
    let target = &proxy.requests()[0].target;
    assert_eq!(target, "http://10.0.0.9:8000/v1/chat/completions");

    let mut own = settings(Protocol::Openai, "https://models.example/v1");
    own.proxy = format!("http://me:wr0ngpass@{}", proxy.address());
    let found = outcome(own);
    assert!(
        found.contains("wants a user and a password (407)"),
        "{found}"
    );
    assert!(!found.contains("wr0ngpass"), "{found}");
}

#[test]
fn plain_http_stays_on_this_machine_and_its_network() {
    let mut own = settings(Protocol::Openai, "http://192.0.2.1:9/v1");
    own.connect_secs = 1;
    let found = outcome(own.clone());
    assert!(
        found.contains("use https, or set allow_plain_http"),
        "{found}"
    );
    let proxy = ScriptedProxy::start("127.0.0.1:9".parse().unwrap(), None).unwrap();
    own.base_url = Some("http://models.example/v1".into());
    own.proxy = format!("http://{}", proxy.address());
    let found = outcome(own);
    assert!(
        found.contains("use https, or set allow_plain_http"),
        "{found}"
    );
    assert!(proxy.requests().is_empty());
}

#[test]
fn settings_that_cannot_work_are_refused_by_name_without_their_values() {
    let document = |more: &str| format!("provider = \"openai\"\nmodel = \"m\"\n{more}");
    for (more, expected) in [
        (
            "api_key = \"s3cret-key\"",
            "line 3: unknown field `api_key`",
        ),
        (
            "max_tokens = \"s3cret-key\"",
            "line 3: wrong type, expected",
        ),
        ("auth = \"s3cret-key\"", "line 3: unknown value, expected"),
        (
            "base_url = \"https://me:s3cret-key@a.example\"",
            "base_url: a URL with a user",
        ),
        (
            "base_url = \"a.example\"",
            "base_url: give a URL that begins with",
        ),
        (
            "proxy = \"socks5://me:s3cret-key@a.example\"",
            "proxy: only proxies",
        ),
        ("key_env = \"A\"\nkey_file = \"b\"", "give one of key_env"),
        ("key_command = []", "key_command: give a program"),
        ("temperature = 3.0", "temperature: give a number"),
        ("concurrency = 0", "concurrency: 0 is too little"),
        ("dimensions = 5", "dimensions: a language model has none"),
        (
            "headers = { \"content-length\" = \"s3cret-key\" }",
            "\"content-length\" cannot be set",
        ),
        (
            "headers = { \"a b\" = \"s3cret-key\" }",
            "is no name of a header",
        ),
        ("s3cret-key", "line 3:"),
    ] {
        let read = ModelSettings::from_toml(&document(more));
        let made = read.and_then(|settings| LanguageModel::new(settings, runtime()));
        let why = made.map(|model| model.name()).unwrap_err();
        let (shown, debugged) = (why.to_string(), format!("{why:?}"));
        assert!(shown.contains(expected), "{more}: {shown}");
        assert!(
            !shown.contains("s3cret") && !debugged.contains("s3cret"),
            "{debugged}"
        );
    }
    let why = ModelSettings::from_toml("provider = \"azure\"\nmodel = \"m\"");
    let why = why.and_then(|settings| LanguageModel::new(settings, runtime()));
    assert!(
        why.unwrap_err()
            .to_string()
            .contains("base_url: azure needs")
    );
    let own = ModelSettings::from_toml("provider = \"azure_openai\"\nmodel = \"m\"").unwrap();
    assert_eq!(own.provider, Provider::Azure);
}

#[test]
fn connections_are_used_again_and_replaced_when_the_server_ends_them() {
    let steps = [
        Step::Usual,
        Step::Usual,
        Step::Hangup,
        Step::Usual,
        Step::CutBody,
        Step::Usual,
    ];
    let server = ScriptedServer::start(Protocol::Openai, Script::steps(steps)).unwrap();
    let model = LanguageModel::new(settings(Protocol::Openai, &server.url()), runtime()).unwrap();
    for (connections, is_answered) in [
        (1, true),
        (1, true),
        (1, true),
        (2, true),
        (2, false),
        (3, true),
    ] {
        let found = line(&call(&model, ReplyForm::Schema));
        assert_eq!(found.starts_with("text"), is_answered, "{found}");
        assert_eq!(server.connections(), connections);
    }
    assert_eq!(server.requests().len(), 6, "no request is sent twice");
}
