//! Who may do what: roles, for all brains and for some, who has which; and the secrets by which callers are known.
//!
//! Promises: our own user may do everything, others only what the configuration grants them; a brain that a caller may
//! do nothing with is to it as if it were not there.
//! Not here: how a caller is known (`ingress`), and what it is shown (`brains::seen`).

mod caller;
mod rights;

mod grants;

mod secrets;
mod tokens;

mod digest;

pub use crate::config::{Grants, Role};
pub(crate) use caller::Caller;
pub(crate) use digest::Digest;
pub(crate) use grants::Access;
pub(crate) use rights::Rights;
pub(crate) use secrets::{ClientCa, Secrets, certificate_name};
pub(crate) use tokens::Token;
pub use tokens::Tokens;
