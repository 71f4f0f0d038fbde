//! gRPC: the services of amem.v1, over `calls`.

mod services;

pub(crate) use services::Service;
