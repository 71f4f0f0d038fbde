//! Which brain a command is about: one of a daemon, by its name, or a file, by its path.
//!
//! A brain's name has neither a slash nor a dot, and a path of ours has one: nothing has to be looked up to tell them
//! apart, and a file that appears beside a command changes nothing.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A brain as it is named on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A daemon's, by name.
    Name(String),
    /// A file.
    Path(PathBuf),
}

/// What is said of the argument everywhere.
pub(crate) const HELP: &str =
    "A brain: its name at the daemon, or a file (with a dot or a slash in it)";

/// What is said of it where only amemd can do what is asked.
pub(crate) const NAME_HELP: &str = "A brain of amemd, by its name (`amemctl brain ls` lists them)";

impl FromStr for Target {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.contains(['/', '.']) || text.is_empty() {
            true => Self::Path(text.into()),
            false => Self::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

impl Target {
    /// True if a file stands where a name would be taken for it: most likely it was meant.
    pub(crate) fn hides_a_file(name: &str) -> bool {
        Path::new(name).is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_neither_slash_nor_dot_and_paths_have_one() {
        let of = |text: &str| text.parse::<Target>().unwrap();
        for name in ["work", "conv-26", "a_b", "7"] {
            assert_eq!(of(name), Target::Name(name.into()));
        }
        for path in ["work.amem", "./work", "/brains/work", "a/b", ""] {
            assert_eq!(of(path), Target::Path(path.into()));
        }
    }
}
