//! Counts in sentences: "1 event is", "2 events are".

/// A count with its noun.
pub fn plural(count: u64, one: &str) -> String {
    format!("{count} {one}{}", agree(count, "", "s"))
}

/// The word that goes with a count.
pub(crate) fn agree<'a>(count: u64, one: &'a str, more: &'a str) -> &'a str {
    if count == 1 { one } else { more }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_none_are_many() {
        assert_eq!(plural(1, "event"), "1 event");
        assert_eq!(plural(0, "event"), "0 events");
        assert_eq!(plural(21, "event"), "21 events");
        assert_eq!(
            [0, 1, 2].map(|n| agree(n, "is", "are")),
            ["are", "is", "are"]
        );
    }
}
