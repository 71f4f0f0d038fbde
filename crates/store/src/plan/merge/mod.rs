//! Merge: what another brain has and this one does not.
//!
//! The rules, which leave both sides the same once each has taken what the other has:
//! - an event that is new here keeps its type, text, confidence, attributes, flags and uses; it is recorded now,
//!   happened
//!   when it did, and says where it comes from (`ORIGIN`);
//! - edges are united; one that was retracted after it was last set on the other side is retracted;
//! - of attributes, vectors, decay rates, being pinned or forgotten, the later value counts, and of two set at the same
//!   time the greater; what is compressed or erased on one side stays so there, and compressed is compressed
//!   here, too;
//! - uses: the larger count, the later time;
//! - a session is open or closed as on the side that changed this last, and closed if the other side merely opened it;
//!   new events open it again, a new span of it, and an outcome stays with its span;
//! - both corrections of a belief stay, and it is contested; confidences follow from all that replaces them.

mod beliefs;
mod cycles;
mod edges;
mod events;
mod merge_plan;
mod run;
mod sessions;
mod spans;
