//! Who may do what: roles, for all brains and for some, who has which, and the role that each call needs.
//!
//! Promises: our own user may do everything, others only what the configuration grants them; a call that is not in
//! the table can't be made; a brain that a caller may do nothing with is to it as if it were not there.
//! Not here: how a caller is known (`door`), and what it is shown (`brains::seen`).

mod role;

mod caller;
mod rights;

mod grants;
mod groups;

mod calls;

pub(crate) use caller::Caller;
pub(crate) use calls::{Needs, Over, Pace, needs};
pub(crate) use grants::Access;
pub use grants::Grants;
pub(crate) use groups::{is_in_group, is_own, is_own_group};
pub(crate) use rights::Rights;
pub use role::Role;
