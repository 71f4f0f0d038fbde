//! Proxies, as HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY name them.

use std::net::IpAddr;

use hyper::http::Uri;

use super::address::is_loopback_name;
use super::base_url::BaseUrl;
use crate::secret::Secret;

/// The value of a variable, by its name in lower or upper case.
type ProxyVariables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// A proxy that speaks plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProxyAddress {
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of Proxy-Authorization.
    pub(super) authorization: Option<Secret>,
}

/// Which proxy leads to which host.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProxyRules {
    https: Option<ProxyAddress>,
    http: Option<ProxyAddress>,
    /// Hosts that are called directly.
    exempt: Vec<String>,
}

impl ProxyRules {
    /// The setting: `environment`, `none` or a URL.
    pub(crate) fn new(setting: &str, variables: ProxyVariables<'_>) -> Result<Self, String> {
        match setting {
            "none" => Ok(Self::default()),
            "environment" => Self::of_variables(variables),
            url => {
                let proxy = Some(ProxyAddress::parse(url)?);
                Ok(Self {
                    https: proxy.clone(),
                    http: proxy,
                    exempt: exempt(variables),
                })
            }
        }
    }

    fn of_variables(variables: ProxyVariables<'_>) -> Result<Self, String> {
        let value = |name: &str| {
            let found = either_case(variables, name);
            found.filter(|value| !value.trim().is_empty())
        };
        let proxy = |name: &str| {
            let url = value(name).or_else(|| value("all_proxy"));
            let parsed = url.map(|url| ProxyAddress::parse(&url)).transpose();
            parsed.map_err(|why| format!("the variable {name}: {why}"))
        };
        Ok(Self {
            https: proxy("https_proxy")?,
            http: proxy("http_proxy")?,
            exempt: exempt(variables),
        })
    }

    /// The proxy to a server; `None` if it is called directly. This machine always is.
    pub(crate) fn to(&self, url: &BaseUrl) -> Option<&ProxyAddress> {
        let proxy = if url.is_tls { &self.https } else { &self.http };
        let is_exempt = |rule: &String| is_matched(rule, &url.host, url.port);
        let is_direct = is_loopback_name(&url.host) || self.exempt.iter().any(is_exempt);
        proxy.as_ref().filter(|_| !is_direct)
    }
}

fn either_case(variables: ProxyVariables<'_>, name: &str) -> Option<String> {
    variables(name).or_else(|| variables(&name.to_ascii_uppercase()))
}

fn exempt(variables: ProxyVariables<'_>) -> Vec<String> {
    let list = either_case(variables, "no_proxy").unwrap_or_default();
    let rules = list
        .split([',', ' '])
        .map(|rule| rule.trim().to_lowercase());
    rules.filter(|rule| !rule.is_empty()).collect()
}

/// A rule is `*`, a host with what is below it, an address, or a network such as 10.0.0.0/8; each may end in a port.
fn is_matched(rule: &str, host: &str, port: u16) -> bool {
    let host = host.trim_end_matches('.').to_lowercase();
    if rule == "*" {
        return true;
    }
    if let (Some((network, bits)), Ok(address)) = (rule.split_once('/'), host.parse()) {
        let network = network.parse();
        return network.is_ok_and(|network| is_within(address, network, bits));
    }
    let bare = rule.trim_matches(['[', ']']);
    let is_address = bare.parse::<IpAddr>().is_ok();
    let (name, rule_port) = match rule.rsplit_once(':') {
        Some((name, number)) if !is_address => match number.parse::<u16>() {
            Ok(number) => (name.trim_matches(['[', ']']), Some(number)),
            Err(_) => (rule, None),
        },
        _ => (bare, None),
    };
    let name = name.trim_start_matches("*.").trim_start_matches('.');
    let below = host.strip_suffix(name).filter(|_| !is_address);
    let is_same = host == name || below.is_some_and(|front| front.ends_with('.'));
    is_same && rule_port.is_none_or(|number| number == port)
}

fn is_within(address: IpAddr, network: IpAddr, bits: &str) -> bool {
    let Ok(bits) = bits.parse::<u32>() else {
        return false;
    };
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

impl ProxyAddress {
    /// Reads `http://user:password@host:port`; the scheme may be missing. Errors do not repeat the URL.
    fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let whole = match text.split_once("://") {
            Some(("http", _)) => text.to_owned(),
            Some(_) => return Err("only proxies by http:// are taken"),
            None => format!("http://{text}"),
        };
        let uri: Uri = whole.parse().map_err(|_| "the proxy is no URL")?;
        let authority = uri.authority().ok_or("the proxy has no host")?;
        let user = authority.as_str().rsplit_once('@').map(|(user, _)| user);
        let authorization = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let pair = [decoded(name), decoded(password)].join(&b':');
            Secret::new(format!("Basic {}", base64(&pair)))
        });
        Ok(Self {
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authorization,
        })
    }
}

/// The bytes of a text with percent signs.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &tail[2..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| chunk.get(at).copied().unwrap_or(0);
        let (a, b, c) = (byte(0), byte(1), byte(2));
        let letters = [
            a >> 2,
            (a & 3) << 4 | b >> 4,
            (b & 15) << 2 | c >> 6,
            c & 63,
        ];
        for (at, letter) in letters.into_iter().enumerate() {
            let is_there = at <= chunk.len();
            out.push(if is_there {
                char::from(LETTERS[usize::from(letter)])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(pairs: &'static [(&str, &str)]) -> ProxyRules {
        let variables = move |name: &str| {
            let found = pairs.iter().find(|pair| pair.0 == name);
            found.map(|pair| pair.1.to_owned())
        };
        ProxyRules::new("environment", &variables).unwrap()
    }

    fn proxy_to(rules: &ProxyRules, url: &str) -> Option<u16> {
        let url = BaseUrl::parse(url).unwrap();
        rules.to(&url).map(|proxy| proxy.port)
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
        let secret = own.to(&url).and_then(|proxy| proxy.authorization.clone());
        assert_eq!(secret.unwrap().reveal(), "Basic bWU6cEBzcw==");
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
