//! The growth of rows from 100,000 events to 1,000,000: lookups stay constant, scans grow with the events.

use super::list::{self, Unit};
use super::measure::Outcome;
use super::run::{Options, measure};
use super::table::{self, Findings};

const SMALL: u64 = 100_000;
const LARGE: u64 = 1_000_000;

/// Rows with another factor of growth.
const TWICE: [&str; 11] = [
    list::TYPE_TIME,
    list::TYPE_TIME_FIELDS,
    list::FORGOTTEN,
    list::FORGOTTEN_FIELDS,
    list::TYPE_CONFIDENCE,
    list::TIME_ONLY,
    list::BY_STRENGTH,
    list::RESOLVE_SHORT,
    list::RESOLVE_LONG,
    list::CORRECT,
    list::OPEN_EMPTY,
];
const TWELVE_TIMES: [&str; 4] = [
    list::SIMILAR_UNIFORM,
    list::SIMILAR_CLUSTERED,
    list::DECAY,
    list::CHECKPOINT,
];
/// Rows with the same goal at the larger size: a factor of a limit measured there.
const THERE: [&str; 2] = [list::READ, list::READ_RECORD];

/// Measures both sizes and prints each row's growth. True if every row stays within its bound.
pub(super) fn run(options: &Options) -> Outcome<bool> {
    let (_, small) = measure(options, SMALL)?;
    let (calibration, large) = measure(options, LARGE)?;
    println!("{}\n", calibration.shown());
    let mut is_fine = true;
    for row in table::chosen(&options.rows) {
        if row.unit == Unit::Number {
            continue;
        }
        let after = large.of(row.name);
        let ours = |findings: &Findings| findings.of(row.name).and_then(|found| found.ours);
        let (Some(before), Some(now)) = (ours(&small), ours(&large)) else {
            is_fine &= bound(row.name).is_none();
            println!("{:<64} absent", row.name);
            continue;
        };
        let grown = match row.unit {
            Unit::Rate => before / now,
            Unit::Time | Unit::Number => now / before,
        };
        let verdict = match bound(row.name) {
            _ if THERE.contains(&row.name) => judged(row.verdict(after).is_fine()),
            Some(most) => judged(grown <= most),
            None => "stated",
        };
        is_fine &= verdict != "MISSED";
        let shown = |number| row.shown(number);
        let bound = bound(row.name).map_or("–".into(), |most| format!("≤ {most}×"));
        println!(
            "{:<64} {:>10} → {:>10} {grown:>7.2}× {bound:>7} {verdict}",
            row.name,
            shown(before),
            shown(now)
        );
    }
    Ok(is_fine & failures(&small) & failures(&large))
}

fn failures(findings: &Findings) -> bool {
    for failure in &findings.failures {
        println!("FAILED: {failure}");
    }
    findings.failures.is_empty()
}

fn judged(is_fine: bool) -> &'static str {
    if is_fine { "met" } else { "MISSED" }
}

/// The factor by which a row may grow with ten times the events.
fn bound(row: &str) -> Option<f64> {
    match row {
        _ if TWICE.contains(&row) => Some(2.0),
        _ if TWELVE_TIMES.contains(&row) => Some(12.0),
        _ => None,
    }
}
