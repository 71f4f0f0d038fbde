//! What an import needs of a brain, and of the person who waits for it.

use std::path::Path;

use amem_proto::v1;

/// The brain that is imported into. A request without a brain's name means this brain.
///
/// A dry run writes nothing: it only asks, and only if the brain is there.
pub trait ImportTarget {
    /// Why a call failed; it ends the import.
    type Failure;

    /// The name of the brain, for requests that have it.
    fn brain(&self) -> &str;

    /// The agent in whose name is written.
    fn agent(&self) -> &str;

    /// Calls with each event that a filter selects, the oldest first; hidden and compressed ones are among them.
    ///
    /// # Errors
    /// As the brain refuses.
    fn each_event(
        &mut self,
        filter_json: String,
        each: &mut dyn FnMut(&v1::Event),
    ) -> Result<(), Self::Failure>;

    /// Events by id.
    ///
    /// # Errors
    /// As the brain refuses.
    fn events(&mut self, request: v1::GetEventsRequest) -> Result<Vec<v1::Event>, Self::Failure>;

    /// Makes a change of events.
    ///
    /// # Errors
    /// As the brain refuses.
    fn change(&mut self, change: EventChange) -> Result<ChangeAnswer, Self::Failure>;

    /// Sends a batch of events, without waiting for its answer. The one before is answered.
    ///
    /// # Errors
    /// If there is no connection.
    fn send(&mut self, batch: v1::IngestRequest) -> Result<(), Self::Failure>;

    /// Waits for the answer of the batch that was sent; `None` if there is none.
    ///
    /// # Errors
    /// As the brain refuses.
    fn answered(&mut self) -> Result<Option<v1::IngestResponse>, Self::Failure>;

    /// A page of memories.
    ///
    /// # Errors
    /// As the brain refuses.
    fn list_facts(
        &mut self,
        request: v1::ListFactsRequest,
    ) -> Result<v1::ListFactsResponse, Self::Failure>;

    /// True if a memory is there.
    ///
    /// # Errors
    /// As the brain refuses.
    fn has_fact(&mut self, request: v1::GetFactRequest) -> Result<bool, Self::Failure>;

    /// Forms memories of messages.
    ///
    /// # Errors
    /// As the brain refuses.
    fn add_facts(
        &mut self,
        request: v1::AddFactsRequest,
    ) -> Result<v1::AddFactsResponse, Self::Failure>;

    /// Changes a memory.
    ///
    /// # Errors
    /// As the brain refuses.
    fn update_fact(&mut self, request: v1::UpdateFactRequest) -> Result<(), Self::Failure>;

    /// Ends a memory.
    ///
    /// # Errors
    /// As the brain refuses.
    fn delete_fact(&mut self, request: v1::DeleteFactRequest) -> Result<(), Self::Failure>;

    /// The id of the project that a folder belongs to, if it is one.
    ///
    /// # Errors
    /// If it cannot be found out.
    fn project_of(&mut self, folder: &Path) -> Result<Option<String>, Self::Failure>;

    /// Shows how many items were taken so far.
    fn progress(&mut self, items: u64);
}

/// A change of events.
#[derive(Debug, Clone)]
pub enum EventChange {
    /// Opens a session by its key.
    OpenSession(v1::OpenSessionRequest),
    /// Replaces an event.
    Correct(v1::CorrectRequest),
    /// Sets all attributes of an event.
    SetAttributes(v1::SetAttributesRequest),
    /// Takes an edge away.
    Unlink(v1::UnlinkRequest),
    /// Hides an event.
    Forget(v1::ForgetRequest),
}

/// What a change made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeAnswer {
    /// The number of the session.
    Session(u32),
    /// The id of the new event.
    Event(u64),
    /// Nothing that has a number.
    Done,
}
