//! Secrets with a form of their own.

use std::ops::Range;

use super::secret_kind::SecretKind;

/// Which bytes follow a prefix.
#[derive(Clone, Copy)]
enum Letters {
    /// A to Z and 2 to 7.
    Base32,
    Alphanumeric,
    /// And `_`.
    Word,
    /// And `_`, `-`.
    Url,
    /// And `_`, `-`, `.`.
    Dotted,
    /// And `/`.
    Path,
}

impl Letters {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Base32 => byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || b"_-".contains(&byte),
            Self::Dotted => byte.is_ascii_alphanumeric() || b"_-.".contains(&byte),
            Self::Path => byte.is_ascii_alphanumeric() || byte == b'/',
        }
    }
}

struct TokenForm {
    prefix: &'static str,
    letters: Letters,
    /// Bytes behind the prefix.
    bytes_min: usize,
    bytes_max: usize,
    kind: SecretKind,
}

const fn form(
    prefix: &'static str,
    letters: Letters,
    bytes_min: usize,
    bytes_max: usize,
    kind: SecretKind,
) -> TokenForm {
    TokenForm {
        prefix,
        letters,
        bytes_min,
        bytes_max,
        kind,
    }
}

/// Longer prefixes first. The lengths are those that the services document.
const FORMS: [TokenForm; 38] = [
    form("AKIA", Letters::Base32, 16, 16, SecretKind::Aws),
    form("ASIA", Letters::Base32, 16, 16, SecretKind::Aws),
    form("ABIA", Letters::Base32, 16, 16, SecretKind::Aws),
    form("ACCA", Letters::Base32, 16, 16, SecretKind::Aws),
    form("github_pat_", Letters::Word, 50, 255, SecretKind::GitHub),
    form("ghp_", Letters::Alphanumeric, 36, 255, SecretKind::GitHub),
    form("gho_", Letters::Alphanumeric, 36, 255, SecretKind::GitHub),
    form("ghu_", Letters::Alphanumeric, 36, 255, SecretKind::GitHub),
    form("ghs_", Letters::Alphanumeric, 36, 255, SecretKind::GitHub),
    form("ghr_", Letters::Alphanumeric, 36, 255, SecretKind::GitHub),
    form("glpat-", Letters::Dotted, 20, 255, SecretKind::GitLab),
    form("gldt-", Letters::Url, 20, 255, SecretKind::GitLab),
    form("glrt-", Letters::Dotted, 20, 255, SecretKind::GitLab),
    form("sk-ant-", Letters::Url, 24, 300, SecretKind::Anthropic),
    form("sk-proj-", Letters::Url, 20, 300, SecretKind::OpenAi),
    form("sk-svcacct-", Letters::Url, 20, 300, SecretKind::OpenAi),
    form("sk-admin-", Letters::Url, 20, 300, SecretKind::OpenAi),
    form(
        "sk-or-v1-",
        Letters::Alphanumeric,
        32,
        128,
        SecretKind::Service,
    ),
    form("sk-", Letters::Alphanumeric, 32, 128, SecretKind::OpenAi),
    form("AIza", Letters::Url, 35, 35, SecretKind::Google),
    form("GOCSPX-", Letters::Url, 28, 28, SecretKind::Google),
    form("ya29.", Letters::Dotted, 30, 2048, SecretKind::Google),
    form("xoxb-", Letters::Url, 20, 255, SecretKind::Slack),
    form("xoxp-", Letters::Url, 20, 255, SecretKind::Slack),
    form("xoxa-", Letters::Url, 20, 255, SecretKind::Slack),
    form("xoxe-", Letters::Url, 20, 255, SecretKind::Slack),
    form("xoxs-", Letters::Url, 20, 255, SecretKind::Slack),
    form("xapp-", Letters::Url, 20, 255, SecretKind::Slack),
    form(
        "hooks.slack.com/services/",
        Letters::Path,
        30,
        100,
        SecretKind::Slack,
    ),
    form(
        "sk_live_",
        Letters::Alphanumeric,
        20,
        255,
        SecretKind::Stripe,
    ),
    form(
        "rk_live_",
        Letters::Alphanumeric,
        20,
        255,
        SecretKind::Stripe,
    ),
    form("whsec_", Letters::Alphanumeric, 24, 255, SecretKind::Stripe),
    form("npm_", Letters::Alphanumeric, 36, 36, SecretKind::Registry),
    form("pypi-AgEI", Letters::Url, 50, 400, SecretKind::Registry),
    form("hf_", Letters::Alphanumeric, 30, 64, SecretKind::Service),
    form(
        "dop_v1_",
        Letters::Alphanumeric,
        64,
        64,
        SecretKind::Service,
    ),
    form("SG.", Letters::Dotted, 60, 80, SecretKind::Service),
    form("gsk_", Letters::Alphanumeric, 40, 64, SecretKind::Service),
];

const JWT_BYTES_MAX: usize = 16 << 10;
const KEY_BLOCK_BYTES_MAX: usize = 64 << 10;
const SCHEME_BYTES_MAX: usize = 24;
const USER_BYTES_MAX: usize = 256;

