//! Operations that fail.

use std::io;

/// The medium failed.
pub const EIO: i32 = 5;
/// The file would be too large.
pub const EFBIG: i32 = 27;
/// The disk is full.
pub const ENOSPC: i32 = 28;
/// The file system is read-only (now).
pub const EROFS: i32 = 30;
/// The user's quota is used up.
pub const EDQUOT: i32 = if cfg!(target_os = "linux") { 122 } else { 69 };

/// The operations of `Disk` and `File` that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `Disk::create`
    Create,
    /// `Disk::open`
    Open,
    /// `Disk::identity`
    Identity,
    /// `Disk::list`
    List,
    /// `Disk::create_folder`
    CreateFolder,
    /// `Disk::publish`
    Publish,
    /// `Disk::exchange`
    Exchange,
    /// `Disk::replace`
    Replace,
    /// `Disk::link`
    Link,
    /// `Disk::remove`
    Remove,
    /// `Disk::sync_folder`
    SyncFolder,
    /// `Disk::lock`
    Lock,
    /// `File::len`
    Len,
    /// `File::write_at`
    Write,
    /// `File::sync`
    Sync,
    /// `File::write_out`
    WriteOut,
    /// `File::map`
    Map,
    /// `File::store_cell`
    StoreCell,
    /// `File::protect`
    Protect,
}

impl Kind {
    /// The number of kinds.
    pub const COUNT: usize = Self::Protect as usize + 1;

    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Create,
        Self::Open,
        Self::Identity,
        Self::List,
        Self::CreateFolder,
        Self::Publish,
        Self::Exchange,
        Self::Replace,
        Self::Link,
        Self::Remove,
        Self::SyncFolder,
        Self::Lock,
        Self::Len,
        Self::Write,
        Self::Sync,
        Self::WriteOut,
        Self::Map,
        Self::StoreCell,
        Self::Protect,
    ];

    /// True for what changes the folder or makes it durable.
    pub fn changes(self) -> bool {
        !matches!(
            self,
            Self::Open | Self::Identity | Self::List | Self::Len | Self::Map
        )
    }
}

/// Which operations a fault counts, and strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Every one.
    All,
    /// Those that change the folder or make it durable.
    Changes,
    /// Those, but for one kind.
    ChangesBut(Kind),
    /// Those of one kind.
    Only(Kind),
}

impl Among {
    /// True if it counts these.
    pub fn counts(self, kind: Kind) -> bool {
        match self {
            Self::All => true,
            Self::Changes => kind.changes(),
            Self::ChangesBut(but) => kind.changes() && kind != but,
            Self::Only(only) => only == kind,
        }
    }
}

/// What an operation that fails has done nonetheless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing; a failed sync has still forgotten which pages were to be written.
    Nothing,
    /// A write wrote its first half. Other operations: nothing.
    Half,
    /// All of it, and only the answer says otherwise.
    Everything,
}

/// One operation that fails, or all from one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// How many of those counted succeed before, from when the fault was armed.
    pub after: u64,
    /// Which are counted.
    pub among: Among,
    /// The operating system's error number.
    pub error: i32,
    /// What was done nonetheless.
    pub effect: Effect,
    /// Whether all later ones fail as well.
    pub lasting: bool,
}

impl Fault {
    /// The error the caller gets.
    pub fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.error)
    }
}
