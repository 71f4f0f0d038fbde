//! The blocks of a text in Markdown, with the headings above them.
//!
//! A list item is a block of its own, without the items below it, which name it; a heading, a paragraph, a quote, a
//! piece of code and a row of a table are one block each.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockShape {
    Heading,
    Paragraph,
    Item,
    Quote,
    Code,
    Row,
}

impl BlockShape {
    /// None for a paragraph.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Paragraph => None,
            Self::Heading => Some("heading"),
            Self::Item => Some("item"),
            Self::Quote => Some("quote"),
            Self::Code => Some("code"),
            Self::Row => Some("row"),
        }
    }
}

/// A block.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NoteBlock {
    pub(super) shape: BlockShape,
    /// As it is written, without the marks of the block.
    pub(super) text: String,
    /// Outermost first.
    pub(super) headings: Vec<String>,
    /// The text of the items around it, outermost first.
    pub(super) under: Vec<String>,
    /// The block of the item around it, by its number.
    pub(super) parent: Option<usize>,
    /// Of code.
    pub(super) language: Option<String>,
    /// Of a task.
    pub(super) is_done: Option<bool>,
    /// Byte offset in the text.
    pub(super) at: usize,
    /// The names of the columns of a row.
    pub(super) columns: Vec<String>,
    pub(super) is_html: bool,
}

struct Walk<'t> {
    text: &'t str,
    blocks: Vec<NoteBlock>,
    headings: Vec<(HeadingLevel, String)>,
    /// For each open item, its block, once it has one.
    items: Vec<Option<usize>>,
    quotes: usize,
    /// Where the open leaf begins.
    leaf: Option<usize>,
    task: Option<bool>,
    /// Of the open table.
    columns: Vec<String>,
}

/// Blocks in the order of the text.
pub(super) fn blocks(text: &str) -> Vec<NoteBlock> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    let mut walk = Walk {
        text,
        blocks: Vec::new(),
        headings: Vec::new(),
        items: Vec::new(),
        quotes: 0,
        leaf: None,
        task: None,
        columns: Vec::new(),
    };
    for (event, span) in Parser::new_ext(text, options).into_offset_iter() {
        walk.step(event, span);
    }
    walk.blocks
}

