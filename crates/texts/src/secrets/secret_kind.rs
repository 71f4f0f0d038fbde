//! Kinds of secrets.

use std::fmt;

/// What a secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SecretKind {
    /// An access key of AWS.
    Aws,
    /// A token of GitHub.
    GitHub,
    /// A token of GitLab.
    GitLab,
    /// A key of OpenAI.
    OpenAi,
    /// A key of Anthropic.
    Anthropic,
    /// A key or token of Google.
    Google,
    /// A token or hook of Slack.
    Slack,
    /// A key of Stripe.
    Stripe,
    /// A token of a package registry: npm, PyPI, crates.io.
    Registry,
    /// A token of another service with a form of its own.
    Service,
    /// A JSON web token.
    Jwt,
    /// A block with a private key.
    PrivateKey,
    /// The password of an address.
    UrlPassword,
    /// The credentials of an HTTP header.
    Authorization,
    /// A value assigned to a name such as `API_KEY` or `password`.
    Assignment,
}

impl SecretKind {
    /// Its name in masks and counts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws-key",
            Self::GitHub => "github-token",
            Self::GitLab => "gitlab-token",
            Self::OpenAi => "openai-key",
            Self::Anthropic => "anthropic-key",
            Self::Google => "google-key",
            Self::Slack => "slack-token",
            Self::Stripe => "stripe-key",
            Self::Registry => "registry-token",
            Self::Service => "service-token",
            Self::Jwt => "jwt",
            Self::PrivateKey => "private-key",
            Self::UrlPassword => "url-password",
            Self::Authorization => "authorization",
            Self::Assignment => "assigned-secret",
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
