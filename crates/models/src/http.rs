//! The server of a model: where it is, how it is reached, and what goes there without TLS.

use std::env;
use std::net::IpAddr;
use std::sync::Arc;

use amem_outbound::limits::ANSWER_HEAD_BYTES_MAX;
use amem_outbound::{
    AddressJudge, AddressKind, BaseUrl, ConnectTarget, Connector, HttpAnswer, HttpClient,
    HttpSetup, ProxyRules, address_kind, is_loopback_name, tls_connector,
};
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::settings::ModelSettings;

/// Calls one server.
pub(crate) struct ModelServer {
    pub(crate) url: BaseUrl,
    client: HttpClient,
}

impl ModelServer {
    /// Reads authorities if the server needs them.
    pub(crate) fn new(url: BaseUrl, settings: &ModelSettings) -> Result<Self> {
        let proxies = ProxyRules::new(&settings.proxy, &|name| env::var(name).ok());
        let proxies = proxies.map_err(|why| Error::setting("proxy", why))?;
        let tls = if url.target.is_tls {
            Ok(tls_connector(settings.ca_file.as_deref()).map_err(Error::Tls)?)
        } else {
            Err("the URL of the server is not https".into())
        };
        let connector = Connector {
            judge: judge(settings.allow_plain_http),
            proxy: proxies.to(&url.target),
            tls,
            connect_after: settings.connect_after(),
        };
        let setup = HttpSetup {
            keeps_connections: true,
            head_bytes_max: ANSWER_HEAD_BYTES_MAX,
        };
        Ok(Self {
            url,
            client: HttpClient::new(connector, setup),
        })
    }

    /// What a proxy wants to see, which no error may repeat.
    pub(crate) fn proxy_secret(&self) -> Option<Secret> {
        self.client.proxy_authorization().map(Secret::new)
    }

    /// Posts JSON; `path` follows that of the base URL.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: HeaderMap,
        body: String,
    ) -> Result<HttpAnswer, String> {
        let request = Request::post(format!("{}{path}", self.url)).body(body);
        let mut request = request.map_err(|why| why.to_string())?;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().extend(headers);
        request.headers_mut().insert(CONTENT_TYPE, json);
        self.client.send(request).await
    }
}

/// Plain http is for this machine and its network. Link-local addresses are not among them: cloud machines find their
/// credentials there.
fn judge(allow_plain_http: bool) -> AddressJudge {
    Arc::new(move |target, address| {
        if target.is_tls || allow_plain_http || is_near(target, address) {
            return Ok(());
        }
        let place = address.map_or_else(
            || "reached by a proxy".to_owned(),
            |address| address.to_string(),
        );
        Err(format!(
            "{} ({place}) is not in this machine's network: use https, or set allow_plain_http",
            target.host
        ))
    })
}

/// What a name means is the affair of a proxy; only this machine and private addresses are certain.
fn is_near(target: &ConnectTarget, address: Option<IpAddr>) -> bool {
    let address = address.or_else(|| target.host.parse().ok());
    address.is_some_and(|address| address_kind(address) == AddressKind::Private)
        || is_loopback_name(&target.host)
}

/// Why an answer is not read on.
pub(crate) fn too_long(bytes_max: usize) -> String {
    format!("the answer is longer than {bytes_max} bytes (answer_bytes_max)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine_and_its_network() {
        let target = BaseUrl::parse("http://a.example").unwrap().target;
        for (text, wanted) in [
            ("127.0.0.1", true),
            ("10.1.2.3", true),
            ("172.16.0.1", true),
            ("192.168.0.9", true),
            ("100.64.0.1", true),
            ("100.128.0.1", false),
            ("169.254.169.254", false),
            ("0.0.0.0", false),
            ("93.184.216.34", false),
            ("::1", true),
            ("fd00::1", true),
            ("::ffff:10.0.0.1", true),
            ("::ffff:93.184.216.34", false),
            ("fe80::1", false),
            ("2606:4700::1", false),
        ] {
            let address = Some(text.parse().unwrap());
            assert_eq!(judge(false)(&target, address).is_ok(), wanted, "{text}");
            assert!(judge(true)(&target, address).is_ok(), "{text}");
        }
        assert!(judge(false)(&target, None).is_err());
    }
}
