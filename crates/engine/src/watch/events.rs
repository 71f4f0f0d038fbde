//! What the system tells of the folder: names that appear, that are written and closed, that go, whose modes change.
//!
//! On Linux by inotify, asked for no more than that: a brain that is written thousands of times a second makes no
//! event. Elsewhere, and where the system has no watch left to give, nothing is told, and rescans find it all.
//! Promises: what was lost because too much happened is told as `Everything`.

/// Something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FolderEvent {
    /// To a name of the folder.
    Name {
        /// Which.
        name: String,
        /// True if whoever wrote the file has closed it, or moved it here.
        closed: bool,
    },
    /// To a name that ends as those of brains do and is not text.
    Unreadable,
    /// To more than could be told.
    Everything,
}

#[cfg(target_os = "linux")]
pub(super) use linux::FolderEvents;
#[cfg(not(target_os = "linux"))]
pub(super) use none::FolderEvents;

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

    /// Bytes of news that are read at a time: a hundred long names, a thousand short ones.
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

        /// Waits until something happened.
        pub(in crate::watch) async fn next(&self) -> io::Result<Vec<FolderEvent>> {
            loop {
                let mut ready = self.0.readable().await?;
                let news = self.read()?;
                if !news.is_empty() {
                    return Ok(news);
                }
                ready.clear_ready();
            }
        }

        fn read(&self) -> io::Result<Vec<FolderEvent>> {
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = Reader::new(self.0.get_ref(), &mut buffer);
            let mut news = Vec::new();
            loop {
                match reader.next() {
                    Ok(event) => {
                        let kind = event.events();
                        if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
                            news.push(FolderEvent::Everything);
                        } else if let Some(name) = event.file_name() {
                            let closed =
                                kind.intersects(ReadFlags::CLOSE_WRITE | ReadFlags::MOVED_TO);
                            match name.to_str() {
                                Ok(name) => news.push(FolderEvent::Name {
                                    name: name.to_owned(),
                                    closed,
                                }),
                                Err(_) if name.to_bytes().ends_with(SUFFIX.as_bytes()) => {
                                    news.push(FolderEvent::Unreadable);
                                }
                                Err(_) => {}
                            }
                        }
                    }
                    Err(Errno::AGAIN) => return Ok(news),
                    Err(Errno::INTR) => {}
                    Err(e) => return Err(e.into()),
                }
                // What was read so far is looked at before more is.
                if reader.is_buffer_empty() && !news.is_empty() {
                    return Ok(news);
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
    pub(in crate::watch) struct FolderEvents(std::convert::Infallible);

    impl FolderEvents {
        pub(in crate::watch) fn of(_: &Path) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in crate::watch) async fn next(&self) -> io::Result<Vec<FolderEvent>> {
            match self.0 {}
        }
    }
}
