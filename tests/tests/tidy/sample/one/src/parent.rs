//! Needs its child, which needs it.

mod child;

pub struct Parent;

pub fn both() -> child::Child {
    child::Child(Parent)
}
