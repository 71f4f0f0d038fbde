//! Finds secrets and masks them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::assignments::assignment_at;
use super::secret_kind::SecretKind;
use super::tokens::token_at;
use crate::visible::visible;

/// The text with `[masked KIND]` in place of each secret, and how many there are of each kind.
///
/// Characters that nobody sees are left out where a secret is found: they would hide its form, and a reader who leaves
/// them out has the secret.
#[must_use]
pub fn mask_secrets(text: &str) -> (Cow<'_, str>, BTreeMap<SecretKind, u64>) {
    if let Cow::Owned(shown) = visible(text) {
        let (masked, counts) = masked(&shown);
        if !counts.is_empty() {
            return (Cow::Owned(masked.into_owned()), counts);
        }
    }
    masked(text)
}

fn masked(text: &str) -> (Cow<'_, str>, BTreeMap<SecretKind, u64>) {
    let mut counts = BTreeMap::new();
    let mut out = String::new();
    let mut from = 0;
    for (span, kind) in spans(text) {
        out.push_str(&text[from..span.start]);
        out.push_str("[masked ");
        out.push_str(kind.name());
        out.push(']');
        from = span.end;
        *counts.entry(kind).or_default() += 1;
    }
    if counts.is_empty() {
        return (Cow::Borrowed(text), counts);
    }
    out.push_str(&text[from..]);
    (Cow::Owned(out), counts)
}

/// In order, apart from each other.
fn spans(text: &str) -> Vec<(Range<usize>, SecretKind)> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let is_start =
            bytes[at].is_ascii_alphabetic() || bytes[at].is_ascii_digit() || bytes[at] == b'-';
        let is_apart = at == 0 || !is_word(bytes[at - 1]);
        if !is_start || !is_apart {
            at += 1;
            continue;
        }
        if let Some(end) = image_at(bytes, at) {
            at = end;
        } else if let Some((span, kind)) = token_at(bytes, at).or_else(|| assignment_at(bytes, at))
        {
            at = span.end.max(at + 1);
            out.push((span, kind));
        } else {
            at = word_end(bytes, at);
        }
    }
    out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Behind the word; a long run of base64 is one word, so that chance cannot make a token inside of it.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let run = |is_in: fn(u8) -> bool| {
        let len = bytes[at..].iter().position(|b| !is_in(*b));
        len.map_or(bytes.len(), |len| at + len)
    };
    let wide = run(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    let is_base64 = wide - at >= BASE64_RUN_MIN && bytes[at..wide].iter().any(u8::is_ascii_digit);
    if is_base64 {
        return wide;
    }
    run(is_word).max(at + 1)
}

/// A path of words is rarely this long; a packed image is always longer.
const BASE64_RUN_MIN: usize = 256;

