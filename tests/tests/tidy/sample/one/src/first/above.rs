//! Needs the module beside its own; inside a macro.

pub(crate) fn print() {
    println!("{}", crate::second::Middle::NUMBER);
}
