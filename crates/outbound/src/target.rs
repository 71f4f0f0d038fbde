//! The server of a URL.

use hyper::Uri;

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectTarget {
    /// True for https.
    pub is_tls: bool,
    /// Without the brackets of an IPv6 address.
    pub host: String,
    /// The usual one if the URL has none.
    pub port: u16,
    /// Host and port as the URL has them.
    pub authority: String,
}

impl ConnectTarget {
    /// Reads a whole URL.
    ///
    /// # Errors
    /// A URL without a host, or of another scheme; it is not repeated.
    pub fn of(url: &Uri) -> Result<Self, &'static str> {
        let is_tls = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("give a URL that begins with https:// or http://"),
        };
        let authority = url.authority().ok_or("the URL has no host")?;
        let host = authority.host().trim_matches(['[', ']']);
        if host.is_empty() {
            return Err("the URL has no host");
        }
        let usual = if is_tls { 443 } else { 80 };
        Ok(Self {
            is_tls,
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(usual),
            authority: authority.as_str().to_owned(),
        })
    }
}
