//! Markdown as blocks: paragraphs, list items, quotes, code, table rows, HTML, each with its position.
//!
//! Text is plain: emphasis is dropped, a link is its text and its address, inline code keeps its backticks.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Paragraph,
    Item,
    Quote,
    Code,
    Row,
    Html,
}

impl BlockKind {
    /// `None` for a paragraph.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Paragraph => None,
            Self::Item => Some("item"),
            Self::Quote => Some("quote"),
            Self::Code => Some("code"),
            Self::Row => Some("row"),
            Self::Html => Some("html"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextBlock {
    pub(super) kind: BlockKind,
    /// Byte offset.
    pub(super) offset: usize,
    pub(super) text: String,
    /// The headings above, outermost first.
    pub(super) section: Vec<String>,
    /// The block of the enclosing list item, and the texts of all enclosing items, outermost first.
    pub(super) parent: Option<usize>,
    pub(super) under: Vec<String>,
    pub(super) language: Option<String>,
    /// Of a task list item.
    pub(super) done: Option<bool>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    /// The front matter.
    pub(super) front: String,
    pub(super) blocks: Vec<TextBlock>,
}

pub(super) fn read(text: &str) -> Document {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reading = BlockParser::default();
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => reading.start(tag, range.start),
            Event::End(tag) => reading.end(tag),
            Event::TaskListMarker(done) => {
                reading.begin(BlockKind::Item, range.start).done = Some(done)
            }
            Event::Code(code) => reading.push(&format!("`{code}`"), range.start),
            Event::SoftBreak => {
                reading.push(if reading.quotes > 0 { "\n" } else { " " }, range.start)
            }
            Event::HardBreak => reading.push("\n", range.start),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => reading.push(&text, range.start),
            Event::Rule => reading.flush(),
        }
    }
    reading.flush();
    reading.document
}

/// An open list item.
struct ListItem {
    block: Option<usize>,
    text: String,
}

/// Where text events go.
#[derive(Default, PartialEq)]
enum BlockTarget {
    #[default]
    Block,
    Heading(String),
    Front,
}

#[derive(Default)]
struct BlockParser {
    document: Document,
    into: BlockTarget,
    open: Option<TextBlock>,
    /// Level and text of the headings above.
    headings: Vec<(usize, String)>,
    items: Vec<ListItem>,
    quotes: usize,
    /// Start of the text, and address.
    links: Vec<(usize, String)>,
    header: Vec<String>,
    cells: Vec<String>,
    is_header: bool,
}

impl BlockParser {
    fn start(&mut self, tag: Tag<'_>, offset: usize) {
        match tag {
            Tag::MetadataBlock(_) => self.into = BlockTarget::Front,
            Tag::Heading { .. } => {
                self.flush();
                self.into = BlockTarget::Heading(String::new());
            }
            Tag::Paragraph => self.paragraph(offset),
            Tag::BlockQuote(_) => {
                if self.quotes == 0 {
                    self.flush();
                    self.begin(BlockKind::Quote, offset);
                }
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match kind {
                    CodeBlockKind::Fenced(name) if !name.is_empty() => Some(name.to_string()),
                    _ => None,
                };
                self.begin(BlockKind::Code, offset).language = language;
            }
            Tag::HtmlBlock => {
                self.flush();
                self.begin(BlockKind::Html, offset);
            }
            Tag::List(_) if self.quotes == 0 => self.flush(),
            Tag::Item if self.quotes == 0 => {
                self.flush();
                self.items.push(ListItem {
                    block: None,
                    text: String::new(),
                });
                self.begin(BlockKind::Item, offset);
            }
            Tag::Item => self.push("\n- ", offset),
            Tag::Table(_) => self.flush(),
            Tag::TableHead => {
                self.header.clear();
                self.is_header = true;
            }
            Tag::TableRow => self.is_header = false,
            Tag::TableCell => {
                self.begin(BlockKind::Row, offset);
                self.cells.push(String::new());
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.link(&dest_url),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::MetadataBlock(_) => self.into = BlockTarget::Block,
            TagEnd::Heading(level) => {
                if let BlockTarget::Heading(text) = std::mem::take(&mut self.into) {
                    self.headings.retain(|(above, _)| *above < level as usize);
                    self.headings.push((level as usize, text.trim().to_owned()));
                }
            }
            TagEnd::Paragraph if self.quotes == 0 && self.items.is_empty() => self.flush(),
            TagEnd::BlockQuote(_) => {
                self.quotes -= 1;
                if self.quotes == 0 {
                    self.flush();
                }
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Table => self.flush(),
            TagEnd::Item if self.quotes == 0 => {
                self.flush();
                self.items.pop();
            }
            TagEnd::TableHead => {
                self.header = std::mem::take(&mut self.cells);
                self.open = None;
            }
            TagEnd::TableRow => self.row(),
            TagEnd::Link | TagEnd::Image => self.linked(),
            _ => {}
        }
    }

    /// Separates a further paragraph of a quote or an item.
    fn paragraph(&mut self, offset: usize) {
        match &mut self.open {
            Some(open) if !open.text.is_empty() => open.text.push_str("\n\n"),
            Some(_) => {}
            None => {
                let kind = if self.items.is_empty() {
                    BlockKind::Paragraph
                } else {
                    BlockKind::Item
                };
                self.begin(kind, offset);
            }
        }
    }

    fn begin(&mut self, kind: BlockKind, offset: usize) -> &mut TextBlock {
        let under = self.items.iter().map(|item| item.text.clone());
        let section = self.headings.iter().map(|(_, text)| text.clone());
        self.open.get_or_insert_with(|| TextBlock {
            kind,
            offset,
            text: String::new(),
            section: section.collect(),
            parent: None,
            under: under.filter(|text| !text.is_empty()).collect(),
            language: None,
            done: None,
        })
    }

    fn target(&mut self, offset: usize) -> &mut String {
        if self.into == BlockTarget::Front {
            return &mut self.document.front;
        }
        if matches!(self.into, BlockTarget::Block) && self.cells.is_empty() {
            let kind = if self.items.is_empty() {
                BlockKind::Paragraph
            } else {
                BlockKind::Item
            };
            return &mut self.begin(kind, offset).text;
        }
        match (&mut self.into, self.cells.last_mut()) {
            (BlockTarget::Heading(text), _) => text,
            (_, Some(cell)) => cell,
            _ => &mut self.document.front,
        }
    }

    fn push(&mut self, text: &str, offset: usize) {
        self.target(offset).push_str(text);
    }

    fn link(&mut self, to: &CowStr<'_>) {
        let begins = self.target(0).len();
        self.links.push((begins, to.to_string()));
    }

    fn linked(&mut self) {
        let Some((begins, to)) = self.links.pop() else {
            return;
        };
        let text = self.target(0);
        let said = text.get(begins..).unwrap_or_default();
        // An address equal to its text, or a fragment, adds nothing.
        if said != to
            && !to.is_empty()
            && !to.starts_with('#')
            && to.strip_prefix("mailto:") != Some(said)
        {
            text.push_str(&format!(" ({to})"));
        }
    }

    fn row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let mut said = Vec::new();
        for (at, cell) in cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.trim().is_empty())
        {
            said.push(match self.header.get(at).map(|name| name.trim()) {
                Some(name) if !name.is_empty() => format!("{name}: {}", cell.trim()),
                _ => cell.trim().to_owned(),
            });
        }
        if let Some(open) = &mut self.open {
            open.text = said.join("; ");
        }
        self.flush();
    }

