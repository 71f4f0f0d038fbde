//! The providers against scripted servers, over real HTTP.

mod chat;
mod embeddings;
mod ladder;
mod secrets;
mod streams;
mod support;
mod transport;
