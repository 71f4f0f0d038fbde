//! The metrics page, parsed as strictly as the format demands.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) body: String,
}

/// Sends these bytes and reads to the end.
pub(super) fn send(to: SocketAddr, bytes: &[u8]) -> Page {
    let mut stream = TcpStream::connect(to).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(15)))
        .unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let kind = lines.find_map(|line| line.strip_prefix("content-type: "));
    Page {
        status: status.and_then(|status| status.parse().ok()).unwrap_or(0),
        kind: kind.unwrap_or_default().to_owned(),
        body: body.to_owned(),
    }
}

/// Gets a page.
pub(super) fn get(from: SocketAddr, path: &str) -> Page {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {from}\r\n\r\n");
    send(from, request.as_bytes())
}

/// The figures of a page: every series with its value, and every family with its type.
#[derive(Debug, Default)]
pub(super) struct MetricsPage {
    pub(super) series: BTreeMap<String, f64>,
    pub(super) families: BTreeMap<String, String>,
}

impl MetricsPage {
    /// Gets the figures; whatever is not as the format asks for ends the test.
    pub(super) fn of(from: SocketAddr) -> Self {
        let page = get(from, "/metrics");
        assert_eq!(page.status, 200, "{page:?}");
        assert!(
            page.kind.starts_with("text/plain; version=0.0.4"),
            "{}",
            page.kind
        );
        let mut scraped = Self::default();
        let (mut help, mut family) = (BTreeSet::new(), String::new());
        for line in page.body.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, words) = rest.split_once(' ').unwrap();
                assert!(!words.is_empty() && help.insert(name.to_owned()), "{line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(help.contains(name), "no HELP: {line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                family = name.to_owned();
                let known = scraped.families.insert(family.clone(), kind.to_owned());
                assert_eq!(known, None, "{line}");
            } else {
                scraped.sample(line, &family);
            }
        }
        scraped.check_histograms();
        scraped
    }

    fn sample(&mut self, line: &str, family: &str) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
            None => (series, ""),
        };
        let base = match self.families.get(family).map(String::as_str) {
            Some("histogram") => ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|suffix| name.strip_suffix(suffix)),
            Some(_) => Some(name),
            None => None,
        };
        assert_eq!(base, Some(family), "a sample outside of its family: {line}");
        for label in labels.split("\",").filter(|label| !label.is_empty()) {
            let (name, _) = label.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(name.chars().all(|c| c.is_ascii_lowercase()), "{line}");
        }
        let value: f64 = value.parse().unwrap();
        assert!(value.is_finite() && value >= 0.0, "{line}");
        let known = self.series.insert(series.to_owned(), value);
        assert_eq!(known, None, "twice: {line}");
    }

    /// Buckets ascend, and the last has all.
    fn check_histograms(&self) {
        let mut checked = 0;
        for (series, count) in &self.series {
            let Some((name, labels)) = series.split_once("_count{") else {
                continue;
            };
            let labels = labels.strip_suffix('}').unwrap();
            let all = format!("{name}_bucket{{{labels},le=\"+Inf\"}}");
            assert_eq!(self.series.get(&all), Some(count), "{series}");
            assert!(self.series.contains_key(&format!("{name}_sum{{{labels}}}")));
            let prefix = format!("{name}_bucket{{{labels},le=\"");
            let buckets = self.series.iter().filter_map(|(series, value)| {
                let bound = series.strip_prefix(&prefix)?.strip_suffix("\"}")?;
                Some((bound.parse::<f64>().unwrap(), *value))
            });
            let mut buckets: Vec<_> = buckets.collect();
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(
                buckets.is_sorted_by(|a, b| a.1 <= b.1),
                "{series}: {buckets:?}"
            );
            checked += 1;
        }
        assert!(checked > 0, "no histogram at all");
    }

    /// The value of a series.
    pub(super) fn value(&self, series: &str) -> f64 {
        let value = self.series.get(series);
        *value.unwrap_or_else(|| panic!("{series} is not told: {:#?}", self.series))
    }

    /// True if a name is that of a family or of a part of a histogram.
    pub(super) fn knows(&self, name: &str) -> bool {
        let is = |name: &str, wanted: bool| {
            let kind = self.families.get(name);
            kind.is_some_and(|kind| (kind == "histogram") == wanted)
        };
        let parts = ["_bucket", "_sum", "_count"];
        let mut parts = parts.iter().filter_map(|part| name.strip_suffix(part));
        is(name, false) || parts.any(|name| is(name, true))
    }

    /// No counter may be less than at an earlier look.
    pub(super) fn check_after(&self, before: &Self) {
        for (series, value) in &before.series {
            let name = series.split('{').next().unwrap_or_default();
            let is_gauge = self.families.get(name).is_some_and(|kind| kind == "gauge");
            if !is_gauge {
                let now = self.value(series);
                assert!(now >= *value, "{series} was {value} and is {now}");
            }
        }
    }
}
