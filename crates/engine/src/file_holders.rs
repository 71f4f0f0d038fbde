//! Which processes have a file open or mapped, as far as this one may see: those of its user, and all if it is root.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use amem_store::disk::FileId;

use crate::limits::HOLDERS_TOLD_MAX;

/// A process that has a file open or mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHolder {
    /// Its id.
    pub process: u32,
    /// The name of its program, at most 15 bytes (proc(5), `comm`).
    pub program: String,
}

/// The processes other than this one that have one of the files open or mapped; none where there is no `/proc`.
pub(crate) fn of(files: &[FileId]) -> Vec<FileHolder> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ours = std::process::id();
    let mut found = Vec::new();
    for process in processes.flatten() {
        let number = process.file_name().to_str().and_then(|n| n.parse().ok());
        let Some(number) = number.filter(|number| *number != ours) else {
            continue;
        };
        let path = process.path();
        if has_open(&path, files) || has_mapped(&path, files) {
            let program = fs::read_to_string(path.join("comm")).unwrap_or_default();
            found.push(FileHolder {
                process: number,
                program: program.trim_end().to_owned(),
            });
            if found.len() >= HOLDERS_TOLD_MAX {
                break;
            }
        }
    }
    found.sort_by_key(|holder| holder.process);
    found
}

/// Whether one of a process's descriptors is of one of the files.
fn has_open(process: &Path, files: &[FileId]) -> bool {
    let Ok(descriptors) = fs::read_dir(process.join("fd")) else {
        return false;
    };
    descriptors.flatten().any(|descriptor| {
        // The file itself, whatever name it had.
        let Ok(file) = fs::metadata(descriptor.path()) else {
            return false;
        };
        let is_same = |id: &FileId| (id.device, id.inode) == (file.dev(), file.ino());
        files.iter().any(is_same)
    })
}

/// Whether a process has one of the files mapped: a line has addresses, rights, offset, device and inode (proc(5)).
fn has_mapped(process: &Path, files: &[FileId]) -> bool {
    let Ok(maps) = fs::read_to_string(process.join("maps")) else {
        return false;
    };
    maps.lines().any(|line| {
        let mut parts = line.split_ascii_whitespace().skip(3);
        let (Some(device), Some(inode)) = (parts.next(), parts.next()) else {
            return false;
        };
        files.iter().any(|id| {
            let device_of = |(major, minor)| format!("{major:02x}:{minor:02x}");
            let major_minor = (rustix::fs::major(id.device), rustix::fs::minor(id.device));
            inode == id.inode.to_string() && device == device_of(major_minor)
        })
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_that_has_a_removed_file_open_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, b"bytes").unwrap();
        let meta = fs::metadata(&path).unwrap();
        let id = FileId {
            device: meta.dev(),
            inode: meta.ino(),
            born: 0,
        };
        assert_eq!(of(&[id]), []);
        let mut reader = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(fs::File::options().append(true).open(&path).unwrap())
            .spawn()
            .unwrap();
        fs::remove_file(&path).unwrap();
        let found = of(&[id]);
        let expected = FileHolder {
            process: reader.id(),
            program: "cat".into(),
        };
        reader.stdin.take().unwrap().write_all(b"end").unwrap();
        reader.wait().unwrap();
        assert_eq!(found, [expected]);
        assert_eq!(of(&[id]), []);
    }
}