    fn flush(&mut self) {
        let Some(mut block) = self.open.take() else {
            return;
        };
        block.text = match block.kind {
            BlockKind::Code => block.text.trim_end().to_owned(),
            _ => block.text.trim().to_owned(),
        };
        if block.text.is_empty() {
            return;
        }
        let number = self.document.blocks.len();
        let outer = self.items.iter().rev().find_map(|item| item.block);
        block.parent = outer;
        if let Some(item) = self.items.last_mut()
            && item.block.is_none()
            && block.kind == BlockKind::Item
        {
            item.block = Some(number);
            item.text = block.text.lines().next().unwrap_or_default().to_owned();
        }
        self.document.blocks.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(Option<&'static str>, String, String, Option<usize>)> {
        let blocks = read(text).blocks.into_iter();
        blocks
            .map(|b| (b.kind.name(), b.section.join(" / "), b.text, b.parent))
            .collect()
    }

    fn block(
        kind: Option<&'static str>,
        section: &str,
        text: &str,
        parent: Option<usize>,
    ) -> (Option<&'static str>, String, String, Option<usize>) {
        (kind, section.to_owned(), text.to_owned(), parent)
    }

    #[test]
    fn each_block_has_the_headings_above_it() {
        let text = "intro *one*\nline\n\n# A\n\nfirst [there](http://a.b)\n\n## B\n\n> said\n> so\n>\n> twice\n\n```sh\nls\n\nps\n```\n# C\nlast `x`\n";
        let expected = [
            block(None, "", "intro one line", None),
            block(None, "A", "first there (http://a.b)", None),
            block(Some("quote"), "A / B", "said\nso\n\ntwice", None),
            block(Some("code"), "A / B", "ls\n\nps", None),
            block(None, "C", "last `x`", None),
        ];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn nested_items_know_the_item_they_are_in() {
        let text = "- tools\n  - saw\n\n    sharp\n  - [x] drill\n- food\n\n  ```\n  code\n  ```\n";
        let expected = [
            block(Some("item"), "", "tools", None),
            block(Some("item"), "", "saw\n\nsharp", Some(0)),
            block(Some("item"), "", "drill", Some(0)),
            block(Some("item"), "", "food", None),
            block(Some("code"), "", "code", Some(3)),
        ];
        assert_eq!(texts(text), expected);
        let document = read(text);
        assert_eq!(document.blocks[2].under, ["tools"]);
        assert_eq!(document.blocks[2].done, Some(true));
        assert_eq!(document.blocks[1].done, None);
    }

    #[test]
    fn rows_of_a_table_name_their_columns_and_front_matter_stands_apart() {
        let text =
            "---\ntitle: x\n---\n| who | what |\n|---|---|\n| Mira | tulips |\n| Jonas | |\n";
        assert_eq!(read(text).front, "title: x\n");
        let expected = [
            block(Some("row"), "", "who: Mira; what: tulips", None),
            block(Some("row"), "", "who: Jonas", None),
        ];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn nothing_comes_of_nothing_and_odd_documents_end() {
        for empty in [
            "",
            "\n\n",
            "# only\n## headings\n",
            "---\n",
            "- \n- \n",
            "[a]: b\n",
        ] {
            assert_eq!(read(empty).blocks, [], "{empty:?}");
        }
        let deep = "> ".repeat(2000) + "x";
        assert_eq!(read(&deep).blocks.len(), 1);
        assert!(
            !read(&"- ".repeat(2000))
                .blocks
                .iter()
                .any(|b| b.text.is_empty())
        );
    }
}
