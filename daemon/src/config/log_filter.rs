//! The filter of the log.

use tracing_subscriber::filter::EnvFilter;

/// Parses a filter; the error has an example. A directive for `amemd` covers the engine's lines, too: to an operator
/// they are one program.
pub(crate) fn parse(filter: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder()
        .parse(with_engine(filter))
        .map_err(|e| format!("{e}; such as info, debug, or amemd=trace,info"))
}

/// The filter with each directive for the whole of `amemd` repeated for `amem_engine`, unless it names that itself.
fn with_engine(filter: &str) -> String {
    const OURS: &str = "amemd";
    const ENGINE: &str = "amem_engine";
    if filter.contains(ENGINE) {
        return filter.to_owned();
    }
    let directives = filter.split(',');
    let ours = directives.filter_map(|directive| directive.trim().strip_prefix(OURS));
    let engine = ours.filter(|rest| rest.is_empty() || rest.starts_with(['=', '[']));
    let engine: String = engine.map(|rest| format!(",{ENGINE}{rest}")).collect();
    format!("{filter}{engine}")
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

    #[test]
    fn a_directive_for_amemd_covers_the_engine() {
        for (filter, whole) in [
            ("info", "info"),
            ("warn,amemd=debug", "warn,amemd=debug,amem_engine=debug"),
            ("amemd", "amemd,amem_engine"),
            ("amemd::grpc=debug", "amemd::grpc=debug"),
            (
                "amemd=debug,amem_engine=warn",
                "amemd=debug,amem_engine=warn",
            ),
        ] {
            assert_eq!(with_engine(filter), whole);
        }
    }
}
