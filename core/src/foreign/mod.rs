//! Files of the reference implementation: read only, and written on request.
