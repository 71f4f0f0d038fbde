//! Durations for people.

pub(crate) fn micros(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{micros} µs"),
        10_000..10_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

/// The two largest units.
pub(crate) fn span(secs: f64) -> String {
    let secs = secs as u64;
    match secs {
        0..60 => format!("{secs} s"),
        60..3_600 => format!("{} min {} s", secs / 60, secs % 60),
        3_600..86_400 => format!("{} h {} min", secs / 3_600, secs / 60 % 60),
        _ => format!("{} d {} h", secs / 86_400, secs / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_latencies_are_short() {
        let spans = [0.4, 61.0, 3_661.0, 90_000.0].map(span);
        assert_eq!(spans, ["0 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
        let latencies = [7, 9_999, 12_345, 12_345_678].map(micros);
        assert_eq!(latencies, ["7 µs", "9999 µs", "12.3 ms", "12.3 s"]);
    }
}