/// The secret that begins here. `at` follows no letter, digit or `_`.
pub(super) fn token_at(bytes: &[u8], at: usize) -> Option<(Range<usize>, SecretKind)> {
    let rest = &bytes[at..];
    match rest[0] {
        b'-' => return key_block(rest).map(|end| (at..at + end, SecretKind::PrivateKey)),
        b'e' => {
            if let Some(end) = web_token(rest) {
                return Some((at..at + end, SecretKind::Jwt));
            }
        }
        _ => {}
    }
    let of_form = FORMS.iter().find_map(|form| {
        let body = rest.strip_prefix(form.prefix.as_bytes())?;
        let len = run(body, form.letters);
        let fits = (form.bytes_min..=form.bytes_max).contains(&len) && is_random(&body[..len]);
        fits.then_some((at..at + form.prefix.len() + len, form.kind))
    });
    of_form
        .or_else(|| Some((shifted(url_password(rest)?, at), SecretKind::UrlPassword)))
        .or_else(|| Some((shifted(credentials(rest)?, at), SecretKind::Authorization)))
}

fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

fn run(bytes: &[u8], letters: Letters) -> usize {
    let len = bytes.iter().position(|b| !letters.has(*b));
    len.unwrap_or(bytes.len())
}

/// Not one letter repeated, and not words with hyphens alone.
fn is_random(bytes: &[u8]) -> bool {
    let mut seen = [false; 256];
    bytes.iter().for_each(|b| seen[usize::from(*b)] = true);
    seen.iter().filter(|is| **is).count() >= 8
}

/// Three parts of base64 with dots between them; the first two begin as JSON does.
fn web_token(rest: &[u8]) -> Option<usize> {
    if !rest.starts_with(b"eyJ") {
        return None;
    }
    let window = &rest[..rest.len().min(JWT_BYTES_MAX)];
    let len = run(window, Letters::Dotted);
    let token = window[..len].strip_suffix(b".").unwrap_or(&window[..len]);
    let mut parts = token.split(|b| *b == b'.');
    let (head, body, sign) = (parts.next()?, parts.next()?, parts.next()?);
    let is_token = head.len() >= 10 && body.starts_with(b"eyJ") && sign.len() >= 16;
    is_token.then_some(head.len() + body.len() + sign.len() + 2)
}

/// From the first line to the last, or to the end of a block that was cut off.
fn key_block(rest: &[u8]) -> Option<usize> {
    let head = rest.strip_prefix(b"-----BEGIN ")?;
    let line = head.iter().take(64).position(|b| *b == b'-')?;
    let label = std::str::from_utf8(&head[..line]).ok()?;
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let window = &rest[..rest.len().min(KEY_BLOCK_BYTES_MAX)];
    let end = format!("-----END {label}-----");
    let closing = window
        .windows(end.len())
        .position(|part| part == end.as_bytes());
    if let Some(at) = closing {
        return Some(at + end.len());
    }
    // Up to what cannot be a part of the block.
    let is_in = |b: &u8| b.is_ascii_alphanumeric() || b"+/=-\n\r\\ :,".contains(b);
    let len = window.iter().position(|b| !is_in(b));
    Some(len.unwrap_or(window.len()))
}

/// The password of `scheme://user:password@host`.
fn url_password(rest: &[u8]) -> Option<Range<usize>> {
    let scheme = rest
        .iter()
        .take(SCHEME_BYTES_MAX)
        .position(|b| *b == b':')?;
    let is_scheme = |b: &u8| b.is_ascii_alphanumeric() || b"+.-".contains(b);
    let user = rest[scheme..].strip_prefix(b"://")?;
    if scheme == 0 || !rest[..scheme].iter().all(is_scheme) {
        return None;
    }
    let is_user = |b: &u8| !b.is_ascii_whitespace() && !b"/?#@\"'<>`".contains(b);
    let end = user.iter().take(USER_BYTES_MAX).position(|b| !is_user(b))?;
    let colon = user[..end].iter().position(|b| *b == b':')?;
    let password = &user[colon + 1..end];
    if user[end] != b'@' || password.is_empty() || is_placeholder(password) {
        return None;
    }
    let from = scheme + 3 + colon + 1;
    Some(from..from + password.len())
}

/// What follows `Bearer` or `Basic` in a header.
fn credentials(rest: &[u8]) -> Option<Range<usize>> {
    let name = b"authorization";
    if !rest.get(..name.len())?.eq_ignore_ascii_case(name) {
        return None;
    }
    let mut at = name.len();
    at += rest[at..]
        .iter()
        .take(4)
        .take_while(|b| b"\"': ".contains(b))
        .count();
    let scheme = rest.get(at..at + 6)?;
    if scheme.eq_ignore_ascii_case(b"bearer") {
        at += 6;
    } else if scheme[..5].eq_ignore_ascii_case(b"basic") {
        at += 5;
    } else {
        return None;
    }
    at += rest[at..].iter().take_while(|b| **b == b' ').count();
    let is_in = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.~".contains(b);
    let len = rest[at..]
        .iter()
        .position(|b| !is_in(b))
        .unwrap_or(rest.len() - at);
    let value = &rest[at..at + len];
    (len >= 12 && !is_placeholder(value)).then_some(at..at + len)
}

/// What stands for a secret in documents.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&str; 17] = [
        "your",
        "example",
        "changeme",
        "change_me",
        "change-me",
        "placeholder",
        "xxxx",
        "....",
        "****",
        "password",
        "secret_here",
        "redacted",
        "masked",
        "todo",
        "dummy",
        "insert",
        "replace",
    ];
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    let is_template = value.iter().any(|b| b"${}<>[]()".contains(b));
    is_template || WORDS.iter().any(|word| text.contains(word))
}
