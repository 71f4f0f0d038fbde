//! Fact memory as its callers see it: adds and changes over a naive store and scripted models.

mod adds;
mod forgetting;
mod languages;
mod random_adds;
mod reading;
mod secrets;
mod support;
