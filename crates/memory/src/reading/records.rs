//! Code, and what programs print: blocks between fences, logs, traces, diffs, markup, tables, commands.

use super::foreign::ForeignKind;
use super::line::{Line, mark as mark_lines};

/// Lines in a row that make code of what a single line would not.
const RUN_MIN: usize = 2;
/// Columns from which on a line is code, as in Markdown.
const CODE_INDENT: usize = 4;

/// Marks blocks between fences; one without an end goes to the end.
pub(super) fn mark_fences(lines: &mut [Line<'_>]) {
    let mut open: Option<(char, usize)> = None;
    for line in lines.iter_mut().filter(|line| line.is_own()) {
        let fence = fence_of(line.text);
        match (open, fence) {
            (None, None) => continue,
            (None, Some((sign, count))) => {
                // A fence that is closed in its line is a block of one line.
                let rest = &line.text[count..];
                let is_closed = rest.contains(&line.text[..count]);
                open = (!is_closed).then_some((sign, count));
            }
            (Some((sign, count)), Some((other, others))) => {
                let is_end = sign == other && others >= count && line.text.len() == others;
                open = open.filter(|_| !is_end);
            }
            (Some(_), None) => {}
        }
        line.kind = Some(ForeignKind::Code);
    }
}

fn fence_of(text: &str) -> Option<(char, usize)> {
    let sign = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = text.chars().take_while(|c| *c == sign).count();
    (count >= 3).then_some((sign, count))
}

/// Marks quoted lines, and what programs print or read.
pub(super) fn mark(lines: &mut [Line<'_>]) {
    for line in lines.iter_mut().filter(|line| line.is_own()) {
        if is_quoted(line.text) {
            line.kind = Some(ForeignKind::Quotation);
        }
    }
    mark_blocks(lines);
    mark_runs(lines);
    mark_indented(lines);
}

/// "> words": not a comparison.
fn is_quoted(text: &str) -> bool {
    let rest = text.trim_start_matches(['>', ' ']);
    text.starts_with('>') && !rest.starts_with(|c: char| c.is_ascii_digit() || c == '=' || c == '$')
}

/// Traces and diffs, from their first line to the first other line.
fn mark_blocks(lines: &mut [Line<'_>]) {
    let mut at = 0;
    while at < lines.len() {
        let is_body: fn(&Line<'_>) -> bool = if !lines[at].is_own() {
            at += 1;
            continue;
        } else if begins_trace(lines[at].text) {
            |line| !line.is_blank()
        } else if begins_diff(lines, at) {
            |line| {
                line.is_blank()
                    || line.text.starts_with(['+', '-', '@', '\\'])
                    || line.indent > 0
                    || ["diff ", "index ", "new file", "deleted file", "rename "]
                        .iter()
                        .any(|head| line.text.starts_with(head))
            }
        } else {
            at += 1;
            continue;
        };
        let start = at;
        at += 1;
        while at < lines.len() && lines[at].is_own() && is_body(&lines[at]) {
            at += 1;
        }
        mark_lines(&mut lines[start..at], ForeignKind::Code);
    }
}

fn begins_trace(text: &str) -> bool {
    const HEADS: [&str; 10] = [
        "Traceback (most recent call last)",
        "thread '",
        "Exception in thread",
        "Caused by:",
        "goroutine ",
        "npm ERR!",
        "npm error",
        "panic: ",
        "Unhandled exception",
        "Segmentation fault",
    ];
    HEADS.iter().any(|head| text.starts_with(head))
        || text.starts_with("error[E")
        || text.starts_with("error TS")
}

fn begins_diff(lines: &[Line<'_>], at: usize) -> bool {
    let next = |by: usize| lines.get(at + by).map_or("", |line| line.text);
    let text = lines[at].text;
    text.starts_with("diff --git ")
        || text.starts_with("@@ -")
        || text.starts_with("--- ") && next(1).starts_with("+++ ")
        || text.starts_with("Index: ") && next(1).starts_with("====")
}

/// Lines of records, at least two in a row; blank lines between them belong to them.
fn mark_runs(lines: &mut [Line<'_>]) {
    let mut at = 0;
    while at < lines.len() {
        if !is_record(&lines[at]) {
            at += 1;
            continue;
        }
        let (start, mut count, mut end) = (at, 0, at);
        while at < lines.len() && (is_record(&lines[at]) || lines[at].is_blank()) {
            if !lines[at].is_blank() {
                count += 1;
                end = at + 1;
            }
            at += 1;
        }
        let is_command = is_prompt(lines[start].text);
        if count >= RUN_MIN
            || is_command
            || is_markup(lines[start].text)
            || is_log(lines[start].text)
        {
            mark_lines(&mut lines[start..end], ForeignKind::Code);
        }
    }
}

fn is_record(line: &Line<'_>) -> bool {
    line.is_own()
        && !line.is_blank()
        && (is_log(line.text)
            || is_frame(line.text)
            || is_markup(line.text)
            || is_row(line.text)
            || is_prompt(line.text)
            || is_code(line.text))
}

/// A line of a log: a level, or a time and more.
fn is_log(text: &str) -> bool {
    const LEVELS: [&str; 11] = [
        "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL", "E/",
        "W/",
    ];
    let mut words = text.split_whitespace().take(4);
    let has_level = words.any(|word| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        LEVELS.contains(&bare) && (word != bare || begins_with_time(text))
    });
    has_level || begins_with_time(text)
}

/// "2026-11-28T08:10:12Z …", "[12/05/2024, 10:11] …", "Nov 28 08:10:12 …", "08:10:12.123 …".
fn begins_with_time(text: &str) -> bool {
    let head: String = text.chars().take(24).collect();
    let words: Vec<&str> = head.split_whitespace().take(3).collect();
    let is_clock = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit());
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.matches(':').count() >= 2
            && digits >= 5
            && word
                .bytes()
                .all(|b| b.is_ascii_digit() || b":.,TZ+-".contains(&b))
    };
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let is_bracketed = bracketed.is_some_and(|(inside, _)| {
        inside.contains(':') && inside.bytes().filter(u8::is_ascii_digit).count() >= 4
    });
    is_bracketed || words.iter().any(|word| is_clock(word))
}

/// A frame of a trace.
fn is_frame(text: &str) -> bool {
    text.starts_with("at ") && text.contains('(') && text.ends_with(')') && text.contains(':')
        || text.starts_with("File \"") && text.contains("line ")
        || text.starts_with("--> ")
        || text.starts_with("#0 ")
        || text.starts_with("... ") && text.ends_with(" more")
}

/// A line of markup: an element from its beginning to its end, or one of a page.
fn is_markup(text: &str) -> bool {
    const OF_PAGES: [&str; 20] = [
        "p", "div", "html", "head", "body", "li", "ul", "ol", "td", "tr", "th", "table", "span",
        "script", "style", "meta", "link", "a", "h1", "h2",
    ];
    let Some(rest) = text.strip_prefix('<') else {
        return false;
    };
    let rest = rest.trim_start_matches(['/', '!', '?']);
    let name_len = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(rest.len());
    let name = rest[..name_len].to_ascii_lowercase();
    let is_element = !name.is_empty() && text.contains('>');
    is_element && (text.ends_with('>') || OF_PAGES.contains(&name.as_str()))
}

/// A row of a table.
fn is_row(text: &str) -> bool {
    text.starts_with('|') && text.ends_with('|') && text.len() > 2
        || text.matches('\t').count() >= 2
}

/// A command behind the prompt of a shell.
fn is_prompt(text: &str) -> bool {
    [
        "$ ",
        "% ",
        "\u{276f} ",
        ">>> ",
        "C:\\>",
        "PS C:\\",
        "root@",
        "mysql> ",
        "psql> ",
    ]
    .iter()
    .any(|prompt| text.starts_with(prompt))
        && !text.starts_with("$ 0")
}

/// A line of a program: how it ends, and signs that sentences do not have together.
fn is_code(text: &str) -> bool {
    let ends = text.ends_with(['{', '}', ';', ')', ']', ',', '(', '\\'])
        || text.ends_with("=>")
        || text.ends_with("->");
    let signs = [
        "=", "()", "::", "->", "=>", "{", "}", "[\"", "\":", "==", "&&", "||", "</", ");", "(\"",
        "('",
    ];
    let has_sign = signs.iter().filter(|sign| text.contains(**sign)).count();
    const HEADS: [&str; 30] = [
        "fn ",
        "pub ",
        "def ",
        "class ",
        "import ",
        "from ",
        "const ",
        "let ",
        "var ",
        "function ",
        "#include",
        "package ",
        "public ",
        "private ",
        "return ",
        "if (",
        "for (",
        "while (",
        "use ",
        "struct ",
        "enum ",
        "impl ",
        "async ",
        "export ",
        "SELECT ",
        "INSERT ",
        "UPDATE ",
        "CREATE ",
        "//",
        "/*",
    ];
    let has_head = HEADS.iter().any(|head| text.starts_with(head));
    let is_bracket = matches!(
        text,
        "{" | "}" | "}," | "};" | "[" | "]" | "]," | ")" | ");" | "})" | "});"
    );
    let import =
        text.starts_with("import ") || text.starts_with("from ") && text.contains(" import ");
    let is_comment = text.starts_with("// ") || text.starts_with("/*");
    is_bracket
        || is_comment
        || ends && has_sign >= 1 && !text.ends_with(',')
        || has_head && has_sign >= 1
        || ends && has_sign >= 2
        || import && !text.ends_with('.') && text.split_whitespace().count() <= 6
}

/// Code by its indentation: behind a blank line or other code, and not in a list.
fn mark_indented(lines: &mut [Line<'_>]) {
    let (mut is_open, mut is_list) = (true, false);
    for line in lines {
        if line.is_blank() {
            is_open = true;
            continue;
        }
        if !line.is_own() {
            is_open = line.kind == Some(ForeignKind::Code);
            is_list = false;
            continue;
        }
        if line.indent >= CODE_INDENT && is_open && !is_list && !is_item(line.text) {
            line.kind = Some(ForeignKind::Code);
            continue;
        }
        is_open = false;
        is_list = is_item(line.text) || is_list && line.indent > 0;
    }
}

fn is_item(text: &str) -> bool {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with(['-', '*', '\u{2022}', '+'])
        || number.len() < text.len() && number.starts_with(['.', ')'])
}
