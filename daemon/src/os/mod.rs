//! The operating system: users, file permissions, sockets, process limits, the service manager.

pub(crate) mod file_system;
pub(crate) mod folder;

mod inherited;
pub(crate) mod socket;

pub(crate) mod notify;

pub use inherited::InheritedSockets;
pub use socket::Socket;
