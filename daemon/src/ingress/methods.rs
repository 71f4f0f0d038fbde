//! The RPCs whose latencies are measured: those of amem.v1 and of grpc.health.v1.

use amem_proto::calls::CALLS;

/// An RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Method {
    /// Its path, such as `/amem.v1.QueryService/Search`.
    pub(crate) path: String,
    /// Its answer is a stream.
    pub(crate) streams: bool,
    /// Its answer has no end of its own: a caller that has enough of it goes.
    pub(crate) is_endless: bool,
}

/// All of them.
pub(crate) fn all() -> Vec<Method> {
    let ours = CALLS.iter().map(|call| Method {
        path: call.path.to_owned(),
        streams: call.answers_stream,
        is_endless: call.is_endless,
    });
    let health = [("Check", false), ("Watch", true)].map(|(name, watches)| Method {
        path: format!("/grpc.health.v1.Health/{name}"),
        streams: watches,
        is_endless: watches,
    });
    ours.chain(health).collect()
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;

    #[test]
    fn the_rpcs_of_every_service_are_there() {
        let methods = all();
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
        let health = FileDescriptorSet::decode(tonic_health::pb::FILE_DESCRIPTOR_SET).unwrap();
        let health = health.file.iter().flat_map(|file| &file.service);
        for method in health.flat_map(|service| &service.method) {
            let path = format!("/grpc.health.v1.Health/{}", method.name());
            assert_eq!(
                find(&path).unwrap().streams,
                method.server_streaming(),
                "{path}"
            );
        }
        assert!(methods.len() > 30, "{}", methods.len());
    }
}
