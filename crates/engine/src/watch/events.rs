//! Events of the folder: names that appear, that are written and closed, that vanish, whose modes change.
//!
//! On Linux by inotify, asked for no more than that: a brain that is written thousands of times a second makes no
//! event. Elsewhere, and where the system has no watch left to give, there are no events, and rescans find everything.
//! Promises: lost events are reported as `Everything`.

/// A change in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FolderEvent {
    /// To a name of the folder.
    Name {
        /// The name.
        name: String,
        /// True if the writer of the file has closed it, or moved it here.
        closed: bool,
    },
    /// To a name that ends as those of brains do and is not text.
    Unreadable,
    /// To an unknown number of names: rescan.
    Everything,
}

#[cfg(target_os = "linux")]
pub(super) use linux::FolderEvents;
#[cfg(not(target_os = "linux"))]
pub(super) use none::NoFolderEvents as FolderEvents;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use amem_store::folder::SUFFIX;
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use tokio::io::unix::AsyncFd;

    use super::FolderEvent;

    /// Bytes of events that are read at a time: a hundred long names, a thousand short ones.
    const BUFFER: usize = 32 << 10;

    /// The folder's watch.
    #[derive(Debug)]
    pub(in crate::watch) struct FolderEvents(AsyncFd<OwnedFd>);

    impl FolderEvents {
        /// Begins to watch a folder.
        #[expect(
            deprecated,
            reason = "unsound for what may close its descriptor while it lives; an OwnedFd does not"
        )]
        pub(in crate::watch) fn of(folder: &Path) -> io::Result<Self> {
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let flags = WatchFlags::CREATE
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::DELETE
                | WatchFlags::ATTRIB
                | WatchFlags::ONLYDIR;
            inotify::add_watch(&events, folder, flags)?;
            Ok(Self(AsyncFd::new(events)?))
        }

        /// Waits for events.
        pub(in crate::watch) async fn next(&self) -> io::Result<Vec<FolderEvent>> {
            loop {
                let mut ready = self.0.readable().await?;
                let events = self.read()?;
                if !events.is_empty() {
                    return Ok(events);
                }
                ready.clear_ready();
            }
        }

        fn read(&self) -> io::Result<Vec<FolderEvent>> {
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = Reader::new(self.0.get_ref(), &mut buffer);
            let mut events = Vec::new();
            loop {
                match reader.next() {
                    Ok(event) => {
                        let kind = event.events();
                        if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
                            events.push(FolderEvent::Everything);
                        } else if let Some(name) = event.file_name() {
                            let closed =
                                kind.intersects(ReadFlags::CLOSE_WRITE | ReadFlags::MOVED_TO);
                            match name.to_str() {
                                Ok(name) => events.push(FolderEvent::Name {
                                    name: name.to_owned(),
                                    closed,
                                }),
                                Err(_) if name.to_bytes().ends_with(SUFFIX.as_bytes()) => {
                                    events.push(FolderEvent::Unreadable);
                                }
                                Err(_) => {}
                            }
                        }
                    }
                    Err(Errno::AGAIN) => return Ok(events),
                    Err(Errno::INTR) => {}
                    Err(e) => return Err(e.into()),
                }
                // Events that were read are handled before more are read.
                if reader.is_buffer_empty() && !events.is_empty() {
                    return Ok(events);
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod none {
    use std::io;
    use std::path::Path;

    use super::FolderEvent;

    /// No watch.
    #[derive(Debug)]
    pub(in crate::watch) struct NoFolderEvents(std::convert::Infallible);

    impl NoFolderEvents {
        pub(in crate::watch) fn of(_: &Path) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in crate::watch) async fn next(&self) -> io::Result<Vec<FolderEvent>> {
            match self.0 {}
        }
    }
}
