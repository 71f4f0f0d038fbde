//! The filter of the log.

use tracing_subscriber::filter::EnvFilter;

/// Parses a filter; the error has an example.
pub(crate) fn parse(filter: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder()
        .parse(filter)
        .map_err(|e| format!("{e}; such as info, debug, or amemd=trace,info"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_means_nothing_is_refused_with_one_that_does() {
        parse("amemd=trace,info").unwrap();
        let why = parse("amemd=loud").unwrap_err();
        assert!(why.contains("such as"), "{why}");
    }
}
