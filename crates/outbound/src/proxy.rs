//! Proxies, as HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY name them: hyper-util's matcher, and ports in NO_PROXY.

use std::net::IpAddr;

use hyper::header::HeaderValue;
use hyper::http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

use crate::address::is_loopback_name;
use crate::target::ConnectTarget;

/// The value of a variable, by its name in lower or upper case.
type ProxyVariables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// A proxy that speaks plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyAddress {
    /// Without the brackets of an IPv6 address.
    pub host: String,
    /// 80 if the rules name none.
    pub port: u16,
    /// The value of Proxy-Authorization, which no error may repeat.
    pub authorization: Option<HeaderValue>,
}

/// Which proxy leads to which host.
#[derive(Debug)]
pub struct ProxyRules {
    /// With the hosts that are called directly.
    matcher: Matcher,
    /// Hosts that are called directly at one port.
    exempt_ports: Vec<(Matcher, u16)>,
}

impl ProxyRules {
    /// The setting: `environment`, `none` or a URL.
    ///
    /// # Errors
    /// A proxy that cannot be used; its URL is not repeated.
    pub fn new(setting: &str, variables: ProxyVariables<'_>) -> Result<Self, String> {
        let value = |name: &str| {
            let found = either_case(variables, name);
            found.filter(|value| !value.trim().is_empty())
        };
        let of_variable = |name: &str| {
            let Some(url) = value(name).or_else(|| value("all_proxy")) else {
                return Ok(String::new());
            };
            checked(&url).map_err(|why| format!("the variable {name}: {why}"))
        };
        let (https, http) = match setting {
            "none" => (String::new(), String::new()),
            "environment" => (of_variable("https_proxy")?, of_variable("http_proxy")?),
            url => (checked(url)?, checked(url)?),
        };
        let list = either_case(variables, "no_proxy").unwrap_or_default();
        let (mut exempt, mut exempt_ports) = (Vec::new(), Vec::new());
        for rule in list.split([',', ' ']).map(str::trim) {
            match exempt_of(rule) {
                (host, None) => exempt.push(host),
                (host, Some(port)) => {
                    let builder = Matcher::builder().all("http://exempt").no(host);
                    exempt_ports.push((builder.build(), port));
                }
            }
        }
        let builder = Matcher::builder().https(https).http(http);
        Ok(Self {
            matcher: builder.no(exempt.join(",")).build(),
            exempt_ports,
        })
    }

    /// The proxy to a server; `None` if it is called directly. This machine always is.
    #[must_use]
    pub fn to(&self, target: &ConnectTarget) -> Option<ProxyAddress> {
        let url = url_of(target)?;
        let mut exempt = self.exempt_ports.iter();
        let is_direct = is_loopback_name(&target.host)
            || exempt.any(|(rule, port)| *port == target.port && rule.intercept(&url).is_none());
        let found = self.matcher.intercept(&url).filter(|_| !is_direct)?;
        Some(ProxyAddress {
            host: found.uri().host()?.trim_matches(['[', ']']).to_owned(),
            port: found.uri().port_u16().unwrap_or(80),
            authorization: found.basic_auth().cloned(),
        })
    }
}

fn either_case(variables: ProxyVariables<'_>, name: &str) -> Option<String> {
    variables(name).or_else(|| variables(&name.to_ascii_uppercase()))
}

/// The URL that rules are compared with. A name with a period at its end is the same name.
fn url_of(target: &ConnectTarget) -> Option<Uri> {
    let host = target.host.trim_end_matches('.');
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    let scheme = if target.is_tls { "https" } else { "http" };
    let builder = Uri::builder().scheme(scheme).authority(host);
    builder.path_and_query("/").build().ok()
}

