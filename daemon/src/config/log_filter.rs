//! The filter of the log.

use tracing_subscriber::filter::EnvFilter;

/// Parses a filter; the error has an example. A directive for `amemd` covers the engine's lines, too: to an operator
/// they are one program.
pub(crate) fn parse(filter: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder()
        .parse(quiet(&with_engine(filter)))
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

/// Libraries that log what a peer sends, which needs no token for it.
const LOUD: [&str; 5] = ["h2", "hyper", "rmcp", "rustls", "tonic"];

/// The filter with only errors of those libraries that it does not name.
fn quiet(filter: &str) -> String {
    let is_named = |library: &&str| {
        let mut targets = filter.split(',').map(str::trim);
        targets.any(|target| {
            let rest = target.strip_prefix(library);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '[', ':', '_']))
        })
    };
    let others = LOUD.iter().filter(|library| !is_named(library));
    let others: String = others.map(|library| format!(",{library}=error")).collect();
    format!("{filter}{others}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_log_what_peers_send_are_quiet_unless_they_are_named() {
        let all = ",h2=error,hyper=error,rmcp=error,rustls=error,tonic=error";
        assert_eq!(quiet("info"), format!("info{all}"));
        let named = quiet("debug,h2=trace,hyper_util=info");
        assert_eq!(
            named,
            "debug,h2=trace,hyper_util=info,rmcp=error,rustls=error,tonic=error"
        );
    }

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
