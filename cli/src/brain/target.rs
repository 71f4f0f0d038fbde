//! Which brain is meant: a name at the daemon, or the path of a file.
//!
//! Names have neither a slash nor a dot; paths have one. Nothing is looked up to tell them apart, so a file that
//! appears changes nothing.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BrainTarget {
    Name(String),
    Path(PathBuf),
}

pub(crate) const HELP: &str =
    "A brain: its name at the daemon, or a file (with a dot or a slash in it)";

/// Where files are refused.
pub(crate) const NAME_HELP: &str = "A brain of amemd, by its name (`amemctl brain ls` lists them)";

impl FromStr for BrainTarget {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text.contains(['/', '.']) || text.is_empty() {
            Self::Path(text.into())
        } else {
            Self::Name(text.to_owned())
        })
    }
}

impl fmt::Display for BrainTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

impl BrainTarget {
    /// Whether a file of that name exists: it was probably meant.
    pub(crate) fn hides_a_file(name: &str) -> bool {
        Path::new(name).is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_neither_slash_nor_dot_and_paths_have_one() {
        let of = |text: &str| text.parse::<BrainTarget>().unwrap();
        for name in ["work", "conv-26", "a_b", "7"] {
            assert_eq!(of(name), BrainTarget::Name(name.into()));
        }
        for path in ["work.amem", "./work", "/brains/work", "a/b", ""] {
            assert_eq!(of(path), BrainTarget::Path(path.into()));
        }
    }
}
