//! The most frequent queries and changes, by name. Each is one `ask` or one `write`.

use amem_proto::answer::Result;
use amem_proto::v1;

use super::brain::Brain;

impl Brain {
    /// Events by id, without vectors and edges.
    pub async fn get(&self, event_ids: &[u64]) -> Result<Vec<v1::Event>> {
        let question = v1::GetEventsRequest {
            event_ids: event_ids.to_vec(),
            ..Default::default()
        };
        Ok(self.ask(question).await?.events)
    }

    /// The best answers to a question.
    pub async fn search(&self, text: &str, limit: u32) -> Result<Vec<v1::SearchHit>> {
        let question = v1::SearchRequest {
            text: text.to_owned(),
            limit,
            ..Default::default()
        };
        Ok(self.ask(question).await?.hits)
    }

    /// What is known about a question, as text within a token budget.
    pub async fn context(&self, text: &str, budget_tokens: u32) -> Result<v1::ContextResponse> {
        let question = v1::ContextRequest {
            text: text.to_owned(),
            budget_tokens,
            ..Default::default()
        };
        self.ask(question).await
    }

    /// What is believed now in place of an event.
    pub async fn resolve(&self, event_id: u64) -> Result<v1::ResolveResponse> {
        let question = v1::ResolveRequest {
            event_id,
            ..Default::default()
        };
        self.ask(question).await
    }

    /// What an event rests on.
    pub async fn why(&self, event_id: u64) -> Result<v1::WhyResponse> {
        let question = v1::WhyRequest {
            event_id,
            ..Default::default()
        };
        self.ask(question).await
    }

    /// What rests on an event.
    pub async fn impact(&self, event_id: u64) -> Result<v1::ImpactResponse> {
        let question = v1::ImpactRequest {
            event_id,
            ..Default::default()
        };
        self.ask(question).await
    }

    /// Adds events.
    pub async fn ingest(&self, events: Vec<v1::NewEvent>) -> Result<v1::IngestResponse> {
        let change = v1::IngestRequest {
            events,
            ..Default::default()
        };
        self.write(change).await
    }

    /// Replaces the newest belief in the chain of an event.
    pub async fn correct(
        &self,
        target_id: u64,
        event: v1::NewEvent,
    ) -> Result<v1::CorrectResponse> {
        let change = v1::CorrectRequest {
            target_id,
            to_head: true,
            event: Some(event),
            ..Default::default()
        };
        self.write(change).await
    }

    /// Adds an edge between two events.
    pub async fn link(
        &self,
        source_id: u64,
        target_id: u64,
        edge_type: v1::EdgeType,
    ) -> Result<v1::LinkResponse> {
        let change = v1::LinkRequest {
            source_id,
            target_id,
            r#type: edge_type.into(),
            ..Default::default()
        };
        self.write(change).await
    }

    /// Hides an event.
    pub async fn forget(&self, event_id: u64) -> Result<v1::ForgetResponse> {
        let change = v1::ForgetRequest {
            event_id,
            ..Default::default()
        };
        self.write(change).await
    }
}
