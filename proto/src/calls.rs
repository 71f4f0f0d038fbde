//! The calls of `amem.v1`, generated from their options in the `.proto` files (`amem/v1/options.proto`).

use crate::v1::Permission;

/// The brains for which a caller needs the role of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallReach {
    /// For each that the request names or the answer shows.
    Named,
    /// For all, those that do not exist yet included.
    All,
}

/// The expected duration of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It is answered soon.
    Call,
    /// It works through a whole brain: only the largest deadline applies unless the caller sets one.
    Long,
    /// The caller sends or reads as long as it likes: no deadline but its own.
    Stream,
}

/// The CPU cost of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Microseconds.
    Light,
    /// In proportion to the brain, to a long chain or to a hub.
    Heavy,
    /// The request decides.
    ByRequest,
}

/// When the events in an answer count as used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// If the request sets `touch`.
    OnRequest,
    /// Unless the request clears `touch`.
    ByDefault,
}

/// A call and its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Such as `/amem.v1.QueryService/Search`.
    pub path: &'static str,
    /// Without its package.
    pub service: &'static str,
    /// Its name in the service.
    pub method: &'static str,
    /// The message of a request, without its package.
    pub request: &'static str,
    /// Requests come as a stream.
    pub sends_stream: bool,
    /// Answers go as a stream.
    pub answers_stream: bool,
    /// What the caller must be allowed to do.
    pub permission: Permission,
    /// For which brains.
    pub reach: CallReach,
    /// How long it takes.
    pub pace: Pace,
    /// Questions only.
    pub weight: Option<Weight>,
    /// Questions only; none if the answer shows no events.
    pub touch: Option<Touch>,
    /// Its request has a request_id: the same request sent again is executed once.
    pub is_repeatable: bool,
    /// It changes who may do what. Its caller gets the answer even if the change takes its own rights away.
    pub changes_access: bool,
    /// The answers do not end by themselves.
    pub is_endless: bool,
    /// A request message may be as large as a batch of events.
    pub is_batch: bool,
}

/// Every call, by path.
pub const CALLS: &[Call] = include!(concat!(env!("OUT_DIR"), "/calls.rs"));

/// The call of this path.
pub fn call(path: &str) -> Option<&'static Call> {
    let found = CALLS.binary_search_by(|call| call.path.cmp(path));
    found.ok().map(|at| &CALLS[at])
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;
    use crate::v1;

    #[test]
    fn every_rpc_of_the_descriptors_is_in_the_table() {
        let files = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap();
        let mut count = 0;
        for service in files.file.iter().flat_map(|file| &file.service) {
            for method in &service.method {
                let path = format!("/amem.v1.{}/{}", service.name(), method.name());
                let call = call(&path).unwrap_or_else(|| panic!("{path} states no options"));
                assert_eq!((call.service, call.method), (service.name(), method.name()));
                assert_eq!(format!(".amem.v1.{}", call.request), method.input_type());
                assert_eq!(call.sends_stream, method.client_streaming());
                assert_eq!(call.answers_stream, method.server_streaming());
                count += 1;
            }
        }
        assert_eq!(count, CALLS.len());
        assert_eq!(call("/amem.v1.QueryService/Unknown"), None);
    }

    #[test]
    fn the_options_of_a_call_are_those_of_its_proto() {
        let get = call("/amem.v1.QueryService/GetEvents").unwrap();
        assert_eq!(
            (get.weight, get.touch),
            (Some(Weight::ByRequest), Some(Touch::ByDefault))
        );
        assert_eq!(
            (get.permission, get.reach, get.pace),
            (Permission::Read, CallReach::Named, Pace::Call)
        );
        let erase = call("/amem.v1.MemoryService/Erase").unwrap();
        assert_eq!((erase.weight, erase.touch), (None, None));
        assert!(erase.is_repeatable && !erase.is_endless && erase.pace == Pace::Long);
        let stream = call("/amem.v1.MemoryService/IngestStream").unwrap();
        assert!(stream.is_batch && stream.is_repeatable && stream.pace == Pace::Stream);
        let subscribe = call("/amem.v1.MemoryService/Subscribe").unwrap();
        assert!(subscribe.is_endless && !subscribe.is_repeatable);
        let revoke = call("/amem.v1.AdminService/RevokeToken").unwrap();
        assert!(revoke.changes_access && revoke.permission == Permission::Admin);
    }
}
