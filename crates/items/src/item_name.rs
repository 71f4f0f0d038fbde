//! What an item is called: a namespace and a key. And patterns of namespaces.

use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Result};
use crate::limits::{KEY_BYTES_MAX, NAMESPACE_BYTES_MAX, NAMESPACE_LABELS_MAX};

/// The label of a pattern that stands for any label.
const ANY: &str = "*";

fn check_labels(field: &'static str, labels: &[String]) -> Result<()> {
    Error::check(
        "the number of labels of a namespace",
        labels.len(),
        NAMESPACE_LABELS_MAX,
    )?;
    let bytes = labels.iter().map(String::len).sum();
    Error::check(
        "the labels of a namespace in bytes",
        bytes,
        NAMESPACE_BYTES_MAX,
    )?;
    for label in labels {
        if label.is_empty() {
            return Err(Error::invalid(field, "a label is empty: leave it out"));
        }
        if label.contains(['.', '\0']) {
            let why = format!("the label {label:?} has a period or a NUL: use other characters");
            return Err(Error::invalid(field, why));
        }
    }
    Ok(())
}

/// A namespace and a key within the limits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemName {
    namespace: Vec<String>,
    key: String,
}

impl ItemName {
    /// Errors: no label, a bad one, no key, or more of them than the limits.
    pub fn new(namespace: Vec<String>, key: String) -> Result<Self> {
        if namespace.is_empty() {
            let why = "it is empty: name at least one label";
            return Err(Error::invalid("namespace", why));
        }
        check_labels("namespace", &namespace)?;
        if key.is_empty() {
            return Err(Error::invalid("key", "it is empty: name one"));
        }
        Error::check("the key in bytes", key.len(), KEY_BYTES_MAX)?;
        Ok(Self { namespace, key })
    }

    /// The labels.
    pub fn namespace(&self) -> &[String] {
        &self.namespace
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The value by which an index finds the events of the item.
    pub(crate) fn digest(&self) -> String {
        let labels = self.namespace.iter().map(String::as_str);
        digest("item", labels.chain([self.key.as_str()]))
    }

    /// Those by which an index finds the items of a namespace, for each namespace that the item is in.
    pub(crate) fn prefixes(&self) -> Vec<String> {
        let depths = 1..=self.namespace.len();
        depths
            .map(|depth| prefix_digest(&self.namespace[..depth]))
            .collect()
    }

    /// That by which an index finds the items that are directly in the namespace.
    pub(crate) fn place(&self) -> String {
        place_digest(&self.namespace)
    }
}

/// The first labels of namespaces; none for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix(Vec<String>);

impl Prefix {
    /// Errors: a bad label, or more than the limits.
    pub fn new(labels: Vec<String>) -> Result<Self> {
        check_labels("namespace_prefix", &labels)?;
        Ok(Self(labels))
    }

    /// True if a namespace begins with it.
    pub fn covers(&self, namespace: &[String]) -> bool {
        namespace.starts_with(&self.0)
    }

    /// The value by which an index finds the items; `None` for all items.
    pub(crate) fn digest(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| prefix_digest(&self.0))
    }
}

/// The first and the last labels of namespaces; `*` stands for any label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamespacePattern {
    prefix: Vec<String>,
    suffix: Vec<String>,
}

impl NamespacePattern {
    /// Errors: a bad label, or more than the limits.
    pub fn new(prefix: Vec<String>, suffix: Vec<String>) -> Result<Self> {
        check_labels("prefix", &prefix)?;
        check_labels("suffix", &suffix)?;
        Ok(Self { prefix, suffix })
    }

    /// True if a namespace matches; the prefix and the suffix may share labels.
    pub fn matches(&self, namespace: &[String]) -> bool {
        let is_same = |(label, wanted): (&String, &String)| wanted == ANY || label == wanted;
        let (labels, prefix, suffix) = (namespace.len(), self.prefix.len(), self.suffix.len());
        labels >= prefix
            && labels >= suffix
            && namespace.iter().zip(&self.prefix).all(is_same)
            && namespace[labels - suffix..]
                .iter()
                .zip(&self.suffix)
                .all(is_same)
    }
}

/// The value by which an index finds the items within a namespace.
pub(crate) fn prefix_digest(labels: &[String]) -> String {
    digest("prefix", labels.iter().map(String::as_str))
}

/// The value by which an index finds the items directly in a namespace.
pub(crate) fn place_digest(labels: &[String]) -> String {
    digest("place", labels.iter().map(String::as_str))
}

/// Digests propose: what they find is compared.
fn digest<'s>(kind: &str, parts: impl Iterator<Item = &'s str>) -> String {
    let mut bytes = kind.as_bytes().to_vec();
    for part in parts {
        // UTF-8 never has this byte.
        bytes.push(0xFF);
        bytes.extend_from_slice(part.as_bytes());
    }
    format!("{:032x}", xxh3_128(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<String> {
        let labels = text.split('/').filter(|label| !label.is_empty());
        labels.map(str::to_owned).collect()
    }

    #[test]
    fn patterns_match_the_first_and_the_last_labels() {
        for (prefix, suffix, namespace, is_match) in [
            ("", "", "a", true),
            ("a", "", "a/b", true),
            ("a", "", "b/a", false),
            ("*/b", "", "a/b/c", true),
            ("*/b", "", "a", false),
            ("", "c", "a/b/c", true),
            ("", "*/c", "a/b/c", true),
            ("", "*/c", "c", false),
            ("a/b", "b/c", "a/b/c", true),
            ("a", "c", "a/b", false),
            ("a/b/c/d", "", "a/b/c", false),
        ] {
            let pattern = NamespacePattern::new(labels(prefix), labels(suffix)).unwrap();
            let found = pattern.matches(&labels(namespace));
            assert_eq!(found, is_match, "{prefix} {suffix} {namespace}");
        }
    }

    #[test]
    fn names_over_a_limit_or_with_a_bad_label_are_refused() {
        let name = |labels: Vec<String>, key: &str| ItemName::new(labels, key.into());
        name(labels("a/b"), "k").unwrap();
        name(vec!["*".into()], "k").unwrap();
        for (labels, key) in [
            (vec![], "k".to_owned()),
            (vec![String::new()], "k".to_owned()),
            (vec!["a.b".into()], "k".to_owned()),
            (vec!["a\0".into()], "k".to_owned()),
            (vec!["a".into(); NAMESPACE_LABELS_MAX + 1], "k".to_owned()),
            (vec!["a".repeat(NAMESPACE_BYTES_MAX + 1)], "k".to_owned()),
            (vec!["a".into()], String::new()),
            (vec!["a".into()], "k".repeat(KEY_BYTES_MAX + 1)),
        ] {
            assert!(name(labels.clone(), &key).is_err(), "{labels:?} {key}");
        }
    }

    #[test]
    fn different_names_have_different_digests() {
        let of = |labels: Vec<String>, key: &str| ItemName::new(labels, key.into()).unwrap();
        let names = [
            of(labels("a/b"), "c"),
            of(labels("a"), "bc"),
            of(labels("ab"), "c"),
        ];
        assert_ne!(names[0].digest(), names[1].digest());
        assert_ne!(names[1].digest(), names[2].digest());
        assert_eq!(names[0].prefixes()[0], names[1].prefixes()[0]);
        assert_ne!(names[0].prefixes()[0], names[1].place());
    }
}
