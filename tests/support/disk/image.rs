//! A folder's names and files at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::Content;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The file with this inode number.
    File(u64),
    /// A folder.
    Folder,
}

/// The names in a folder and those below it, and what the files hold.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Paths relative to the root, which has no name itself.
    pub names: BTreeMap<Arc<str>, Entry>,
    /// By inode number.
    pub files: BTreeMap<u64, Content>,
}

impl Image {
    /// The file under a name.
    pub fn file(&self, name: &str) -> Option<&Content> {
        match self.names.get(name)? {
            Entry::File(inode) => self.files.get(inode),
            Entry::Folder => None,
        }
    }

    /// True if there is such a folder; `""` is the root.
    pub fn has_folder(&self, folder: &str) -> bool {
        folder.is_empty() || self.names.get(folder) == Some(&Entry::Folder)
    }

    /// A number that equal folders share.
    pub fn digest(&self) -> u128 {
        let mut hash = Xxh3::new();
        for (name, entry) in &self.names {
            hash.update(name.as_bytes());
            let inode = match entry {
                Entry::File(inode) => *inode,
                Entry::Folder => u64::MAX,
            };
            hash.update(&[0]);
            hash.update(&inode.to_le_bytes());
        }
        for (inode, content) in &self.files {
            hash.update(&inode.to_le_bytes());
            hash.update(&content.digest().to_le_bytes());
        }
        hash.digest128()
    }
}

/// The folder that a name is in; `""` is the root.
pub fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}
