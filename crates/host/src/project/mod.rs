//! Which project a folder belongs to, for the memory of agents.
//!
//! A folder is a project by its path: that of the main worktree of its git repository, else its own. What a folder
//! says of itself, in `.amem.toml` or by its git remote, is a claim: it holds for folders that a person allowed to be
//! that project (`AllowedProjects`). Anybody can write such a file into a clone or an archive. The home folder and `/`
//! are no project: there, only what holds for the user is remembered.
//!
//! Promises: nothing is written, no program runs; a folder that is gone still has a project; the answer depends on the
//! surroundings that the caller hands in, the files and nothing else.
//! Not here: where memories are stored (`amem-mcp`), and what a project's memory is.

pub mod allow;
mod error;

mod git;
mod settings;
mod user;

mod location;

#[cfg(test)]
mod tests;

pub use error::{PROJECT_BYTES_MAX, ProjectError};
pub use location::{FOLDER_VARIABLES, PROJECT_VARIABLE, Project, ProjectPlace, Surroundings};
pub use user::{USER_VARIABLE, user_of};
