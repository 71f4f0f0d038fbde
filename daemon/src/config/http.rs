//! Where HTTP is served, and the origins of web pages that may call it.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// An address for HTTP: `host:port`, an absolute path, or `unix:` and an absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpAddress {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl HttpAddress {
    /// The address of TCP.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl FromStr for HttpAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = text.strip_prefix("unix:").unwrap_or(text);
        if path.starts_with('/') {
            return Ok(Self::Unix(path.into()));
        }
        text.parse().map(Self::Tcp).map_err(|_| {
            "it is an address with a port, such as 127.0.0.1:7412, or the absolute path of a Unix socket"
        })
    }
}

impl fmt::Display for HttpAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "{address}"),
            Self::Unix(path) => write!(out, "{}", path.display()),
        }
    }
}

/// Origins of web pages, such as `https://app.example:8443`, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// True if pages of this origin may call.
    pub(crate) fn allow(&self, origin: &[u8]) -> bool {
        let same = |one: &String| one.as_bytes().eq_ignore_ascii_case(origin);
        self.0.iter().any(same)
    }
}

impl FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let origin = |text: &str| {
            let origin = text.trim();
            let host = ["http://", "https://"]
                .iter()
                .find_map(|scheme| origin.strip_prefix(scheme));
            let is_host = |host: &str| {
                !host.is_empty()
                    && host
                        .chars()
                        .all(|c| c.is_ascii_graphic() && !"/?#@*,".contains(c))
            };
            if host.is_some_and(is_host) {
                return Ok(origin.to_owned());
            }
            Err(format!(
                "{origin:?} is no origin: a scheme and a host, such as https://app.example, without a path"
            ))
        };
        text.split(',')
            .map(origin)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl fmt::Display for Origins {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_or_the_path_of_a_socket() {
        let tcp = HttpAddress::Tcp("127.0.0.1:7412".parse().unwrap());
        let unix = HttpAddress::Unix("/run/h".into());
        for (text, wanted) in [
            ("127.0.0.1:7412", Some(&tcp)),
            ("/run/h", Some(&unix)),
            ("unix:/run/h", Some(&unix)),
            ("unix:h", None),
            ("h", None),
            ("7412", None),
        ] {
            assert_eq!(text.parse().ok().as_ref(), wanted, "{text}");
        }
        assert_eq!(
            (tcp.to_string(), unix.to_string()),
            ("127.0.0.1:7412".into(), "/run/h".into())
        );
    }

    #[test]
    fn origins_are_schemes_and_hosts() {
        let origins: Origins = "https://a.example, http://localhost:3000".parse().unwrap();
        assert_eq!(
            origins.to_string(),
            "https://a.example,http://localhost:3000"
        );
        for (origin, allowed) in [
            ("https://a.example", true),
            ("https://A.example", true),
            ("http://localhost:3000", true),
            ("http://a.example", false),
            ("https://a.example.evil", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(origins.allow(origin.as_bytes()), allowed, "{origin}");
        }
        for wrong in [
            "*",
            "a.example",
            "https://",
            "https://a/b",
            "https://a,,https://b",
            "",
        ] {
            assert!(wrong.parse::<Origins>().is_err(), "{wrong:?}");
        }
        assert!(!Origins::default().allow(b""));
    }
}
