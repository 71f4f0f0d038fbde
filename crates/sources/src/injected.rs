//! Context that clients and memory tools put into conversations: it was never said, and must not be remembered.

use std::borrow::Cow;

/// Elements whose whole content is injected. A user's `<private>` text is left out, too: it asks for that.
const ELEMENTS: [&str; 32] = [
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
const OPEN_ENDED: [&str; 4] = [
    "system-reminder",
    "claude-mem-context",
    "environment_context",
    "local-command-stdout",
];

/// The text without injected elements, and how many there were. Elements nest; an element in backticks is a word.
#[must_use]
pub fn strip_injected(text: &str) -> (Cow<'_, str>, u64) {
    let (mut out, mut count) = (String::new(), 0);
    let (mut from, mut at) = (0, 0);
    while let Some(found) = text[at..].find('<') {
        let open = at + found;
        at = open + 1;
        if text[..open].ends_with('`') {
            continue;
        }
        let Some(name) = element_at(text, open) else {
            continue;
        };
        let Some(end) = end_of(text, open, name) else {
            continue;
        };
        out.push_str(text[from..open].trim_end_matches([' ', '\t']));
        (from, at) = (end, end);
        count += 1;
    }
    if count == 0 {
        return (Cow::Borrowed(text), 0);
    }
    out.push_str(&text[from..]);
    (Cow::Owned(out.trim().to_owned()), count)
}

/// The name of the injected element that opens here.
fn element_at(text: &str, open: usize) -> Option<&'static str> {
    ELEMENTS.into_iter().find(|name| opens(&text[open..], name))
}

fn opens(text: &str, name: &str) -> bool {
    let rest = text
        .strip_prefix('<')
        .and_then(|rest| rest.get(..name.len()).map(|head| (head, rest)));
    rest.is_some_and(|(head, rest)| {
        head.eq_ignore_ascii_case(name) && rest[name.len()..].starts_with(['>', ' ', '\n', '\t'])
    })
}

/// Behind the end of the element; none if it is not closed and may be a word of the user.
fn end_of(text: &str, open: usize, name: &str) -> Option<usize> {
    let head = open + text[open..].find('>')? + 1;
    if text[..head].ends_with("/>") {
        return Some(head);
    }
    let (mut depth, mut at) = (1_usize, head);
    while let Some(found) = text[at..].find('<') {
        let here = at + found;
        let rest = &text[here..];
        at = here + 1;
        if opens(rest, name) {
            depth += 1;
        } else if let Some(closing) = rest.strip_prefix("</")
            && closing
                .get(..name.len())
                .is_some_and(|n| n.eq_ignore_ascii_case(name))
            && let Some(end) = closing[name.len()..].find('>')
        {
            depth -= 1;
            if depth == 0 {
                return Some(here + 2 + name.len() + end + 1);
            }
        }
    }
    OPEN_ENDED.contains(&name).then_some(text.len())
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
    }
}
