//! Which of the uncertain changes survived a crash, as a line that can be read back.
//!
//! `power 57; data 51 53:0-2,5~; names 49t 49f`: power was cut after operation 57; of the uncertain writes,
//! 51 survived, of 53 the sectors 0 to 2 and 5, and (`~`) the length; of the uncertain names, what operation
//! 49 did to the name it gave (`t`) and to the one it took (`f`). `kill 57`: only the process died.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// What survived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The crash comes after this operation, counted from 1.
    pub point: usize,
    /// Only the process died: everything is there, whatever the rest says.
    pub kill: bool,
    /// Uncertain writes of which something survived, by operation, ascending.
    pub data: Vec<(usize, Survival)>,
    /// Uncertain changes of names that survived.
    pub names: BTreeSet<AtomId>,
}

/// What survived of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Survival {
    /// All of it.
    All,
    /// Some sectors, or only the length.
    Some {
        /// First and last of each run, counted from the write's first sector.
        sectors: Vec<(u32, u32)>,
        /// The file is as long as if all had survived.
        length: bool,
    },
}

/// One change of one name.
pub type AtomId = (usize, Half);

/// Which name an operation changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// The name given: of `create`, `publish`'s and `exchange`'s second.
    To,
    /// The name taken: of `remove`, `publish`'s and `exchange`'s first.
    From,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kill {
            return write!(f, "kill {}", self.point);
        }
        write!(f, "power {}", self.point)?;
        if !self.data.is_empty() {
            write!(f, "; data")?;
        }
        for (op, kept) in &self.data {
            write!(f, " {op}")?;
            if let Survival::Some { sectors, length } = kept {
                for (i, (first, last)) in sectors.iter().enumerate() {
                    write!(f, "{}{first}-{last}", if i == 0 { ":" } else { "," })?;
                }
                let nothing = if sectors.is_empty() { ":" } else { "" };
                write!(f, "{nothing}{}", if *length { "~" } else { "" })?;
            }
        }
        if !self.names.is_empty() {
            write!(f, "; names")?;
        }
        for (op, half) in &self.names {
            write!(f, " {op}{}", if *half == Half::To { "t" } else { "f" })?;
        }
        Ok(())
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut parts = line.split(';').map(str::trim);
        let (kind, point) = parts
            .next()
            .and_then(|head| head.split_once(' '))
            .ok_or_else(|| format!("not a crash: {line:?}"))?;
        let mut choice = Self {
            point: number(point)?,
            kill: kind == "kill",
            ..Self::default()
        };
        for part in parts {
            let mut words = part.split_whitespace();
            match words.next() {
                Some("data") => {
                    for word in words {
                        choice.data.push(write_of(word)?);
                    }
                }
                Some("names") => {
                    for word in words {
                        choice.names.insert(atom_of(word)?);
                    }
                }
                _ => return Err(format!("neither data nor names: {part:?}")),
            }
        }
        Ok(choice)
    }
}

fn write_of(word: &str) -> Result<(usize, Survival), String> {
    let Some((op, kept)) = word.split_once(':') else {
        return Ok((number(word)?, Survival::All));
    };
    let (kept, length) = match kept.strip_suffix('~') {
        Some(kept) => (kept, true),
        None => (kept, false),
    };
    let mut sectors = Vec::new();
    for run in kept.split(',').filter(|run| !run.is_empty()) {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        sectors.push((number(first)?, number(last)?));
    }
    Ok((number(op)?, Survival::Some { sectors, length }))
}

fn atom_of(word: &str) -> Result<AtomId, String> {
    if let Some(op) = word.strip_suffix('t') {
        Ok((number(op)?, Half::To))
    } else if let Some(op) = word.strip_suffix('f') {
        Ok((number(op)?, Half::From))
    } else {
        Err(format!("a name's change ends in t or f: {word:?}"))
    }
}

fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("not a number: {word:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_back_as_it_was_printed() {
        let rows = [
            "kill 3",
            "power 0",
            "power 57; data 51 53:0-2,5-5~ 54:~ 55:1-1; names 49t 49f 50t",
            "power 57; names 49f",
        ];
        for row in rows {
            let choice: Choice = row.parse().unwrap();
            assert_eq!(choice.to_string(), row);
        }
        for row in [
            "",
            "power",
            "power x",
            "power 1; what 2",
            "power 1; names 2",
        ] {
            assert!(row.parse::<Choice>().is_err(), "{row:?}");
        }
    }
}
