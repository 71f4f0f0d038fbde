//! What fails the power of a file system: the ioctl by which ext4 and XFS stop at once, as if the machine had.
//!
//! The call is made by a script that runs all the while, as there is no safe way to make it from here.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime};

/// EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are one number: `_IOR('X', 125, u32)`.
const SCRIPT: &str = r"
import fcntl, os, struct, sys, time
print('ready', flush=True)
for line in sys.stdin:
    how, path = line.rstrip('\n').split(' ', 1)
    try:
        at = os.open(path, os.O_RDONLY)
        now = time.time_ns()
        fcntl.ioctl(at, 0x8004587D, struct.pack('I', int(how)))
        os.close(at)
        print('done', now, flush=True)
    except OSError as why:
        print(why, flush=True)
";

/// What of the file system's own journal reaches the medium before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutMode {
    /// What its journal has in memory.
    LogFlushed = 1,
    /// Nothing.
    AtOnce = 2,
}

/// A process that fails the power on demand; it ends when it is dropped.
#[derive(Debug)]
pub struct Cutter {
    child: Child,
    tell: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Cutter {
    /// Starts it.
    ///
    /// # Errors
    /// Why it can't be.
    pub fn start() -> Result<Self, String> {
        let mut command = Command::new("python3");
        command.args(["-S", "-c", SCRIPT]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("python3: {e}"))?;
        let (Some(tell), Some(said)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("python3 without pipes".into());
        };
        let said = BufReader::new(said);
        let mut cutter = Self { child, tell, said };
        match cutter.hear()?.as_str() {
            "ready" => Ok(cutter),
            other => Err(format!("python3: {other}")),
        }
    }

    /// Fails the power of the file system that is mounted here. Gives the time just before.
    ///
    /// # Errors
    /// Why it can't be done.
    pub fn cut(&mut self, mounted: &Path, how: CutMode) -> Result<SystemTime, String> {
        writeln!(self.tell, "{} {}", how as u32, mounted.display())
            .and_then(|()| self.tell.flush())
            .map_err(|e| format!("python3: {e}"))?;
        let heard = self.hear()?;
        let at = heard.strip_prefix("done ").and_then(|at| at.parse().ok());
        match at {
            Some(nanos) => Ok(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos)),
            None => Err(heard),
        }
    }

    fn hear(&mut self) -> Result<String, String> {
        let mut line = String::new();
        let heard = self.said.read_line(&mut line);
        heard.map_err(|e| format!("python3: {e}"))?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
