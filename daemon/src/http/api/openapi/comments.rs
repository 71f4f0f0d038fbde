//! The comments of the `.proto` files, by the names of what they describe.

use std::collections::HashMap;

use amem_proto::v1;
use prost::Message;
use prost_types::FileDescriptorSet;

/// The comments before messages, fields, enums, values, services and methods.
#[derive(Debug)]
pub(super) struct Comments(HashMap<(String, Vec<i32>), String>);

impl Comments {
    /// Those that the build compiled in.
    pub(super) fn read() -> Self {
        let files = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap_or_default();
        let mut comments = HashMap::new();
        for file in files.file {
            let name = file.name().to_owned();
            for location in file.source_code_info.unwrap_or_default().location {
                let comment = joined(location.leading_comments());
                if !comment.is_empty() {
                    comments.insert((name.clone(), location.path), comment);
                }
            }
        }
        Self(comments)
    }

    /// The comment of what is at a path of a file; empty if it has none.
    pub(super) fn of(&self, file: &str, path: &[i32]) -> &str {
        let found = self.0.get(&(file.to_owned(), path.to_vec()));
        found.map_or("", String::as_str)
    }
}

/// A comment with one line for each of its paragraphs.
fn joined(comment: &str) -> String {
    let mut out = String::new();
    for line in comment.lines().map(str::trim) {
        match line {
            "" => out.push('\n'),
            line => {
                if !out.is_empty() && !out.ends_with('\n') {
                    out.push(' ');
                }
                out.push_str(line);
            }
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        assert_eq!(joined(" One\n two.\n\n Three.\n"), "One two.\nThree.");
        assert_eq!(joined(""), "");
    }
}
