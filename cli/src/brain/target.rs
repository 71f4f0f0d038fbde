//! Which brain is meant: a name at the daemon, or the path of a file.
//!
//! A path has a slash, begins with a dot or ends in `.amem`; everything else is a name, also with dots (`acme.web`).
//! Nothing is looked up to tell them apart, so a file that appears changes nothing.

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
    "A brain: its name at the daemon, or a file (ends in .amem, or has a slash)";

/// Where files are refused.
pub(crate) const NAME_HELP: &str = "A brain of amemd, by its name (`amemctl brain ls` lists them)";

impl FromStr for BrainTarget {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_path = text.contains('/') || text.starts_with('.') || text.ends_with(".amem");
        Ok(if is_path || text.is_empty() {
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
    fn a_path_has_a_slash_begins_with_a_dot_or_ends_in_amem() {
        let of = |text: &str| text.parse::<BrainTarget>().unwrap();
        for name in [
            "work",
            "conv-26",
            "a_b",
            "7",
            "acme.web",
            "work.sync-conflict-20260301-101010-ABC",
        ] {
            assert_eq!(of(name), BrainTarget::Name(name.into()));
        }
        for path in [
            "work.amem",
            "./work",
            "/brains/work",
            "a/b",
            ".",
            ".hidden",
            "",
        ] {
            assert_eq!(of(path), BrainTarget::Path(path.into()));
        }
    }
}
