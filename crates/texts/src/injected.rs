//! Context that clients and memory tools put into conversations: it was never said, and must not be remembered.

use std::borrow::Cow;
use std::ops::Range;

/// Elements whose whole content is injected. A user's `<private>` text is left out, too: it asks for that.
pub(crate) const ELEMENTS: [&str; 36] = [
    "amem-context",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "hook_context",
    "session_context",
    "loaded_context",
    "project_context",
    "untrusted_context",
    "system-reminder",
    "system_reminder",
    "memory",
    "memories",
    "claude-mem-context",
    "claude-mem-observation",
    "mem0-context",
    "mem0_context",
    "supermemory-context",
    "relevant_memories",
    "relevant-memories",
    "private",
    "environment_context",
    "user_instructions",
    "permissions",
    "turn_aborted",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "command-name",
    "command-message",
    "command-args",
    "user-prompt-submit-hook",
    "ide_opened_file",
    "ide_selection",
    "task-notification",
    "current_datetime",
];

/// Elements that are taken out to the end of the text if they are not closed: a client cut them off.
const OPEN_ENDED: [&str; 5] = [
    "amem-context",
    "system-reminder",
    "claude-mem-context",
    "environment_context",
    "local-command-stdout",
];
/// Bytes of the beginning of an element, with its attributes.
const TAG_BYTES_MAX: usize = 1_024;

/// The text without injected elements, and how many there were. Elements nest; an element in backticks is a word.
#[must_use]
pub fn strip_injected(text: &str) -> (Cow<'_, str>, u64) {
    let spans = injected_spans(text);
    if spans.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let (mut out, mut from) = (String::new(), 0);
    for span in &spans {
        out.push_str(text[from..span.start].trim_end_matches([' ', '\t']));
        from = span.end;
    }
    out.push_str(&text[from..]);
    (Cow::Owned(out.trim().to_owned()), spans.len() as u64)
}

/// Where injected elements stand, in order and apart from each other.
#[must_use]
pub fn injected_spans(text: &str) -> Vec<Range<usize>> {
    // Elements that are open, and those that are closed: each tag is looked at once.
    let mut open: Vec<(&'static str, usize)> = Vec::new();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(step) = text[at..].find('<') {
        let here = at + step;
        at = here + 1;
        if text[..here].ends_with('`') {
            continue;
        }
        let Some(tag) = tag_at(text, here) else {
            continue;
        };
        at = tag.end;
        match tag.form {
            TagForm::Whole => found.push(here..tag.end),
            TagForm::Opens => open.push((tag.name, here)),
            TagForm::Closes => {
                if let Some(place) = open.iter().rposition(|(name, _)| *name == tag.name) {
                    let (_, start) = open.remove(place);
                    found.push(start..tag.end);
                }
            }
        }
        // Text of nothing but beginnings is no conversation.
        if open.len() > OPEN_MAX {
            open.remove(0);
        }
    }
    let cut = open.iter().find(|(name, _)| OPEN_ENDED.contains(name));
    found.extend(cut.map(|(_, start)| *start..text.len()));
    found.sort_by_key(|span| (span.start, usize::MAX - span.end));
    let mut out: Vec<Range<usize>> = Vec::new();
    for span in found {
        match out.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => out.push(span),
        }
    }
    out
}

/// Elements that are open at once.
const OPEN_MAX: usize = 256;

enum TagForm {
    Opens,
    Closes,
    Whole,
}

struct Tag {
    name: &'static str,
    form: TagForm,
    /// Behind its `>`.
    end: usize,
}

/// The tag of an injected element that begins here.
fn tag_at(text: &str, here: usize) -> Option<Tag> {
    let rest = &text.as_bytes()[here + 1..];
    let (is_closing, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let name = ELEMENTS.into_iter().find(|name| {
        rest.get(..name.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
            && rest
                .get(name.len())
                .is_some_and(|next| b"> \n\t/".contains(next))
    })?;
    let length = rest.iter().take(TAG_BYTES_MAX).position(|b| *b == b'>')?;
    let end = here + 1 + usize::from(is_closing) + length + 1;
    let form = match (is_closing, rest[..length].ends_with(b"/")) {
        (true, _) => TagForm::Closes,
        (false, true) => TagForm::Whole,
        (false, false) => TagForm::Opens,
    };
    Some(Tag { name, form, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injected_elements_go_and_what_was_said_stays() {
        let check = |text: &str, expected: &str, count: u64| {
            let (stripped, found) = strip_injected(text);
            assert_eq!((stripped.as_ref(), found), (expected, count), "{text}");
        };
        check("plain < text > 3", "plain < text > 3", 0);
        check("a <system-reminder>x</system-reminder> b", "a b", 1);
        check(
            "<session_context>\nMy operating system is: linux\n</session_context>",
            "",
            1,
        );
        check(
            "<hook_context>&lt;memory source=\"amem\"&gt;\n[e1] x\n&lt;/memory&gt;</hook_context>\n\nhello",
            "hello",
            1,
        );
        check(
            "<memory source=\"amem\">\n- [e1] x\n</memory>\nhello",
            "hello",
            1,
        );
        check("<memory>a<memory>b</memory>c</memory>d", "d", 1);
        check("<claude-mem-context>x</claude-mem-context>", "", 1);
        check("<SYSTEM-REMINDER>x</System-Reminder>y", "y", 1);
        check("why does `<memory>` fail?", "why does `<memory>` fail?", 0);
        check("what is <memory> in XML", "what is <memory> in XML", 0);
        check(
            "<memoryless>a</memoryless>",
            "<memoryless>a</memoryless>",
            0,
        );
        check("ask <system-reminder>cut off", "ask", 1);
        check("ä<private>pw</private>ö", "äö", 1);
        check("<memory>a <memory>b</memory> c", "<memory>a c", 1);
        check("a <command-args/> b", "a b", 1);
    }

    #[test]
    fn many_elements_without_an_end_are_read_once() {
        for part in [
            "<memory>",
            "<memory ",
            "<memory></private>",
            "<private>x</memory>",
        ] {
            let text = part.repeat(100_000);
            let (stripped, _) = strip_injected(&text);
            assert!(stripped.len() <= text.len());
        }
    }
}
