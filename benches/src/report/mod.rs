//! `report`: every row of the project's page of figures, beside the reference implementation and the crates that
//! a user would pick instead, on the same data in one run.
//!
//! It calibrates the machine first, makes the data from a seed, compares the answers, and only then takes times: the
//! medians of rounds in which everybody has a turn. A row without a measurement is reported as absent; a row that is
//! absent, wrong or behind its goal makes the command end with 1.
//! Not here: what a row asks (`rows`), which rows there are and what they are to reach (`list`).

mod list;

mod calibrate;
mod corpus;
mod file_system;
mod growth;
mod measure;
mod peers;
mod reference;
mod rows;
mod run;
mod sqlite;
mod table;
mod wakeful;
mod world;

pub(crate) use run::{Options, run};
