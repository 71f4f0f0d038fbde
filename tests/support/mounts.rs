//! File systems of a test's own: an image in a file, a loop device on it, a folder where it is mounted.
//!
//! Promises: what is dropped is unmounted and its device let go, also when the test fails; two at the same time don't
//! meet; a machine where this can't be done says why. Not here: what is done on them, and when the power fails
//! (`power::Cutter`).

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// How often unmounting is tried while a process still uses it.
const TRIES: u32 = 200;
/// How long between two tries.
const BETWEEN: Duration = Duration::from_millis(5);

/// What a file system is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// ext4 with its journal.
    Ext4,
    /// ext4 without one.
    Ext4NoJournal,
    /// ext3, which is ext4's code with block maps.
    Ext3,
    /// XFS.
    Xfs,
    /// btrfs.
    Btrfs,
}

impl Kind {
    /// Its name, as people say it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Ext4NoJournal => "ext4 without a journal",
            Self::Ext3 => "ext3",
            Self::Xfs => "XFS",
            Self::Btrfs => "btrfs",
        }
    }

    /// Bytes of an image that it can be made in.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Ext4 | Self::Ext4NoJournal | Self::Ext3 => 64 << 20,
            Self::Xfs => 320 << 20,
            Self::Btrfs => 128 << 20,
        }
    }

    /// What makes one: nothing of it is smaller than a page, see `Mount::write_in_pages`.
    fn make(self) -> Command {
        let (program, arguments): (_, &[&str]) = match self {
            Self::Ext4 => ("mkfs.ext4", &["-q", "-F", "-b", "4096"]),
            Self::Ext4NoJournal => (
                "mkfs.ext4",
                &["-q", "-F", "-b", "4096", "-O", "^has_journal"],
            ),
            Self::Ext3 => ("mkfs.ext3", &["-q", "-F", "-b", "4096"]),
            Self::Xfs => ("mkfs.xfs", &["-q", "-f", "-s", "size=4096"]),
            Self::Btrfs => ("mkfs.btrfs", &["-q", "-f"]),
        };
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A file system on a loop device.
#[derive(Debug)]
pub struct Mount {
    image: PathBuf,
    device: String,
    folder: PathBuf,
}

impl Mount {
    /// Makes one below a folder that is its own, and mounts it.
    ///
    /// # Errors
    /// Why this can't be done here: no such program, no right to, no loop device left.
    pub fn make(kind: Kind, below: &Path) -> Result<Self, String> {
        let image = below.join("image");
        let folder = below.join("mounted");
        let made = File::create_new(&image).and_then(|file| file.set_len(kind.bytes()));
        made.and_then(|()| fs::create_dir(&folder))
            .map_err(|e| format!("{}: {e}", below.display()))?;
        run(kind.make().arg(&image))?;
        let device = run(Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&image))?;
        let mount = Self {
            image,
            device: device.trim().to_owned(),
            folder,
        };
        mount.mount()?;
        Ok(mount)
    }

    /// Where it is mounted.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that it is in.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// The loop device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Has the device write a page at a time.
    ///
    /// Where the image can't grow, the loop device takes a write that was done in part for one that was done (Linux
    /// 6.18: of 96 KiB that it said were written, 32 were there). No store can live with a medium that lies so; one
    /// page is written as a whole or fails.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_in_pages(&self) -> Result<(), String> {
        let device = self.device.trim_start_matches("/dev/");
        let limit = format!("/sys/block/{device}/queue/max_sectors_kb");
        fs::write(&limit, "4").map_err(|e| format!("{limit}: {e}"))
    }

    /// Mounts it.
    ///
    /// # Errors
    /// What the system says.
    pub fn mount(&self) -> Result<(), String> {
        run(Command::new("mount").arg(&self.device).arg(&self.folder)).map(drop)
    }

    /// Mounts it with other options.
    ///
    /// # Errors
    /// What the system says.
    pub fn remount(&self, options: &str) -> Result<(), String> {
        let options = format!("remount,{options}");
        run(Command::new("mount")
            .args(["-o", &options])
            .arg(&self.folder))
        .map(drop)
    }

    /// Unmounts it, once no process uses it any more.
    ///
    /// # Errors
    /// What the system says if a process goes on to use it.
    pub fn unmount(&self) -> Result<(), String> {
        let mut done = Err(String::new());
        for _ in 0..TRIES {
            done = run(Command::new("umount").arg(&self.folder)).map(drop);
            match &done {
                Err(why) if why.contains("busy") => thread::sleep(BETWEEN),
                _ => break,
            }
        }
        done
    }

    /// Unmounts and mounts again: what is there then is on the medium.
    ///
    /// # Errors
    /// What the system says.
    pub fn again(&self) -> Result<(), String> {
        self.unmount()?;
        self.mount()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // It may be unmounted already; what a process still uses goes once that is done.
        if self.unmount().is_err() {
            drop(run(Command::new("umount").arg("-l").arg(&self.folder)));
        }
        drop(run(Command::new("losetup").args(["-d", &self.device])));
    }
}

/// A file system in memory, no larger than the given size.
#[derive(Debug)]
pub struct Memory(PathBuf);

impl Memory {
    /// Mounts one at a folder that is there.
    ///
    /// # Errors
    /// Why this can't be done here.
    pub fn make(folder: &Path, bytes: u64) -> Result<Self, String> {
        let size = format!("size={bytes}");
        run(Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder))?;
        Ok(Self(folder.to_owned()))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        drop(run(Command::new("umount").arg("-l").arg(&self.0)));
    }
}

/// Why file systems can't be made and mounted here, if so.
pub fn cannot() -> Option<String> {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(why) => return Some(why.to_string()),
    };
    Mount::make(Kind::Ext4, folder.path()).err()
}

/// Runs a program of the system; gives what it says.
fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{program}: {e}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(said(&output.stdout))
    } else {
        Err(format!("{program}: {}", said(&output.stderr)))
    }
}