/// Behind a `data:` address.
fn image_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes[at..].strip_prefix(b"data:")?;
    let head = rest.iter().take(100).position(|b| *b == b',')?;
    if !rest[..head].ends_with(b";base64") {
        return None;
    }
    let body = &rest[head + 1..];
    let len = body
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || b"+/=\n\r-_".contains(b)));
    Some(at + 5 + head + 1 + len.unwrap_or(body.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters and digits without a pattern, from a seed.
    fn random(len: usize, seed: u64) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(LETTERS[(state % 62) as usize])
        };
        (0..len).map(|_| next()).collect()
    }

    fn check(text: &str, secret: &str, kind: SecretKind) {
        let (masked, counts) = mask_secrets(text);
        assert!(!masked.contains(secret), "{text}: {masked}");
        assert_eq!(counts.get(&kind), Some(&1), "{text}: {masked}");
        assert!(masked.contains(&format!("[masked {kind}]")), "{masked}");
        let again = mask_secrets(&masked);
        assert!(again.1.is_empty(), "masks are no secrets: {masked}");
    }

    #[test]
    fn tokens_of_known_forms_are_masked() {
        let upper = |n, seed| {
            random(n, seed)
                .to_ascii_uppercase()
                .replace(['0', '1', '8', '9'], "2")
        };
        let dashed = format!("{}-{}", random(20, 1), random(22, 2));
        let rows = [
            (format!("AKIA{}", upper(16, 3)), SecretKind::Aws),
            (format!("ghp_{}", random(36, 4)), SecretKind::GitHub),
            (
                format!("github_pat_{}_{}", random(22, 5), random(59, 6)),
                SecretKind::GitHub,
            ),
            (format!("glpat-{}", random(20, 7)), SecretKind::GitLab),
            (format!("sk-{}", random(48, 8)), SecretKind::OpenAi),
            (format!("sk-proj-{dashed}"), SecretKind::OpenAi),
            (format!("sk-ant-api03-{dashed}"), SecretKind::Anthropic),
            (format!("AIza{}", random(35, 9)), SecretKind::Google),
            (format!("GOCSPX-{}", random(28, 10)), SecretKind::Google),
            (
                format!("xoxb-123456789012-{}", random(24, 11)),
                SecretKind::Slack,
            ),
            (format!("sk_live_{}", random(24, 12)), SecretKind::Stripe),
            (format!("npm_{}", random(36, 13)), SecretKind::Registry),
            (format!("hf_{}", random(34, 14)), SecretKind::Service),
            (
                format!(
                    "eyJ{}.eyJ{}.{}",
                    random(20, 15),
                    random(30, 16),
                    random(43, 17)
                ),
                SecretKind::Jwt,
            ),
        ];
        for (secret, kind) in &rows {
            for text in [
                secret.clone(),
                format!("use {secret}, please"),
                format!("\"{secret}\""),
                format!("https://example.org/?a={secret}&b=1"),
                format!("(ä{secret})").replace('ä', "ä "),
            ] {
                check(&text, secret, *kind);
            }
        }
    }

    #[test]
    fn keys_passwords_and_assignments_are_masked() {
        let body = format!("{}\n{}", random(64, 20), random(64, 21));
        let kinds = [
            "RSA PRIVATE KEY",
            "PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        ];
        for kind in kinds {
            let text = format!("a\n-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\nb");
            check(&text, &body, SecretKind::PrivateKey);
            assert!(mask_secrets(&text).0.ends_with("\nb"), "what follows stays");
            check(
                &format!("-----BEGIN {kind}-----\n{body}"),
                &body,
                SecretKind::PrivateKey,
            );
        }
        check(
            "postgres://ada:s3cret-Pw@db:5432/x",
            "s3cret-Pw",
            SecretKind::UrlPassword,
        );
        check(
            "https://ada:p%40ss@host/",
            "p%40ss",
            SecretKind::UrlPassword,
        );
        let value = random(32, 22);
        for text in [
            format!("API_KEY={value}"),
            format!("export AWS_SECRET_ACCESS_KEY=\"{value}\""),
            format!("\"client_secret\": \"{value}\""),
            format!("token: {value}"),
            format!("dbPassword = '{value}'"),
        ] {
            check(&text, &value, SecretKind::Assignment);
        }
        check(
            "DB_PASSWORD=tr0ub4dor&3",
            "tr0ub4dor",
            SecretKind::Assignment,
        );
        let header = format!("Authorization: Bearer {value}");
        check(&header, &value, SecretKind::Authorization);
        check(
            "-H 'authorization: Basic YWRhOnMzY3JldFB3'",
            "YWRhOnMz",
            SecretKind::Authorization,
        );
    }

    #[test]
    fn what_only_looks_random_stays() {
        let image = format!(
            "data:image/png;base64,{}AKIA{}",
            random(500, 30),
            random(600, 31)
        );
        let base64 = format!(
            "{}/AKIA2222222222222222/{}",
            random(300, 32),
            random(300, 33)
        );
        for text in [
            "commit 8f14e45fceea167a5a36dedd4bea2543b1d2a3c4",
            "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "id 123e4567-e89b-12d3-a456-426614174000",
            "session_key: 123e4567-e89b-12d3-a456-426614174000",
            "the key is under the mat",
            "token: string",
            "password: changeme",
            "password = os.environ['DB_PASSWORD']",
            "API_KEY=your-api-key-here",
            "API_KEY=${API_KEY}",
            "api_key=<your key>",
            "api_key: xxxxxxxxxxxxxxxxxxxx",
            "let token = next_token(stream);",
            "max_tokens: 4096",
            "primary_key: user_id_and_project_id",
            "public_key = 8f14e45fceea167a5a36dedd4bea2543b1d2a3c4",
            "keyboard=mechanical-with-brown-switches-2024",
            "sk-learn and sk-proj- are words",
            "ghp_short AKIAshort AIza",
            "https://example.org:8080/a@b",
            "https://user@example.org/",
            "ssh git@github.com:owner/repo.git",
            "eyJhbGciOiJIUzI1NiJ9 alone",
            "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
            "Authorization: Bearer <token>",
            "The secret: be kind to people",
            "monkey=business-as-usual-2024-a1",
            &image,
            &base64,
        ] {
            let (masked, counts) = mask_secrets(text);
            assert!(counts.is_empty(), "{text}: {masked}");
            assert_eq!(masked, text);
        }
    }

    #[test]
    fn a_long_value_is_masked_whole_and_cuts_no_character() {
        for shift in 0..4 {
            let value = format!("{}x1{}", "a".repeat(shift), "年API鍵9".repeat(400));
            let text = format!("\"secret\": \"{value}\" and more");
            let (masked, _) = mask_secrets(&text);
            assert!(!masked.contains("API") || masked == text, "{masked}");
            assert!(masked.ends_with("\" and more"), "{masked}");
            // A value that is never closed ends with the text.
            let (open, _) = mask_secrets(&text[..text.len() - 10]);
            assert!(open.starts_with("\"secret\": \""), "{open}");
        }
    }

    #[test]
    fn characters_that_nobody_sees_hide_no_secret() {
        let key = format!("ghp_{}", random(36, 7));
        let text = format!("use {}\u{200b}{} for it", &key[..9], &key[9..]);
        let (masked, counts) = mask_secrets(&text);
        assert_eq!(counts.values().sum::<u64>(), 1, "{masked}");
        assert!(!masked.contains(&key[9..]), "{masked}");
        let plain = "a\u{200b}b";
        assert_eq!(mask_secrets(plain).0, plain);
    }
}