impl Walk<'_> {
    fn step(&mut self, event: Event<'_>, span: std::ops::Range<usize>) {
        match event {
            Event::Start(Tag::Heading { .. }) => self.flush(span.start),
            Event::End(TagEnd::Heading(level)) => {
                let title = heading_text(&self.text[span.clone()]);
                self.headings.retain(|(above, _)| *above < level);
                self.leaf = None;
                self.push(BlockShape::Heading, title.clone(), span.start, None);
                self.headings.push((level, title));
            }
            Event::Start(Tag::BlockQuote(_)) => {
                self.flush(span.start);
                self.quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                self.flush(span.end);
                self.quotes = self.quotes.saturating_sub(1);
            }
            Event::Start(Tag::Item) => {
                self.flush(span.start);
                self.items.push(None);
                self.task = None;
            }
            Event::End(TagEnd::Item) => {
                self.flush(span.end);
                self.items.pop();
            }
            Event::TaskListMarker(is_done) => {
                self.task = Some(is_done);
                self.leaf = Some(span.end);
            }
            Event::Start(Tag::List(_)) => self.flush(span.start),
            Event::Start(Tag::Paragraph) => {
                self.flush(span.start);
                self.leaf = Some(span.start);
            }
            Event::End(TagEnd::Paragraph) => self.flush(span.end),
            Event::Start(Tag::CodeBlock(kind)) => {
                self.flush(span.start);
                let language = match kind {
                    CodeBlockKind::Fenced(name) if !name.is_empty() => Some(name.to_string()),
                    _ => None,
                };
                let code = code_text(&self.text[span.clone()]);
                self.push(BlockShape::Code, code, span.start, language);
            }
            Event::Start(Tag::TableRow | Tag::TableHead) => {
                self.flush(span.start);
                let row = self.text[span.clone()].trim().trim_matches('|').trim();
                if matches!(event, Event::Start(Tag::TableHead)) {
                    self.columns = cells(row);
                } else if self.push(BlockShape::Row, row.to_owned(), span.start, None)
                    && let Some(row) = self.blocks.last_mut()
                {
                    row.columns.clone_from(&self.columns);
                }
            }
            Event::End(
                TagEnd::TableHead | TagEnd::TableRow | TagEnd::Table | TagEnd::CodeBlock,
            ) => {
                self.leaf = None;
            }
            Event::Start(Tag::Table(_)) | Event::Rule => self.flush(span.start),
            Event::Start(Tag::HtmlBlock) => {
                self.flush(span.start);
                let html = self.text[span.clone()].trim();
                if !html.starts_with("<!--")
                    && self.push(BlockShape::Paragraph, html.to_owned(), span.start, None)
                    && let Some(html) = self.blocks.last_mut()
                {
                    html.is_html = true;
                }
            }
            // Text of a tight item, which has no paragraph.
            Event::Text(_) | Event::Code(_) | Event::Start(_) | Event::InlineHtml(_)
                if !self.items.is_empty() && self.leaf.is_none() && !self.is_closed(span.start) =>
            {
                self.leaf = Some(span.start);
            }
            _ => {}
        }
    }

    /// True if a block that has its text already covers the place.
    fn is_closed(&self, at: usize) -> bool {
        self.blocks
            .last()
            .is_some_and(|last| at < last.at + last.text.len())
    }

    /// Ends the open leaf.
    fn flush(&mut self, end: usize) {
        let Some(from) = self.leaf.take() else { return };
        let raw = self.text.get(from..end.max(from)).unwrap_or_default();
        let shape = match (self.items.is_empty(), self.quotes > 0) {
            (false, _) => BlockShape::Item,
            (true, true) => BlockShape::Quote,
            (true, false) => BlockShape::Paragraph,
        };
        let lines = raw.lines().map(|line| match shape {
            BlockShape::Paragraph => line.trim(),
            _ => line.trim().trim_start_matches('>').trim(),
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let at = from + (raw.len() - raw.trim_start().len());
        self.push(shape, text.trim().to_owned(), at, None);
    }

    /// False if the text is empty, and there is no block.
    fn push(
        &mut self,
        shape: BlockShape,
        text: String,
        at: usize,
        language: Option<String>,
    ) -> bool {
        let is_done = self.task.take();
        if text.trim().is_empty() {
            return false;
        }
        let around = match (self.items.last(), shape) {
            // The first block of an item is the item itself.
            (Some(None), _) => &self.items[..self.items.len() - 1],
            _ => &self.items[..],
        };
        let around: Vec<usize> = around.iter().flatten().copied().collect();
        let under = around.iter().filter_map(|block| self.blocks.get(*block));
        let under = under.map(|block| block.text.clone()).collect();
        let number = self.blocks.len();
        self.blocks.push(NoteBlock {
            shape,
            text,
            headings: self
                .headings
                .iter()
                .map(|(_, title)| title.clone())
                .collect(),
            under,
            parent: around.last().copied(),
            language,
            is_done,
            at,
            columns: Vec::new(),
            is_html: false,
        });
        if let Some(item) = self.items.last_mut() {
            item.get_or_insert(number);
        }
        true
    }
}

/// The cells of a row, without the bars around them.
pub(super) fn cells(row: &str) -> Vec<String> {
    let (mut out, mut cell, mut is_escaped) = (Vec::new(), String::new(), false);
    for c in row.chars() {
        match c {
            '|' if !is_escaped => out.push(std::mem::take(&mut cell).trim().to_owned()),
            '|' => {
                cell.pop();
                cell.push('|');
            }
            c => cell.push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    out.push(cell.trim().to_owned());
    out
}

/// Without `#` marks, or the line below.
fn heading_text(raw: &str) -> String {
    let raw = raw.trim();
    let text = match raw.strip_prefix('#') {
        Some(_) => raw.trim_start_matches('#').trim().trim_end_matches('#'),
        None => raw.rsplit_once('\n').map_or(raw, |(text, _)| text),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Without the fences.
fn code_text(raw: &str) -> String {
    let raw = raw.trim_end();
    let fence = raw.trim_start();
    if !fence.starts_with("```") && !fence.starts_with("~~~") {
        return raw.to_owned();
    }
    let mark = &fence[..3];
    let body = fence.split_once('\n').map_or("", |(_, body)| body);
    let body = match body.trim_end().rsplit_once('\n') {
        Some((body, last)) if last.trim().starts_with(mark) => body,
        None if body.trim().starts_with(mark) => "",
        _ => body,
    };
    body.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        blocks(text).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn every_block_has_its_headings_and_the_items_above_it() {
        let text = concat!(
            "intro\nmore\n\n# A\n- one\n  - two\n    - three\n- four\n\n  para\n\n## B #\n> said\n> again\n\nC\n===\n",
            "1. *x* y\n2. [ ] todo\n3. [x] ready\n",
        );
        let all = blocks(text);
        let got: Vec<_> = all
            .iter()
            .map(|b| (b.text.as_str(), b.headings.join("/"), b.under.join("/")))
            .collect();
        let row = |text, headings: &str, under: &str| (text, headings.to_owned(), under.to_owned());
        assert_eq!(
            got,
            [
                row("intro\nmore", "", ""),
                row("A", "", ""),
                row("one", "A", ""),
                row("two", "A", "one"),
                row("three", "A", "one/two"),
                row("four", "A", ""),
                row("para", "A", "four"),
                row("B", "A", ""),
                row("said\nagain", "A/B", ""),
                row("C", "", ""),
                row("*x* y", "C", ""),
                row("todo", "C", ""),
                row("ready", "C", ""),
            ]
        );
        assert_eq!((all[4].parent, all[6].parent), (Some(3), Some(5)));
        assert_eq!(all[11].is_done, Some(false));
        assert_eq!(all[12].is_done, Some(true));
        assert_eq!(&text[all[4].at..all[4].at + 5], "three");
    }

    #[test]
    fn code_and_tables_are_blocks() {
        let text = "```rust\nlet a = 1;\n\n- no item\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n<!-- gone -->\n\nend";
        assert_eq!(
            texts(text),
            ["let a = 1;\n\n- no item", "1 | 2", "3 | 4", "end"]
        );
        assert_eq!(blocks(text)[0].language.as_deref(), Some("rust"));
    }
}
