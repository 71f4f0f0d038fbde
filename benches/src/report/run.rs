//! One run: the file system, the calibration, each family of rows, the table, the verdict.

use std::path::PathBuf;
use std::process::ExitCode;

use super::calibrate::Calibration;
use super::measure::Outcome;
use super::table::{self, Findings};
use super::wakeful::Wakeful;
use super::world::World;
use super::{file_system, growth, rows};

/// Options of `report`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Options {
    /// Only rows whose names have one of these parts.
    #[arg(long, value_delimiter = ',')]
    pub(super) rows: Vec<String>,
    /// Events: 10000, 100000, 1000000 or 10000000.
    #[arg(long, default_value_t = 100_000, value_parser = size)]
    pub(super) nodes: u64,
    /// Compare 1,000,000 events with 100,000, and print the growth of the rows.
    #[arg(long)]
    pub(super) growth: bool,
    /// Print JSON: times in seconds.
    #[arg(long)]
    pub(super) json: bool,
    /// The reference's file: used if it exists, otherwise written, and not removed. Writing takes time with the square
    /// of the events: ten minutes at 1000000.
    #[arg(long)]
    pub(super) reference: Option<PathBuf>,
    /// The folder, on a disk, for all files, which are removed at the end.
    #[arg(long, default_value = ".")]
    pub(super) folder: PathBuf,
}

/// About as many bytes as an event takes in a brain's file.
const EVENT_BYTES: u64 = 960;

fn size(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(nodes @ (10_000 | 100_000 | 1_000_000 | 10_000_000)) => Ok(nodes),
        _ => Err("it is one of 10000, 100000, 1000000, 10000000".into()),
    }
}

/// Measures, prints, and returns whether every row reaches its goal.
pub(crate) fn run(options: &Options) -> Outcome<ExitCode> {
    let is_fine = if options.growth {
        growth::run(options)?
    } else {
        plain(options)?
    };
    Ok(if is_fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn plain(options: &Options) -> Outcome<bool> {
    let file_system = file_system::name(&options.folder)?;
    let (calibration, findings) = measure(options, options.nodes)?;
    let chosen = table::chosen(&options.rows);
    let is_fine = |row: &&_| super::list::Row::verdict(row, findings.of(row.name)).is_fine();
    let fine = chosen.iter().filter(|row| is_fine(row)).count();
    if options.json {
        let mut all = table::json(&chosen, &findings);
        all["nodes"] = options.nodes.into();
        all["file_system"] = file_system.into();
        all["calibration"] = calibration.json();
        println!("{all:#}");
    } else {
        println!("{} events, on {file_system}", options.nodes);
        println!("{}\n", calibration.shown());
        table::print(&chosen, &findings);
        println!("\n{fine} of {} rows are as they are to be", chosen.len());
    }
    Ok(fine == chosen.len() && findings.failures.is_empty())
}

/// Calibrates, and measures the chosen rows at a size.
pub(super) fn measure(options: &Options, nodes: u64) -> Outcome<(Calibration, Findings)> {
    file_system::name(&options.folder)?;
    let folder = tempfile::tempdir_in(&options.folder)?;
    let _awake = Wakeful::begin();
    eprintln!("calibrating");
    let calibration = Calibration::measure(folder.path(), nodes * EVENT_BYTES)?;
    let reference = options.reference.as_ref();
    // Both sizes of a growth have their own.
    let reference = reference.map(|path| path.with_extension(format!("{nodes}.amem")));
    let world = World::new(nodes, folder, calibration.clone(), reference)?;
    let mut findings = Findings::default();
    let chosen = table::chosen(&options.rows);
    for family in rows::FAMILIES {
        if !chosen.iter().any(|row| family.rows.contains(&row.name)) {
            continue;
        }
        eprintln!("measuring: {}", family.name);
        // One family that can't be measured is no reason to measure none: its rows are absent.
        if let Err(why) = (family.run)(&world, &mut findings) {
            findings.failures.push(format!("{}: {why}", family.name));
        }
    }
    Ok((calibration, findings))
}
