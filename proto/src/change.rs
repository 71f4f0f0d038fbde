//! What every change has in common: the brain, who writes and under which conditions, the call, the commit.

use std::fmt::Debug;

use prost::Message;

use crate::v1;

/// A request of `MemoryService` that is answered by one commit.
pub trait Change: Message + Clone + Debug + Default + 'static {
    /// The message that answers it.
    type Answer: Message + Debug + Default + PartialEq + 'static;
    /// The path of its call.
    const PATH: &'static str;

    /// The brain's name.
    fn brain(&self) -> &str;
    /// The brain's name, to be set.
    fn brain_mut(&mut self) -> &mut String;
    /// Who writes, and under which conditions.
    fn options_mut(&mut self) -> &mut v1::WriteOptions;
    /// The commit of an answer.
    fn commit(answer: &Self::Answer) -> Option<&v1::Commit>;
}

macro_rules! changes {
    ($($call:ident: $request:ident -> $answer:ident;)*) => {
        /// The paths of the calls of all changes.
        #[cfg(test)]
        const PATHS: &[&str] = &[$(<v1::$request as Change>::PATH),*];

        $(impl Change for v1::$request {
            type Answer = v1::$answer;
            const PATH: &'static str = concat!("/amem.v1.MemoryService/", stringify!($call));

            fn brain(&self) -> &str {
                &self.brain
            }

            fn brain_mut(&mut self) -> &mut String {
                &mut self.brain
            }

            fn options_mut(&mut self) -> &mut v1::WriteOptions {
                self.options.get_or_insert_default()
            }

            fn commit(answer: &Self::Answer) -> Option<&v1::Commit> {
                answer.commit.as_ref()
            }
        })*
    };
}

changes! {
    Ingest: IngestRequest -> IngestResponse;
    Correct: CorrectRequest -> CorrectResponse;
    Link: LinkRequest -> LinkResponse;
    Unlink: UnlinkRequest -> UnlinkResponse;
    Touch: TouchRequest -> TouchResponse;
    Pin: PinRequest -> PinResponse;
    Unpin: UnpinRequest -> UnpinResponse;
    Forget: ForgetRequest -> ForgetResponse;
    Restore: RestoreRequest -> RestoreResponse;
    Erase: EraseRequest -> EraseResponse;
    CompressSession: CompressSessionRequest -> CompressSessionResponse;
    SetVector: SetVectorRequest -> SetVectorResponse;
    SetAttributes: SetAttributesRequest -> SetAttributesResponse;
    Decay: DecayRequest -> DecayResponse;
    OpenSession: OpenSessionRequest -> OpenSessionResponse;
    CloseSession: CloseSessionRequest -> CloseSessionResponse;
    SetSettings: SetSettingsRequest -> SetSettingsResponse;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost_types::FileDescriptorSet;

    use super::*;

    #[test]
    fn every_call_of_the_service_that_is_no_stream_is_a_change() {
        let files = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap();
        let services = files.file.iter().flat_map(|file| &file.service);
        let memory = services.filter(|service| service.name() == "MemoryService");
        let calls = memory
            .flat_map(|service| &service.method)
            .filter(|call| !call.client_streaming() && !call.server_streaming());
        let paths = calls.map(|call| format!("/amem.v1.MemoryService/{}", call.name()));
        let told: BTreeSet<String> = paths.collect();
        let changes: BTreeSet<String> = PATHS.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(changes, told);
    }
}
