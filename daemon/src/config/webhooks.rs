//! The hosts that webhooks may call.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use hyper::http::Uri;
use hyper::http::uri::Scheme;

/// A host that a webhook may call: `hooks.example.com`, `*.example.com:8443`, `127.0.0.1:9000`, `[::1]:9000`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HostPattern {
    /// True if every name below the host is meant, and not the host itself.
    is_wild: bool,
    /// In lower case; an IPv6 address in its brackets.
    host: String,
    /// `None`: that of the scheme.
    port: Option<u16>,
}

/// Hosts, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HostList(Vec<HostPattern>);

/// The hosts that webhooks may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookHosts {
    public: HostList,
    /// Those that may have private addresses, and may be called without TLS.
    private: HostList,
}

/// A URL that a webhook may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    /// It has a scheme and a host.
    pub uri: Uri,
    /// True if the host may have private addresses.
    pub is_private: bool,
}

impl WebhookTarget {
    /// The host and the port: the rest of a URL may be a secret.
    pub fn host(&self) -> &str {
        let host = self.uri.authority();
        host.map_or("", |host| host.as_str())
    }
}

impl HostPattern {
    fn matches(&self, host: &str, port: u16, usual: u16) -> bool {
        let is_host = if self.is_wild {
            let below = host.strip_suffix(self.host.as_str());
            below.is_some_and(|below| below.len() > 1 && below.ends_with('.'))
        } else {
            host == self.host
        };
        is_host && port == self.port.unwrap_or(usual)
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "{text:?} is no host: a name or an address, with a port if it is not the usual one, such as \
                 hooks.example.com, *.example.com:8443 or 127.0.0.1:9000"
            )
        };
        let (is_wild, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (rest, None),
        };
        let port = port.map(|port| port.parse().map_err(|_| wrong()));
        let is_name = |host: &str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !host.is_empty() && host.chars().all(is_part)
        };
        let inner = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let is_address = inner.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok());
        if !is_name(host) && (is_wild || !is_address) {
            return Err(wrong());
        }
        Ok(Self {
            is_wild,
            host: host.to_ascii_lowercase(),
            port: port.transpose()?,
        })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            is_wild,
            host,
            port,
        } = self;
        write!(out, "{}{host}", if *is_wild { "*." } else { "" })?;
        port.map_or(Ok(()), |port| write!(out, ":{port}"))
    }
}

impl HostList {
    fn has(&self, host: &str, port: u16, usual: u16) -> bool {
        let mut hosts = self.0.iter();
        hosts.any(|pattern| pattern.matches(host, port, usual))
    }
}

impl FromStr for HostList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // No hosts: off.
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let hosts = text.split(',').map(|host| host.trim().parse());
        hosts.collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for HostList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        out.write_str(&hosts.join(","))
    }
}

impl WebhookHosts {
    pub(super) fn new(public: HostList, private: HostList) -> Self {
        Self { public, private }
    }

    /// True if there is none: webhooks are off.
    pub fn is_empty(&self) -> bool {
        self.public.0.is_empty() && self.private.0.is_empty()
    }

    /// The target of a URL, or why it may not be called.
    pub fn target(&self, url: &str) -> Result<WebhookTarget, String> {
        let shape = "it must be a URL such as https://hooks.example.com/memories, without a user and a password";
        // A parser drops fragments, which receivers would never see.
        let uri = Uri::try_from(url).ok().filter(|_| !url.contains('#'));
        let uri = uri.ok_or(shape)?;
        let is_https = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(shape.into()),
        };
        let authority = uri.authority().filter(|a| !a.as_str().contains('@'));
        let authority = authority.ok_or(shape)?;
        let usual = if is_https { 443 } else { 80 };
        let port = authority.port_u16().unwrap_or(usual);
        let host = authority.host().to_ascii_lowercase();
        let is_private = self.private.has(&host, port, usual);
        if !is_private && !self.public.has(&host, port, usual) {
            return Err(format!(
                "{host} with port {port} is not among the hosts that may be called: list it in webhooks.hosts, or in \
                 webhooks.private_hosts if it has a private address, and restart amemd"
            ));
        }
        if !is_https && !is_private {
            return Err("http is for hosts of webhooks.private_hosts only: use https".into());
        }
        Ok(WebhookTarget { uri, is_private })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_hosts_may_be_called_and_private_ones_without_tls() {
        let hosts = WebhookHosts::new(
            "hooks.example.com, *.Example.org:8443".parse().unwrap(),
            "127.0.0.1:9000,[::1]:9000,box".parse().unwrap(),
        );
        for (url, wanted) in [
            ("https://hooks.example.com/a?b=c", Some(false)),
            ("https://HOOKS.example.com:443/", Some(false)),
            ("https://a.b.example.org:8443/", Some(false)),
            ("http://127.0.0.1:9000/x", Some(true)),
            ("https://[::1]:9000/x", Some(true)),
            ("http://box/", Some(true)),
            ("http://hooks.example.com/", None),
            ("https://hooks.example.com:8443/", None),
            ("https://example.org:8443/", None),
            ("https://.example.org:8443/", None),
            ("https://badexample.org:8443/", None),
            ("https://example.com/", None),
            ("https://hooks.example.com.evil.example/", None),
            ("https://hooks.example.com@evil.example/", None),
            ("https://ada:secret@hooks.example.com/", None),
            ("https://hooks.example.com/#a", None),
            ("https://hooks.example.com./", None),
            ("http://127.0.0.1/", None),
            ("ftp://box/", None),
            ("/relative", None),
            ("", None),
        ] {
            let target = hosts.target(url);
            assert_eq!(target.ok().map(|target| target.is_private), wanted, "{url}");
        }
        assert!(WebhookHosts::default().is_empty() && !hosts.is_empty());
    }

    #[test]
    fn hosts_are_read_as_they_are_shown() {
        for text in ["", "a.example", "*.a.example:8443", "[::1]:9000,127.0.0.1"] {
            assert_eq!(text.parse::<HostList>().unwrap().to_string(), text);
        }
        for wrong in [
            "*",
            "a b",
            "https://a",
            "a/b",
            "a:",
            "a:x",
            "a,,b",
            "::1",
            "*.[::1]",
            "[::1",
            "a:99999",
        ] {
            assert!(wrong.parse::<HostList>().is_err(), "{wrong}");
        }
    }
}
