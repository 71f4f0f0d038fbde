//! The results compared with the goals, as a table for people or as JSON.

use serde_json::{Value, json};

use super::list::{Goal, ROWS, Row, Unit};

/// A peer is ahead if it is better by this factor; a smaller one is noise.
const NOISE: f64 = 1.05;

/// The measurements of a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Measurement {
    pub(super) row: &'static str,
    /// None if only peers can do it.
    pub(super) ours: Option<f64>,
    pub(super) reference: Option<f64>,
    /// What no program can go below here, of which the goal is a factor.
    pub(super) limit: Option<f64>,
    pub(super) peers: Vec<(&'static str, f64)>,
    /// Seconds by which syncs here are slower than where the goals were set, for each thing that is counted.
    pub(super) slack: f64,
    /// What a reader has to know.
    pub(super) note: String,
}

/// Everything that was measured, and what went wrong.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) found: Vec<Measurement>,
    pub(super) failures: Vec<String>,
}

/// What became of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    Met,
    /// Nothing is asked of it.
    Stated,
    Missed(String),
    Absent,
}

impl Findings {
    pub(super) fn add(&mut self, found: Measurement) {
        self.found.push(found);
    }

    pub(super) fn of(&self, row: &str) -> Option<&Measurement> {
        self.found.iter().find(|found| found.row == row)
    }
}

impl Row {
    fn is_better(&self, one: f64, other: f64) -> bool {
        match self.unit {
            Unit::Rate => one > other,
            Unit::Time | Unit::Number => one < other,
        }
    }

    /// How many times as good as another number.
    fn times(&self, ours: f64, other: f64) -> f64 {
        match self.unit {
            Unit::Rate => ours / other,
            Unit::Time | Unit::Number => other / ours,
        }
    }

    /// Why a goal is missed; none if it is met.
    fn missed(&self, goal: Goal, ours: f64, found: &Measurement) -> Option<String> {
        match goal {
            // Measuring a row fails where the answer is wrong.
            Goal::Right => None,
            Goal::AtMost(most) => {
                let most = most + found.slack;
                (ours > most).then(|| format!("above {}", self.shown(most)))
            }
            Goal::AtLeast(least) => {
                let least = 1.0 / (1.0 / least + found.slack);
                (ours < least).then(|| format!("below {}", self.shown(least)))
            }
            Goal::Reference(times) => match found.reference {
                None => Some("no reference".into()),
                Some(reference) => {
                    let reached = self.times(ours, reference);
                    (reached < times).then(|| format!("{reached:.1}× of {times}×"))
                }
            },
            Goal::Limit(factor) => match found.limit {
                None => Some("no limit".into()),
                Some(limit) => {
                    let reached = ours / limit;
                    (self.is_better(factor, reached)).then(|| format!("{reached:.2} of {factor}"))
                }
            },
        }
    }

    pub(super) fn verdict(&self, found: Option<&Measurement>) -> Verdict {
        let Some((found, ours)) = found.and_then(|found| Some((found, found.ours?))) else {
            return Verdict::Absent;
        };
        let goals = self.goals.iter();
        let missed = |&goal: &Goal| self.missed(goal, ours, found);
        let mut why: Vec<String> = goals.filter_map(missed).collect();
        for &(peer, theirs) in &found.peers {
            if self.is_better(theirs, ours) && self.times(theirs, ours) > NOISE {
                why.push(format!("behind {peer}"));
            }
        }
        match (why.is_empty(), self.goals.is_empty()) {
            (false, _) => Verdict::Missed(why.join(", ")),
            (true, true) => Verdict::Stated,
            (true, false) => Verdict::Met,
        }
    }

    fn goal(&self) -> String {
        let shown = self.goals.iter().map(|goal| match (goal, self.unit) {
            (Goal::Right, _) => "right".into(),
            (Goal::AtMost(most), _) => format!("≤ {}", self.shown(*most)),
            (Goal::AtLeast(least), _) => format!("≥ {}", self.shown(*least)),
            (Goal::Reference(times), _) => format!("≥ {times}×"),
            (Goal::Limit(factor), Unit::Rate) => format!("≥ {factor} limit"),
            (Goal::Limit(factor), _) => format!("≤ {factor} limit"),
        });
        shown.collect::<Vec<_>>().join(" · ")
    }

