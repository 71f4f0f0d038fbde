//! Every query, on a view.
