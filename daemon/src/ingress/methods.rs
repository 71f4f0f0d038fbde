//! The RPCs whose latencies are measured: those of amem.v1 and of grpc.health.v1.

use amem_proto::calls::{self, CALLS};

/// The calls of grpc.health.v1, and whether the answers of each are a stream without an end.
const HEALTH: [(&str, bool); 3] = [
    ("/grpc.health.v1.Health/Check", false),
    ("/grpc.health.v1.Health/List", false),
    ("/grpc.health.v1.Health/Watch", true),
];

/// An RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Method {
    /// Its path, such as `/amem.v1.QueryService/Search`.
    pub(crate) path: String,
    /// True if its answer is a stream.
    pub(crate) streams: bool,
    /// True if its answer ends only when the caller leaves.
    pub(crate) is_endless: bool,
}

/// Every measured RPC.
pub(crate) fn all() -> Vec<Method> {
    let ours = CALLS.iter().map(|call| Method {
        path: call.path.to_owned(),
        streams: call.answers_stream,
        is_endless: call.is_endless,
    });
    let health = HEALTH.map(|(path, watches)| Method {
        path: path.to_owned(),
        streams: watches,
        is_endless: watches,
    });
    ours.chain(health).collect()
}

/// True if the latency of the call of this path is measured.
pub(crate) fn is_measured(path: &str) -> bool {
    calls::call(path).is_some() || HEALTH.iter().any(|(health, _)| *health == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rpcs_of_every_service_are_there() {
        let methods = all();
        assert!(methods.iter().all(|method| is_measured(&method.path)));
        assert!(!is_measured("/amem.v1.QueryService/Unknown"));
        let find = |path: &str| methods.iter().find(|method| method.path == path).cloned();
        let search = find("/amem.v1.QueryService/Search").unwrap();
        let subscribe = find("/amem.v1.MemoryService/Subscribe").unwrap();
        assert_eq!((search.streams, subscribe.streams), (false, true));
        let endless = methods.iter().filter(|method| method.is_endless);
        let endless: Vec<_> = endless
            .map(|method| (&*method.path, method.streams))
            .collect();
        let expected = [
            ("/amem.v1.MemoryService/Subscribe", true),
            ("/grpc.health.v1.Health/Watch", true),
        ];
        assert_eq!(endless, expected);
        assert!(methods.len() > 30, "{}", methods.len());
    }
}
