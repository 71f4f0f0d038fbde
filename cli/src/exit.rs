//! Exit codes: what a script may decide by. README.md of this crate has the same table.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok = 0,
    /// Done, and something was found: damage, or parts that a repair could not save.
    Findings = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// A path, an event or a moment that does not exist.
    NotFound = 3,
    /// The file is damaged, or no `.amem` file that this build reads.
    Damaged = 4,
    /// What was asked for is refused: it exists already, passes a limit, or the input is bad.
    Refused = 5,
    /// The operating system refused.
    Io = 6,
}

impl Exit {
    /// Every code, ascending.
    pub(crate) const ALL: [Self; 7] = [
        Self::Ok,
        Self::Findings,
        Self::Usage,
        Self::NotFound,
        Self::Damaged,
        Self::Refused,
        Self::Io,
    ];

    /// The number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// What it means, in one line.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::Findings => {
                "done, and something is wrong: damage was found, or could not be saved"
            }
            Self::Usage => "the command line makes no sense",
            Self::NotFound => "a path, an event or a moment that does not exist",
            Self::Damaged => "the file is damaged, or is no .amem file that this build reads",
            Self::Refused => "refused: it exists already, passes a limit, or the input is bad",
            Self::Io => "the operating system refused",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The codes, for the help.
pub(crate) fn help() -> String {
    let mut out = String::from("Exit codes:");
    for exit in Exit::ALL {
        out.push_str(&format!("\n  {}  {}", exit.code(), exit.meaning()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_table_is_this_one() {
        let readme = include_str!("../README.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |", exit.code(), exit.meaning());
            assert!(readme.contains(&row), "{row}");
        }
        let codes: Vec<u8> = Exit::ALL.map(Exit::code).into();
        assert_eq!(codes, (0..7).collect::<Vec<_>>());
    }
}
