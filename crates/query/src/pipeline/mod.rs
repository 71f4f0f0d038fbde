//! Pipeline: stages composed in one call on one view, such as search → traverse → resolve → rank.
//!
//! Sources make rows; each stage makes rows from the rows before it. A row is an event with a score and the row that it
//! came from, so an answer explains itself. A stage has each event once. Events that are forgotten or out of the
//! pipeline's scope never become rows; a traversal goes through forgotten events as stubs.
//!
//! Promises: the answer equals running the stages one after the other on the same view; a stage has at most
//! `limits::PAGE_MAX` rows, and all stages together make at most `limits::PIPELINE_ROWS_MAX`.

mod rank;
mod request;
mod row;
mod run;

pub use rank::{RankBy, RankWeights};
pub use request::{Pipeline, PipelineResult, PipelineStage, RowSource, TraverseStage};
pub use row::{PipelineRow, ScoreParts};
