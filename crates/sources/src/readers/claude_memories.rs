//! Memories of Claude Code: one file each, with front matter (`name`, `description`, `metadata.type`).
//!
//! `MEMORY.md` is their index: its links are left out, its other lines are notes.

use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::item::{ItemType, SkipReason, SourceItem};
use crate::notes::{is_link_only, split_note};
use crate::output::ItemOutput;

pub(super) fn read_memories(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let Some(text) = crate::notes::read_text(tree, file, out)? else {
            continue;
        };
        out.counts.files += 1;
        if file.name().eq_ignore_ascii_case("MEMORY.md") {
            read_index(tree, file, &text, out)?;
        } else {
            read_memory(tree, file, &text, out)?;
        }
    }
    Ok(())
}

fn read_memory(
    tree: &FileTree,
    file: &TreeFile,
    text: &str,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let note = split_note(text);
    for (line, why) in &note.front.bad_lines {
        out.skip(
            tree.place(file, line + 1),
            SkipReason::Malformed,
            why.clone(),
        )?;
    }
    let description = note.front.text("description").unwrap_or_default();
    let body = note.body.trim();
    let said = match (description, body) {
        (description, "") => description.to_owned(),
        ("", body) => body.to_owned(),
        (description, body) => format!("{description}\n\n{body}"),
    };
    let place = tree.place(file, 1);
    let mut time = None;
    for name in [
        "created",
        "date",
        "modified",
        "metadata.created",
        "metadata.modified",
    ] {
        if time.is_none()
            && let Some(value) = note.front.value(name)
        {
            time = out.time(Some(value), &place)?;
        }
    }
    let mut item = SourceItem::new(
        out.id(out.document(tree, file), ""),
        ItemType::Memory,
        said,
        place,
    );
    let stem = file.name().trim_end_matches(".md");
    item.title = Some(note.front.text("name").unwrap_or(stem).to_owned());
    item.time = time;
    item.set(
        "type",
        note.front.text("metadata.type").or(note.front.text("type")),
    );
    item.set(
        "project_folder",
        project_folder(&file.path)
            .map(str::to_owned)
            .or_else(|| above(tree)),
    );
    out.emit(item)
}

fn read_index(
    tree: &FileTree,
    file: &TreeFile,
    text: &str,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let mut headings: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let place = tree.place(file, at as u64 + 1);
        let said = line.trim().trim_start_matches(['-', '*', '+']).trim();
        if let Some(heading) = said.strip_prefix('#') {
            headings = vec![heading.trim_start_matches('#').trim().to_owned()];
        } else if is_link_only(said) {
            out.skip(place, SkipReason::Repeated, "an entry of the index")?;
        } else if !said.is_empty() && said != "---" {
            let part = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(said.as_bytes()));
            let mut item = SourceItem::new(
                out.id(out.document(tree, file), part),
                ItemType::Memory,
                said,
                place,
            );
            item.title = Some("MEMORY".to_owned());
            item.headings.clone_from(&headings);
            item.set(
                "project_folder",
                project_folder(&file.path)
                    .map(str::to_owned)
                    .or_else(|| above(tree)),
            );
            out.emit(item)?;
        }
    }
    Ok(())
}

/// The folder of `projects` above `memory`: the project's path, with `-` for what is no letter.
fn project_folder(path: &str) -> Option<&str> {
    let mut parts = path.rsplit('/').skip(1);
    (parts.next()? == "memory").then(|| parts.next()).flatten()
}

/// The same, if the tree itself begins within it.
fn above(tree: &FileTree) -> Option<String> {
    let memory = tree
        .path()
        .ancestors()
        .find(|path| path.ends_with("memory"))?;
    Some(memory.parent()?.file_name()?.to_str()?.to_owned())
}
