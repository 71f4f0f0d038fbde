//! Every RPC of amem.v1 and of grpc.health.v1, as their descriptors have them.

use amem_proto::v1::DESCRIPTORS;
use prost::Message;
use prost_types::FileDescriptorSet;

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

/// Those whose answers have no end.
const ENDLESS: [&str; 2] = [
    "/amem.v1.MemoryService/Subscribe",
    "/grpc.health.v1.Health/Watch",
];

/// All of them. Descriptors are made by the build: bytes that are none are a defect, and give none.
pub(crate) fn all() -> Vec<Method> {
    let sets = [DESCRIPTORS, tonic_health::pb::FILE_DESCRIPTOR_SET];
    let sets = sets
        .into_iter()
        .filter_map(|set| FileDescriptorSet::decode(set).ok());
    let mut out = Vec::new();
    for file in sets.flat_map(|set| set.file) {
        for service in &file.service {
            out.extend(service.method.iter().map(|method| {
                let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                Method {
                    streams: method.server_streaming(),
                    is_endless: ENDLESS.contains(&path.as_str()),
                    path,
                }
            }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rpcs_of_every_service_are_there() {
        let methods = all();
        let find = |path: &str| methods.iter().find(|method| method.path == path).cloned();
        let search = find("/amem.v1.QueryService/Search").unwrap();
        let subscribe = find("/amem.v1.MemoryService/Subscribe").unwrap();
        assert_eq!((search.streams, subscribe.streams), (false, true));
        for path in ENDLESS {
            assert!(find(path).unwrap().streams, "{path}");
        }
        let endless = methods.iter().filter(|method| method.is_endless);
        assert_eq!(endless.count(), ENDLESS.len());
        assert!(methods.len() > 30, "{}", methods.len());
    }
}
