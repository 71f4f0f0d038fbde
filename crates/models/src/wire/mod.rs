//! Requests and answers in the words of each provider.

mod parameter;
mod prompt;
mod reply;

mod anthropic;
mod google;
mod ollama;
mod openai;

mod protocol;
mod refusal;
mod vectors;

pub(crate) use parameter::{DroppedParameters, Parameter};
pub(crate) use prompt::{CallOptions, ChatPrompt, ReplyShape, TextBatch, WireRequest};
pub(crate) use protocol::{chat_request, embed_request, read_piece, read_vectors, stream_syntax};
pub(crate) use refusal::{ServerRefusal, shortened};
pub(crate) use reply::{ReplyBuilder, ReplyPiece};
pub(crate) use vectors::vector_of;
