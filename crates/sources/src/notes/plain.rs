//! A note as plain text: emphasis is dropped, a link is its text and its address, a row names its columns.

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, RefDefs, Tag, TagEnd};
use serde_json::{Map, Value};

use super::blocks::{BlockShape, NoteBlock, blocks, cells};
use super::reader::split_note;

/// A note as plain text.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct PlainNote {
    /// Its properties.
    pub front: Map<String, Value>,
    /// The first line of the front matter that is no property, from 1, and what is wrong with it.
    pub bad_line: Option<(u64, String)>,
    /// Its blocks, without headings.
    pub blocks: Vec<PlainBlock>,
}

/// A block of a note as plain text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PlainBlock {
    /// `None` for a paragraph.
    pub kind: Option<&'static str>,
    /// What it says.
    pub text: String,
    /// In the note, from 1.
    pub line: u64,
    /// The headings above, outermost first.
    pub section: Vec<String>,
    /// The first lines of the items around it, outermost first.
    pub under: Vec<String>,
    /// The block of the item around it, by its number.
    pub parent: Option<usize>,
    /// Of code.
    pub language: Option<String>,
    /// Of a task.
    pub is_done: Option<bool>,
}

impl PlainNote {
    /// Reads a note.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let note = split_note(text);
        let body_parser = Parser::new(note.body);
        let defs = body_parser.reference_definitions();
        let mut out = Self {
            // The line of `---` stands above.
            bad_line: note
                .front
                .bad_lines
                .first()
                .map(|(at, line)| (at + 1, line.clone())),
            front: note.front.fields,
            blocks: Vec::new(),
        };
        // The numbers of blocks that are kept.
        let mut numbers: Vec<Option<usize>> = Vec::new();
        let (mut line, mut counted) = (note.front_lines + 1, 0);
        for block in blocks(note.body) {
            let text = block_text(&block, defs);
            if block.shape == BlockShape::Heading || text.is_empty() {
                numbers.push(None);
                continue;
            }
            let between = note.body.get(counted..block.at).unwrap_or_default();
            line += between.bytes().filter(|byte| *byte == b'\n').count() as u64;
            counted = counted.max(block.at);
            numbers.push(Some(out.blocks.len()));
            let first_line = |text: &String| plain(text.lines().next().unwrap_or_default(), defs);
            out.blocks.push(PlainBlock {
                kind: match block.is_html {
                    true => Some("html"),
                    false => block.shape.name(),
                },
                text,
                line,
                section: block
                    .headings
                    .iter()
                    .map(|heading| plain(heading, defs))
                    .collect(),
                under: block.under.iter().map(first_line).collect(),
                parent: block.parent.and_then(|parent| *numbers.get(parent)?),
                language: block.language,
                is_done: block.is_done,
            });
        }
        out
    }
}

fn block_text(block: &NoteBlock, defs: &RefDefs<'_>) -> String {
    match block.shape {
        BlockShape::Code => block.text.trim_end().to_owned(),
        BlockShape::Row => {
            let cells = cells(&block.text).into_iter().enumerate();
            let said = cells
                .filter(|(_, cell)| !cell.is_empty())
                .map(|(at, cell)| {
                    let cell = plain(&cell, defs);
                    match block.columns.get(at).filter(|name| !name.is_empty()) {
                        Some(name) => format!("{}: {cell}", plain(name, defs)),
                        None => cell,
                    }
                });
            said.collect::<Vec<_>>().join("; ")
        }
        _ if block.is_html => block.text.clone(),
        // Lines of a quote are often lines of what is quoted.
        BlockShape::Quote => {
            let lines = block.text.lines().map(|line| plain(line, defs));
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => plain(&block.text, defs),
    }
}

/// The text of inline Markdown.
fn plain(raw: &str, defs: &RefDefs<'_>) -> String {
    let definition = |link: BrokenLink<'_>| {
        let known = defs.get(&link.reference)?;
        let address = CowStr::from(known.dest.to_string());
        Some((address, CowStr::from("")))
    };
    let options = Options::ENABLE_STRIKETHROUGH;
    let parser = Parser::new_with_broken_link_callback(raw, options, Some(definition));
    let mut out = String::new();
    // Where the text of a link begins, and its address.
    let mut links: Vec<(usize, String)> = Vec::new();
    for event in parser {
        match event {
            Event::Code(code) => out.push_str(&format!("`{code}`")),
            Event::SoftBreak => out.push(' '),
            Event::HardBreak => out.push('\n'),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push((out.len(), dest_url.to_string()));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                let Some((from, address)) = links.pop() else {
                    continue;
                };
                let said = &out[from..];
                // An address equal to its text, or a fragment, adds nothing.
                let is_said = said == address || address.strip_prefix("mailto:") == Some(said);
                if !is_said && !address.is_empty() && !address.starts_with('#') {
                    out.push_str(&format!(" ({address})"));
                }
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => out.push_str(&text),
            _ => {}
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_as_plain_text_has_links_columns_and_places() {
        let text = concat!(
            "---\ntitle: x\nnonsense\n---\nintro *one*\nline\n\n# A\n\n",
            "first [there](http://a.b) and [here][1], <http://c.d>\n\n> said\n> so\n\n",
            "| who | what |\n|---|---|\n| Mira | a \\| b |\n| Jonas | |\n\n- **saw**\n  - [x] drill `x`\n\n",
            "```sh\nls\n```\n<div>\nx\n</div>\n\n[1]: http://e.f\n"
        );
        let note = PlainNote::read(text);
        assert_eq!(
            note.bad_line,
            Some((
                3,
                "\"nonsense\" in the front matter is no `key: value`".to_owned()
            ))
        );
        let got: Vec<_> = note
            .blocks
            .iter()
            .map(|block| (block.kind.unwrap_or("-"), block.text.as_str(), block.line))
            .collect();
        let linked = "first there (http://a.b) and here (http://e.f), http://c.d";
        let expected = [
            ("-", "intro one line", 5),
            ("-", linked, 10),
            ("quote", "said\nso", 12),
            ("row", "who: Mira; what: a | b", 17),
            ("row", "who: Jonas", 18),
            ("item", "saw", 20),
            ("item", "drill `x`", 21),
            ("code", "ls", 23),
            ("html", "<div>\nx\n</div>", 26),
        ];
        assert_eq!(got, expected);
        let drill = &note.blocks[6];
        assert_eq!(
            (&drill.under[..], drill.parent),
            (&["saw".to_owned()][..], Some(5))
        );
        assert_eq!(
            (&drill.section[..], drill.is_done),
            (&["A".to_owned()][..], Some(true))
        );
    }

    #[test]
    fn nothing_comes_of_nothing_and_odd_notes_end() {
        for empty in [
            "",
            "\n\n",
            "# only\n## headings\n",
            "---\n",
            "- \n- \n",
            "[a]: b\n",
        ] {
            assert_eq!(PlainNote::read(empty).blocks, [], "{empty:?}");
        }
        let deep = "> ".repeat(2000) + "x";
        assert_eq!(PlainNote::read(&deep).blocks.len(), 1);
        let items = PlainNote::read(&"- ".repeat(2000)).blocks;
        assert!(!items.iter().any(|block| block.text.is_empty()));
    }
}
