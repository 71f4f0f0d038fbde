//! Values assigned to names that say that they are secret: `.env` files, settings, JSON, code.

use std::ops::Range;

use super::secret_kind::SecretKind;
use super::tokens::is_placeholder;

/// Parts of names. Behind them a value may be anything that looks random.
const SECRET_NAMES: [&str; 12] = [
    "apikey",
    "secret",
    "token",
    "accesskey",
    "privatekey",
    "authkey",
    "encryptionkey",
    "signingkey",
    "credential",
    "connectionstring",
    "accountkey",
    "masterkey",
];
/// Behind these even a word may be secret.
const PASSWORD_NAMES: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];
/// Names that contain one of the above and are none.
const PLAIN_NAMES: [&str; 12] = [
    "tokens",
    "tokenizer",
    "tokenid",
    "tokentype",
    "tokencount",
    "tokenlimit",
    "publickey",
    "secretname",
    "secretary",
    "nexttoken",
    "tokenurl",
    "pagetoken",
];
const NAME_BYTES_MAX: usize = 80;
const VALUE_BYTES_MIN: usize = 12;
const VALUE_BYTES_MAX: usize = 1024;
const PASSWORD_BYTES_MIN: usize = 6;
/// Bits per byte of a value. Identifiers and words have less at this length, tokens more.
const ENTROPY_MIN: f64 = 3.0;

/// The secret value of the assignment whose name begins here.
pub(super) fn assignment_at(bytes: &[u8], at: usize) -> Option<(Range<usize>, SecretKind)> {
    let rest = &bytes[at..];
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
    let name_len = rest.iter().take(NAME_BYTES_MAX).position(|b| !is_name(b))?;
    let name = std::str::from_utf8(&rest[..name_len])
        .ok()?
        .to_ascii_lowercase();
    let name = name.replace(['_', '-', '.'], "");
    if PLAIN_NAMES.iter().any(|plain| name.contains(plain)) {
        return None;
    }
    let is_password = PASSWORD_NAMES.iter().any(|word| name.ends_with(word));
    if !is_password && !SECRET_NAMES.iter().any(|word| name.ends_with(word)) {
        return None;
    }
    let (from, quote) = value_begin(rest, name_len)?;
    let is_value = |b: &u8| match quote {
        Some(quote) => *b != quote && *b != b'\n',
        None => b.is_ascii_graphic() && !b",;\"'`".contains(b),
    };
    let window = &rest[from..rest.len().min(from + VALUE_BYTES_MAX)];
    let len = window
        .iter()
        .position(|b| !is_value(b))
        .unwrap_or(window.len());
    let value = &window[..len];
    let is_secret = if is_password {
        len >= PASSWORD_BYTES_MIN
            && is_mixed(value)
            && !is_placeholder(value)
            && !is_expression(value)
    } else {
        len >= VALUE_BYTES_MIN
            && is_mixed(value)
            && entropy(value) >= ENTROPY_MIN
            && !is_placeholder(value)
            && !is_expression(value)
            && !is_uuid(value)
    };
    // The rest of a long value is of the secret, too; what ends it is ASCII, so that no character is cut.
    let len = match len < window.len() {
        true => len,
        false => {
            let value = rest[from..].iter();
            value.take_while(|b| is_value(b)).count()
        }
    };
    is_secret.then_some((at + from..at + from + len, SecretKind::Assignment))
}

/// Where the value begins behind `=` or `:`, and its quote.
fn value_begin(rest: &[u8], name_len: usize) -> Option<(usize, Option<u8>)> {
    let mut at = name_len;
    if matches!(rest.get(at), Some(b'"' | b'\'')) {
        at += 1;
    }
    let blanks = |at: usize| rest[at..].iter().take_while(|b| b" \t".contains(b)).count();
    at += blanks(at);
    match rest.get(at)? {
        b'=' if rest.get(at + 1) == Some(&b'>') => at += 2,
        b'=' if rest.get(at + 1) != Some(&b'=') => at += 1,
        b':' if rest.get(at + 1) == Some(&b'=') => at += 2,
        b':' if rest.get(at + 1) != Some(&b':') => at += 1,
        _ => return None,
    }
    at += blanks(at);
    let quote = rest.get(at).copied().filter(|b| b"\"'`".contains(b));
    Some((at + usize::from(quote.is_some()), quote))
}

/// Letters and something else: words and numbers alone are no secrets.
fn is_mixed(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit) && !value.contains(&b' ')
}

/// A call, a member, a path or an address: code says where a secret is, not what it is.
fn is_expression(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let is_member = text.contains('.') && !text.bytes().any(|b| b.is_ascii_digit());
    text.contains("://") || text.starts_with(['/', '.', '~', '$', '@']) || is_member
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Shannon's, in bits per byte.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|b| counts[usize::from(*b)] += 1);
    let len = value.len() as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}
