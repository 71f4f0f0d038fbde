//! The known name that a mistyped one probably stands for.

/// The nearest of `known` to `name`, if it is near enough to be meant. Names may have sections, as in `jobs.decay`; the
/// right word in a wrong section counts as near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let last = |name: &'_ str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let (near, found) = known
        .into_iter()
        .map(|known| {
            let whole = distance(name, known);
            let inner = distance(&last(name), &last(known)) + 1;
            (whole.min(inner), known)
        })
        .min_by_key(|(near, _)| *near)?;
    (near <= 1 + name.len() / 3).then_some(found)
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_led_to_the_right_one_and_a_strange_one_nowhere() {
        let known = ["jobs.decay", "jobs.expire", "decay.fact", "embed"];
        for (typed, meant) in [
            ("jobs.decya", "jobs.decay"),
            ("expire", "jobs.expire"),
            ("embedd", "embed"),
            ("jobs.fact", "decay.fact"),
        ] {
            assert_eq!(nearest(typed, known), Some(meant), "{typed}");
        }
        assert_eq!(nearest("zzzzzzzzzzzz", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