/// A rule of NO_PROXY as the matcher takes it: `*`, a host with what is below it, an address, a network; and its port.
fn exempt_of(rule: &str) -> (&str, Option<u16>) {
    let bare = rule.trim_matches(['[', ']']);
    if bare.parse::<IpAddr>().is_ok() {
        return (bare, None);
    }
    let (name, port) = match rule.rsplit_once(':') {
        Some((name, number)) if !rule.contains('/') => match number.parse().ok() {
            Some(port) => (name.trim_matches(['[', ']']), Some(port)),
            None => (rule, None),
        },
        _ => (bare, None),
    };
    (name.trim_start_matches("*."), port)
}

/// A proxy as the matcher takes it, `http://user:password@host:port`; the scheme may be missing. Errors do not repeat
/// it.
fn checked(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let whole = match text.split_once("://") {
        Some(("http", _)) => text.to_owned(),
        Some(_) => return Err("only proxies by http:// are taken"),
        None => format!("http://{text}"),
    };
    let uri: Uri = whole.parse().map_err(|_| "the proxy is no URL")?;
    uri.authority().ok_or("the proxy has no host")?;
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base_url::BaseUrl;

    fn rules(pairs: &'static [(&str, &str)]) -> ProxyRules {
        let variables = move |name: &str| {
            let found = pairs.iter().find(|pair| pair.0 == name);
            found.map(|pair| pair.1.to_owned())
        };
        ProxyRules::new("environment", &variables).unwrap()
    }

    fn proxy_to(rules: &ProxyRules, url: &str) -> Option<u16> {
        let url = BaseUrl::parse(url).unwrap();
        rules.to(&url.target).map(|proxy| proxy.port)
    }

    #[test]
    fn variables_name_the_proxy_of_each_scheme_and_its_exceptions() {
        let own = rules(&[
            ("HTTPS_PROXY", "http://me:p%40ss@proxy.example:3128"),
            ("http_proxy", "proxy.example:3129"),
            (
                "NO_PROXY",
                "corp.example, .lan,10.0.0.0/8,one.example:8443,[fd00::1],192.168.0.7",
            ),
        ]);
        for (url, wanted) in [
            ("https://api.example", Some(3128)),
            ("http://api.example", Some(3129)),
            ("https://corp.example", None),
            ("https://models.corp.example", None),
            ("https://notcorp.example", Some(3128)),
            ("https://a.lan", None),
            ("http://10.9.8.7", None),
            ("http://11.0.0.1", Some(3129)),
            ("https://one.example:8443", None),
            ("https://one.example", Some(3128)),
            ("http://[fd00::1]:80", None),
            ("http://192.168.0.7:11434", None),
            ("http://1.192.168.0.7.example", Some(3129)),
            ("http://localhost:11434", None),
            ("http://127.0.0.1", None),
        ] {
            assert_eq!(proxy_to(&own, url), wanted, "{url}");
        }
        let url = BaseUrl::parse("https://api.example").unwrap();
        let secret = own
            .to(&url.target)
            .and_then(|proxy| proxy.authorization.clone());
        assert_eq!(secret.unwrap(), "Basic bWU6cEBzcw==");
        assert!(!format!("{own:?}").contains("p%40ss"));
        let all = rules(&[
            ("ALL_PROXY", "http://proxy.example:8080"),
            ("no_proxy", "*"),
        ]);
        assert_eq!(proxy_to(&all, "https://api.example"), None);
    }

    #[test]
    fn a_proxy_of_settings_or_none_replaces_the_variables() {
        let variables = |name: &str| (name == "https_proxy").then(|| "http://a.example".to_owned());
        let of = |setting: &str| ProxyRules::new(setting, &variables);
        assert_eq!(proxy_to(&of("none").unwrap(), "https://b.example"), None);
        let named = of("http://c.example:99").unwrap();
        assert_eq!(proxy_to(&named, "https://b.example"), Some(99));
        let why = of("socks5://me:s3cret@c.example").unwrap_err();
        assert!(!why.contains("s3cret"), "{why}");
    }
}
