//! What stands within a line: tags, links, and the marks of Basic Memory.

/// A link of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoteLink {
    /// What it names: a title, an alias or a path; without `#heading` and `|alias`.
    pub(super) target: String,
}

/// Tags without `#`, each once. A tag has a letter, and follows a blank.
pub(super) fn tags(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut is_code = false;
    for (at, c) in text.char_indices() {
        is_code ^= c == '`';
        if c == '#' && !is_code && (before.is_whitespace() || before == '(') {
            let rest = &text[at + 1..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/')));
            let tag = rest[..end.unwrap_or(rest.len())].trim_end_matches(['/', '-']);
            let is_tag = tag.chars().any(char::is_alphabetic) && tag.len() <= 200;
            if is_tag && !out.iter().any(|known| known == tag) {
                out.push(tag.to_owned());
            }
        }
        before = c;
    }
    out
}

/// `[[links]]`, and Markdown's to notes, each target once.
pub(super) fn links(text: &str) -> Vec<NoteLink> {
    let mut out: Vec<NoteLink> = Vec::new();
    let mut add = |target: &str| {
        let target = target.trim();
        let is_known = out.iter().any(|link| link.target == target);
        if !target.is_empty() && target.len() <= 1_000 && !is_known {
            out.push(NoteLink {
                target: target.to_owned(),
            });
        }
    };
    let mut at = 0;
    while let Some(found) = text[at..].find('[') {
        let open = at + found;
        at = open + 1;
        let rest = &text[open..];
        if let Some(inner) = rest.strip_prefix("[[") {
            let Some(end) = inner.find("]]") else {
                continue;
            };
            let inner = &inner[..end];
            if !inner.contains(['[', '\n']) {
                add(inner.split(['|', '#', '^']).next().unwrap_or_default());
                at = open + 2 + end + 2;
            }
            continue;
        }
        let Some(middle) = rest.find("](") else {
            continue;
        };
        let Some(end) = rest[middle..].find(')') else {
            continue;
        };
        let address = &rest[middle + 2..middle + end];
        let path = address.split(['#', ' ']).next().unwrap_or_default();
        let is_note = path.to_ascii_lowercase().ends_with(".md") && !path.contains("://");
        if is_note && !rest[..middle].contains('\n') {
            add(&unescaped(path));
        }
    }
    out
}

/// `%20` and the like as characters.
fn unescaped(path: &str) -> String {
    let bytes = path.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// True for a line of an index: a link, and at most a few words behind it.
pub(crate) fn is_link_only(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('[') && !links(text).is_empty()
}

/// An observation of Basic Memory: `[category] text #tag (context)`.
#[derive(Debug, PartialEq)]
pub(super) struct NoteObservation<'t> {
    pub(super) category: &'t str,
    pub(super) text: &'t str,
    pub(super) context: Option<&'t str>,
}

pub(super) fn observation(item: &str) -> Option<NoteObservation<'_>> {
    let rest = item.strip_prefix('[')?;
    let end = rest.find(']')?;
    let (category, text) = (rest[..end].trim(), rest[end + 1..].trim());
    // Neither a task, nor a link, nor a footnote.
    let is_task =
        category.is_empty() || category.len() == 1 && !category.contains(char::is_alphabetic);
    let is_task = is_task || matches!(category, "x" | "X");
    let is_other =
        category.starts_with(['[', '^', '!']) || rest[end + 1..].starts_with(['(', '[', ':', ']']);
    if is_task || is_other || category.len() > 100 || text.is_empty() {
        return None;
    }
    let context = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" ("))
        .filter(|(_, context)| !context.contains([')', '(']));
    Some(NoteObservation {
        category,
        text: context.map_or(text, |(text, _)| text.trim()),
        context: context.map(|(_, context)| context),
    })
}

/// A relation of Basic Memory: `relation_type [[Target]] (context)`; the name and the target.
pub(super) fn relation(item: &str) -> Option<(String, String)> {
    let (front, rest) = item.split_once("[[")?;
    let (target, behind) = rest.split_once("]]")?;
    let name = front.trim().trim_matches(['"', '\'']);
    let behind = behind.trim();
    let is_alone = behind.is_empty() || behind.starts_with('(') && behind.ends_with(')');
    let words = name.split_whitespace().count();
    let is_name = name
        .chars()
        .all(|c| c.is_alphanumeric() || " _-".contains(c))
        && words <= 4;
    if !is_alone || !is_name || name.len() > 100 {
        return None;
    }
    let name = if name.is_empty() { "links_to" } else { name };
    let target = target
        .split(['|', '#', '^'])
        .next()
        .unwrap_or_default()
        .trim();
    (!target.is_empty()).then(|| (name.to_owned(), target.to_owned()))
}

/// The id of a block (`text ^id`) and the text without it.
pub(super) fn block_id(text: &str) -> (Option<&str>, &str) {
    let split = text.trim_end().rsplit_once(" ^");
    let is_id = |id: &str| {
        !id.is_empty()
            && id.len() <= 64
            && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    match split.filter(|(_, id)| is_id(id)) {
        Some((text, id)) => (Some(id), text.trim_end()),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_follow_blanks_and_have_letters() {
        assert_eq!(
            tags("a #house/kitchen, #to-do #2026 x#y (#ok) `#no` #ä #house/kitchen"),
            ["house/kitchen", "to-do", "ok", "ä"]
        );
        assert!(tags("## heading # alone").is_empty());
    }

    #[test]
    fn links_are_those_to_notes() {
        let text = "[[A b|c]] and [[D#head]], ![[pic.png]] [x](sub/E%20f.md#z) [y](https://a/b.md) [[A b]] [[open";
        let found: Vec<_> = links(text).into_iter().map(|link| link.target).collect();
        assert_eq!(found, ["A b", "D", "pic.png", "sub/E f.md"]);
    }

    #[test]
    fn observations_and_relations_are_told_from_tasks_and_prose() {
        let seen = observation("[decision] use pnpm #tools (since May)").unwrap();
        assert_eq!(
            (seen.category, seen.text, seen.context),
            ("decision", "use pnpm #tools", Some("since May"))
        );
        for other in [
            "[ ] task",
            "[x] done",
            "[[Link]] x",
            "[a](b.md)",
            "[^1]: note",
            "plain",
            "[cat]",
            "[-] off",
        ] {
            assert_eq!(observation(other), None, "{other}");
        }
        let named = |name: &str, target: &str| Some((name.to_owned(), target.to_owned()));
        assert_eq!(relation("depends_on [[B c]]"), named("depends_on", "B c"));
        assert_eq!(
            relation("is part of [[B|b]] (why)"),
            named("is part of", "B")
        );
        assert_eq!(relation("[[B]]"), named("links_to", "B"));
        for other in [
            "see [[B]] for more",
            "a, b: [[C]]",
            "no link",
            "we all went to see [[B]]",
        ] {
            assert_eq!(relation(other), None, "{other}");
        }
    }

    #[test]
    fn names_of_blocks_are_no_text() {
        assert_eq!(block_id("text ^a1-b"), (Some("a1-b"), "text"));
        assert_eq!(block_id("2 ^ 3"), (None, "2 ^ 3"));
    }
}
