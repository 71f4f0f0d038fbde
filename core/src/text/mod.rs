//! Words and stems of a text, and the index over them.
