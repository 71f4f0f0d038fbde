//! Exit codes, for scripts. README.md of this crate has the same table.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    Findings = 1,
    Usage = 2,
    NotFound = 3,
    Damaged = 4,
    Refused = 5,
    Io = 6,
    Unavailable = 7,
}

impl Exit {
    /// Every code, ascending.
    pub(crate) const ALL: [Self; 8] = [
        Self::Ok,
        Self::Findings,
        Self::Usage,
        Self::NotFound,
        Self::Damaged,
        Self::Refused,
        Self::Io,
        Self::Unavailable,
    ];

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// One line for the help and README.md.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::Findings => "done, and something is wrong: damage was found, or data was lost",
            Self::Usage => "the command line is invalid",
            Self::NotFound => "a path, an event or a moment does not exist",
            Self::Damaged => "the file is damaged, or is not an .amem file that this build reads",
            Self::Refused => "refused: it exists already, exceeds a limit, or the input is invalid",
            Self::Io => "the operating system refused",
            Self::Unavailable => "no daemon answers, or it cannot do this now: try again",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

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
        assert_eq!(codes, (0..8).collect::<Vec<_>>());
    }
}
