//! Secrets in what is to be remembered: they are masked before anything is read or stored.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use amem_texts::{SecretKind, mask_secrets};
use serde_json::{Map, Value};

/// What happens to secrets in texts that are to be remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// `[masked KIND]` stands in place of each.
    #[default]
    Mask,
    /// They are stored as they are.
    Keep,
}

impl FromStr for SecretPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mask" => Ok(Self::Mask),
            "keep" => Ok(Self::Keep),
            other => Err(format!(
                "unknown rule for secrets {other:?}: use mask or keep"
            )),
        }
    }
}

impl fmt::Display for SecretPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mask => "mask",
            Self::Keep => "keep",
        })
    }
}

/// How a mask begins.
pub(crate) const MASK: &str = "[masked ";

/// How many secrets there are of each kind.
pub(crate) type SecretCounts = BTreeMap<SecretKind, u64>;

/// The text with a mask in place of each secret, which is counted.
pub(crate) fn hidden<'t>(text: &'t str, counts: &mut SecretCounts) -> Cow<'t, str> {
    let (text, found) = mask_secrets(text);
    for (kind, count) in found {
        *counts.entry(kind).or_default() += count;
    }
    text
}

/// The object with masks in its texts; `None` if it has no secrets.
pub(crate) fn hidden_in(
    object: &Map<String, Value>,
    counts: &mut SecretCounts,
) -> Option<Map<String, Value>> {
    let mut changed: Option<Map<String, Value>> = None;
    for (key, value) in object {
        if let Some(value) = hidden_value(key, value, counts) {
            let copy = changed.get_or_insert_with(|| object.clone());
            copy.insert(key.clone(), value);
        }
    }
    changed
}

fn hidden_value(key: &str, value: &Value, counts: &mut SecretCounts) -> Option<Value> {
    match value {
        Value::String(text) => {
            let (masked, found) = mask_secrets(text);
            if !found.is_empty() {
                for (kind, count) in found {
                    *counts.entry(kind).or_default() += count;
                }
                return Some(Value::String(masked.into_owned()));
            }
            // The name says what the value is: {"api_key": "…"}.
            let assigned = format!("{key}={text}");
            let (masked, found) = mask_secrets(&assigned);
            let kind = *found.keys().next()?;
            let rest = masked.strip_prefix(key)?.strip_prefix('=')?.to_owned();
            *counts.entry(kind).or_default() += 1;
            Some(Value::String(rest))
        }
        Value::Object(object) => hidden_in(object, counts).map(Value::Object),
        Value::Array(list) => {
            let mut changed = None;
            for (at, one) in list.iter().enumerate() {
                if let Some(value) = hidden_value(key, one, counts) {
                    changed.get_or_insert_with(|| list.clone())[at] = value;
                }
            }
            changed.map(Value::Array)
        }
        _ => None,
    }
}

/// What an answer says of secrets.
pub(crate) fn reason(counts: &SecretCounts) -> String {
    let found: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{count} of {kind}"))
        .collect();
    format!(
        "masked before it was stored: {}; the setting secrets = \"keep\" of amemd keeps secrets",
        found.join(", ")
    )
}

/// True if a text says nothing but that something is a secret: "My token is [masked github-token]".
pub(crate) fn is_only_a_secret(text: &str) -> bool {
    let text = text.trim();
    let Some(start) = text.find(MASK) else {
        return false;
    };
    let Some(end) = text.rfind(']') else {
        return false;
    };
    let (before, after) = (text[..start].trim_end(), &text[end + 1..]);
    let between = text[start..=end].split(MASK).skip(1).all(|part| {
        let behind = part.split_once(']').map_or("", |(_, behind)| behind);
        !behind.contains(char::is_alphanumeric)
    });
    if !between || after.contains(char::is_alphanumeric) {
        return false;
    }
    let before = before.trim_end_matches(['"', '\'', '`', '(', ' ']);
    let last = before.rsplit(char::is_whitespace).next().unwrap_or("");
    let is_first = !before.contains(char::is_whitespace);
    let names = last.ends_with(['=', ':']) || IS.contains(&last.to_lowercase().as_str());
    (is_first || names) && before.lines().count() <= 1 && !before.contains(". ")
}

/// What stands between the name of a secret and the secret.
const IS: [&str; 9] = [
    "is", "was", "are", "ist", "lautet", "est", "es", "è", "with",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_about_nothing_but_a_secret_is_found() {
        for (text, is_only) in [
            ("[masked aws-key]", true),
            ("My GitHub token is [masked github-token].", true),
            ("export API_KEY=\"[masked assigned-secret]\"", true),
            ("password: [masked assigned-secret], [masked jwt]", true),
            ("Rotate the key [masked aws-key] every month", false),
            (
                "The deploy uses [masked aws-key] of the staging account",
                false,
            ),
            ("We use pnpm. The token is [masked jwt]", false),
            ("We use pnpm", false),
        ] {
            assert_eq!(is_only_a_secret(text), is_only, "{text}");
        }
    }

    #[test]
    fn a_rule_that_is_none_is_refused_with_what_is_allowed() {
        let error = "hide".parse::<SecretPolicy>().unwrap_err();
        assert_eq!(error, "unknown rule for secrets \"hide\": use mask or keep");
        assert_eq!("keep".parse(), Ok(SecretPolicy::Keep));
    }
}
