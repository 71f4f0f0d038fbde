//! The base URL of a server.

use std::fmt;

use hyper::http::Uri;

use crate::target::ConnectTarget;

/// A base URL without user, query and fragment; Display is the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    /// The server.
    pub target: ConnectTarget,
    /// Without a slash at its end.
    pub path: String,
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.target.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.target.authority, self.path)
    }
}

impl BaseUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// What it is not, or has and may not have. Errors do not repeat the text: it may have a password in it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let uri: Uri = text.trim().parse().map_err(|_| "it is no URL")?;
        let target = ConnectTarget::of(&uri)?;
        if target.authority.contains('@') {
            return Err("a URL with a user or password is not taken; see key_env, key_file");
        }
        if uri.query().is_some() || text.contains('#') {
            return Err("give the URL without a query");
        }
        Ok(Self {
            target,
            path: uri.path().trim_end_matches('/').to_owned(),
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
        assert_eq!(
            (url.target.host.as_str(), url.target.port),
            ("openrouter.ai", 443)
        );
        let url = BaseUrl::parse("http://[::1]:8080").unwrap();
        assert_eq!((url.target.host.as_str(), url.target.port), ("::1", 8080));
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
