//! The base URL of a server.

use std::fmt;

use hyper::http::Uri;

/// A base URL without user, query and fragment; Display is the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    pub(crate) is_tls: bool,
    /// Without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Without a slash at its end.
    pub(crate) path: String,
    /// Host and port as they are written.
    pub(crate) authority: String,
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

impl BaseUrl {
    /// Errors do not repeat the text: it may have a password in it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let uri: Uri = text.trim().parse().map_err(|_| "it is no URL")?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("give a URL that begins with https:// or http://"),
        };
        let authority = uri.authority().ok_or("the URL has no host")?;
        if authority.as_str().contains('@') {
            return Err("a URL with a user or password is not taken; see key_env, key_file");
        }
        if uri.query().is_some() || text.contains('#') {
            return Err("give the URL without a query");
        }
        let host = authority.host().trim_matches(['[', ']']);
        if host.is_empty() {
            return Err("the URL has no host");
        }
        let usual = if is_tls { 443 } else { 80 };
        Ok(Self {
            is_tls,
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(usual),
            path: uri.path().trim_end_matches('/').to_owned(),
            authority: authority.as_str().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_read_or_refused_without_being_repeated() {
        let url = BaseUrl::parse("https://openrouter.ai/api/v1/").unwrap();
        assert_eq!(url.to_string(), "https://openrouter.ai/api/v1");
        assert_eq!((url.host.as_str(), url.port), ("openrouter.ai", 443));
        let url = BaseUrl::parse("http://[::1]:8080").unwrap();
        assert_eq!((url.host.as_str(), url.port), ("::1", 8080));
        for text in [
            "localhost:8080",
            "ftp://a.example",
            "https://me:s3cret@a.example",
            "https://a.example/?key=s3cret",
            "https://",
            "nonsense s3cret",
        ] {
            let why = BaseUrl::parse(text).unwrap_err();
            assert!(!why.contains("s3cret"), "{why}");
        }
    }
}