    pub(super) fn shown(&self, number: f64) -> String {
        match self.unit {
            Unit::Rate => format!("{number:.0}/s"),
            Unit::Number => format!("{}", (number * 100.0).round() / 100.0),
            Unit::Time => duration(number),
        }
    }
}

impl Verdict {
    /// True unless the row is absent or missed.
    pub(super) fn is_fine(&self) -> bool {
        matches!(self, Self::Met | Self::Stated)
    }

    fn shown(&self) -> String {
        match self {
            Self::Met => "met".into(),
            Self::Stated => "stated".into(),
            Self::Absent => "ABSENT".into(),
            Self::Missed(why) => format!("MISSED: {why}"),
        }
    }
}

/// Seconds for people.
pub(super) fn duration(seconds: f64) -> String {
    let (scale, unit) = match seconds {
        s if s < 1e-6 => (1e9, "ns"),
        s if s < 1e-3 => (1e6, "µs"),
        s if s < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    let scaled = seconds * scale;
    let digits = if scaled < 10.0 {
        2
    } else {
        usize::from(scaled < 100.0)
    };
    format!("{scaled:.digits$} {unit}")
}

/// The rows whose names have one of these parts; all if there is none.
pub(super) fn chosen(parts: &[String]) -> Vec<&'static Row> {
    let is_chosen =
        |row: &&Row| parts.is_empty() || parts.iter().any(|part| row.name.contains(part.as_str()));
    ROWS.iter().filter(is_chosen).collect()
}

/// The table for people.
pub(super) fn print(rows: &[&Row], findings: &Findings) {
    let header = [
        "row",
        "ours",
        "reference",
        "ratio",
        "limit",
        "÷ limit",
        "goal",
        "verdict",
        "peers",
    ];
    let mut lines = vec![header.map(String::from)];
    for row in rows {
        let found = findings.of(row.name);
        let some = |number: Option<f64>| number.map_or("–".into(), |n| row.shown(n));
        let reference = found.and_then(|f| f.reference);
        let limit = found.and_then(|f| f.limit);
        let ours = found.and_then(|f| f.ours);
        let ratio = ours
            .zip(reference)
            .map(|(o, r)| format!("{:.1}×", row.times(o, r)));
        let share = ours.zip(limit).map(|(o, l)| format!("{:.2}", o / l));
        let peers = found.map_or(&[][..], |f| &f.peers).iter();
        let peers: Vec<_> = peers
            .map(|(name, n)| format!("{name} {}", row.shown(*n)))
            .collect();
        lines.push([
            row.name.into(),
            some(ours),
            some(reference),
            ratio.unwrap_or("–".into()),
            some(limit),
            share.unwrap_or("–".into()),
            row.goal(),
            row.verdict(found).shown(),
            peers.join(", "),
        ]);
    }
    let width = |column: usize| {
        lines
            .iter()
            .map(|l| l[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    for line in &lines {
        let cells = line
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:<width$}"));
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    let noted = |found: &&Measurement| {
        !found.note.is_empty() && rows.iter().any(|row| row.name == found.row)
    };
    for found in findings.found.iter().filter(noted) {
        println!("  {}: {}", found.row, found.note);
    }
    for failure in &findings.failures {
        println!("FAILED: {failure}");
    }
}

/// The same for programs: times in seconds, rates in one second.
pub(super) fn json(rows: &[&Row], findings: &Findings) -> Value {
    let rows = rows.iter().map(|row| {
        let found = findings.of(row.name);
        let verdict = row.verdict(found);
        let peers = found.map_or(&[][..], |f| &f.peers).iter();
        json!({
            "row": row.name,
            "ours": found.and_then(|f| f.ours),
            "reference": found.and_then(|f| f.reference),
            "limit": found.and_then(|f| f.limit),
            "peers": peers.map(|(name, n)| ((*name).to_owned(), json!(n))).collect::<serde_json::Map<_, _>>(),
            "goal": row.goal(),
            "verdict": verdict.shown(),
            "is_fine": verdict.is_fine(),
            "note": found.map(|f| f.note.as_str()),
        })
    });
    json!({"rows": rows.collect::<Vec<_>>(), "failures": findings.failures})
}
