//! The results by row, each beside the echo with as many calls in flight.

use std::error::Error;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Values above a minute count as one.
const NANOS_MAX: u64 = 60_000_000_000;

/// Nanoseconds to three significant digits.
pub(super) fn histogram() -> Result<Histogram<u64>, Box<dyn Error>> {
    Ok(Histogram::new_with_bounds(1, NANOS_MAX, 3)?)
}

/// All rounds of a row.
#[derive(Default)]
pub(super) struct Row {
    times: Option<Histogram<u64>>,
    took: Duration,
}

impl Row {
    /// Adds a round.
    pub(super) fn add(
        &mut self,
        (times, took): (Histogram<u64>, Duration),
    ) -> Result<(), Box<dyn Error>> {
        self.took += took;
        match &mut self.times {
            Some(all) => all.add(times)?,
            None => self.times = Some(times),
        }
        Ok(())
    }

    fn micros(&self, quantile: f64) -> f64 {
        let times = self.times.as_ref();
        times.map_or(0.0, |t| t.value_at_quantile(quantile) as f64 / 1e3)
    }

    fn rate(&self) -> f64 {
        let calls = self.times.as_ref().map_or(0, Histogram::len);
        calls as f64 / self.took.as_secs_f64()
    }
}

/// Prints the rows; each is compared with the first row with as many calls in flight.
pub(super) fn print(names: &[(&str, usize)], rows: &[Row]) {
    println!(
        "{:<32}{:>10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>8}{:>8}",
        "µs", "in flight", "p50", "p90", "p99", "p99.9", "max", "calls/s", "p50 ÷", "rate ÷"
    );
    for ((name, in_flight), row) in names.iter().zip(rows) {
        let [p50, p90, p99, p999, max] = [0.5, 0.9, 0.99, 0.999, 1.0].map(|q| row.micros(q));
        let first = names.iter().position(|(_, n)| n == in_flight);
        let echo = &rows[first.unwrap_or_default()];
        println!(
            "{name:<32}{in_flight:>10}{p50:>9.1}{p90:>9.1}{p99:>9.1}{p999:>9.1}{max:>9.0}{:>10.0}{:>8.2}{:>8.2}",
            row.rate(),
            p50 / echo.micros(0.5),
            row.rate() / echo.rate()
        );
    }
}
