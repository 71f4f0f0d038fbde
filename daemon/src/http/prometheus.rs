//! The text format of Prometheus, version 0.0.4.
//!
//! A family of series is written once: its HELP, its TYPE, its samples. A family without samples is written as well, so
//! that the page lists all families.

use std::fmt::Write;

use amem_engine::HistogramSnapshot;

/// Microseconds of a second.
pub(super) const MICROS: f64 = 1e6;

/// A family of series.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    pub(super) name: &'static str,
    kind: &'static str,
    help: &'static str,
}

pub(super) const fn gauge(name: &'static str, help: &'static str) -> Family {
    let kind = "gauge";
    Family { name, kind, help }
}

pub(super) const fn counter(name: &'static str, help: &'static str) -> Family {
    let kind = "counter";
    Family { name, kind, help }
}

pub(super) const fn histogram(name: &'static str, help: &'static str) -> Family {
    let kind = "histogram";
    Family { name, kind, help }
}

/// A label: its name and its value.
pub(super) type Label<'a> = (&'static str, &'a str);

/// The text of a page.
#[derive(Debug, Default)]
pub(super) struct MetricsText(String);

impl MetricsText {
    /// Begins a family; its samples follow.
    pub(super) fn family(&mut self, of: &Family) {
        let Family { name, kind, help } = of;
        // Writing to a string does not fail.
        _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A family of one sample.
    pub(super) fn one(&mut self, of: &Family, value: f64) {
        self.family(of);
        self.sample(of, &[], value);
    }

    /// A sample of a family.
    pub(super) fn sample(&mut self, of: &Family, labels: &[Label<'_>], value: f64) {
        self.line(of.name, "", labels, value);
    }

    /// A histogram of a family; `unit` counted values make 1 in the unit of the family.
    pub(super) fn histogram(
        &mut self,
        of: &Family,
        label: Label<'_>,
        counted: &HistogramSnapshot,
        unit: f64,
    ) {
        let mut below = 0;
        for (at, count) in counted.counts.iter().enumerate() {
            below += count;
            let bound = counted.bounds.get(at);
            let bound = bound.map_or("+Inf".to_owned(), |bound| {
                (*bound as f64 / unit).to_string()
            });
            self.line(of.name, "_bucket", &[label, ("le", &bound)], below as f64);
        }
        self.line(of.name, "_sum", &[label], counted.sum as f64 / unit);
        // The sum of the buckets: the snapshot is not atomic.
        self.line(of.name, "_count", &[label], below as f64);
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    fn line(&mut self, name: &str, suffix: &str, labels: &[Label<'_>], value: f64) {
        let out = &mut self.0;
        out.push_str(name);
        out.push_str(suffix);
        for (at, (label, value)) in labels.iter().enumerate() {
            out.push(if at == 0 { '{' } else { ',' });
            _ = write!(out, "{label}=\"{}\"", escaped(value));
        }
        if !labels.is_empty() {
            out.push('}');
        }
        _ = writeln!(out, " {value}");
    }
}

/// Escapes a label's value.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_follow_their_help_and_type_and_labels_are_escaped() {
        let mut text = MetricsText::default();
        let queue = gauge("q", "What waits.");
        text.family(&queue);
        text.sample(&queue, &[("brain", "a\"b\\c\nd")], 3.0);
        text.one(&counter("t_total", "So many."), 0.25);
        let expected = "# HELP q What waits.\n# TYPE q gauge\nq{brain=\"a\\\"b\\\\c\\nd\"} 3\n\
                        # HELP t_total So many.\n# TYPE t_total counter\nt_total 0.25\n";
        assert_eq!(text.into_string(), expected);
    }

    #[test]
    fn a_histogram_counts_all_that_is_below_each_bound() {
        let mut counted = HistogramSnapshot::empty(&[50, 1_000_000]);
        for (value, count) in [(7, 2), (1000, 1), (3_000_000, 1)] {
            counted.add(value, count);
        }
        let mut text = MetricsText::default();
        text.histogram(&histogram("h_seconds", ""), ("rpc", "/a"), &counted, MICROS);
        let expected = "h_seconds_bucket{rpc=\"/a\",le=\"0.00005\"} 2\n\
                        h_seconds_bucket{rpc=\"/a\",le=\"1\"} 3\n\
                        h_seconds_bucket{rpc=\"/a\",le=\"+Inf\"} 4\n\
                        h_seconds_sum{rpc=\"/a\"} 3.001014\n\
                        h_seconds_count{rpc=\"/a\"} 4\n";
        assert_eq!(text.into_string(), expected);
    }
}
