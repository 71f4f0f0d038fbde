//! Small models that the tests write: vectors, tokens, vector spaces, and folders that are damaged or of other models.
//!
//! `equality` compares vectors with a plain forward pass in 64 bits (`plain`) and with what the reference
//! implementation made of the same model (`recorded.json`); `written` makes the models; `spaces` holds what changes a
//! vector space, `damaged` that every bad file is a typed error.

mod damaged;
mod equality;
mod plain;
mod port;
mod spaces;
mod written;
