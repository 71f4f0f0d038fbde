//! The program, run in a folder and a home of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use amem_tests::programs::amemctl;
use serde_json::Value;

/// A folder of files, and the program in it; a daemon that it started ends with it.
pub(crate) struct Tool {
    folder: tempfile::TempDir,
    /// A user's own files: nothing of the user that runs the tests is seen or touched.
    home: tempfile::TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct RunOutput {
    /// The exit code.
    pub(crate) exit: i32,
    /// What was written to stdout.
    pub(crate) out: String,
    /// What was written to stderr.
    pub(crate) err: String,
}

impl Tool {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
            // Sockets have short paths.
            home: tempfile::Builder::new()
                .prefix("amemctl")
                .tempdir()
                .unwrap(),
        }
    }

    /// A folder with one file in it.
    pub(crate) fn with(name: &str, bytes: &[u8]) -> Self {
        let tool = Self::new();
        tool.put(name, bytes);
        tool
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Reads a file.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let name = |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name();
        let mut names: Vec<String> = entries.map(|e| name(e).into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> RunOutput {
        self.run_with(arguments, Stdio::null())
    }

    /// The program, about to run in the folder.
    pub(crate) fn command(&self) -> Command {
        let mut command = amemctl();
        command.current_dir(self.folder.path());
        command.env_remove("NO_COLOR").env("HOME", self.home.path());
        // Whatever daemon this machine has, ours is another.
        command.env("AMEMD_SOCKET", self.socket());
        command
    }

    /// The socket of the daemon that is started by the first command that needs one: the default one of this home.
    pub(crate) fn socket(&self) -> PathBuf {
        self.home.path().join(".local/share/amem/run/amemd.sock")
    }

    /// A user's folder of their own.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Runs the program with something on stdin.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], stdin: Stdio) -> RunOutput {
        let output: Output = self
            .command()
            .args(arguments)
            .stdin(stdin)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        RunOutput {
            exit: output.status.code().expect("it must not be killed"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// What it prints when all goes well.
    pub(crate) fn text(&self, line: &str) -> String {
        let ran = self.run(&words(line));
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{line}: {}", ran.out);
        ran.out
    }

    /// What it prints when all goes well, with what differs from run to run in words: TIME, AGO; spaces are one.
    pub(crate) fn told(&self, line: &str) -> String {
        let lines = self.text(line);
        let lines = lines.lines().map(|line| without_times(line) + "\n");
        lines.collect()
    }

    /// The envelope of an answer.
    pub(crate) fn envelope(&self, line: &str) -> Value {
        let ran = self.run(&words(&format!("--json {line}")));
        serde_json::from_str(&ran.out).unwrap()
    }

    /// The envelope of an answer, whose `data` is returned; the exit code must be `exit`.
    pub(crate) fn data(&self, line: &str, exit: i32) -> Value {
        self.data_of(&words(line), exit)
    }

    /// The same with flags before the command.
    pub(crate) fn data_after(&self, flags: &str, line: &str, exit: i32) -> Value {
        let line = format!("{flags} {line}");
        let ran = self.run(&words(&format!("--json {line}")));
        assert_eq!(ran.exit, exit, "{line}: {ran:?}");
        let envelope: Value = serde_json::from_str(&ran.out).unwrap();
        envelope["data"].clone()
    }

    /// The same of a command in words.
    pub(crate) fn data_of<S: AsRef<str>>(&self, words: &[S], exit: i32) -> Value {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let ran = self.run(&[&["--json"], &words[..]].concat());
        let line = words.join(" ");
        assert_eq!(ran.exit, exit, "{line}: {ran:?}");
        assert_eq!(ran.out.lines().count(), 1, "{line}");
        let envelope: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(envelope["amemctl"], 2);
        let mut named = words.iter().filter(|word| !word.starts_with('-'));
        let command = match (*named.next().unwrap(), named.next()) {
            ("ls", _) => "query".to_owned(),
            (group @ ("brain" | "sessions" | "token"), Some(act)) => format!("{group} {act}"),
            (command, _) => command.to_owned(),
        };
        assert_eq!(envelope["command"], command);
        assert!(envelope["error"].is_null(), "{line}: {envelope}");
        envelope["data"].clone()
    }

    /// Fails as expected, both ways: exit code and code of the failure; part of the message and of the remedy.
    pub(crate) fn refused(&self, line: &str, exit: i32, code: &str, message: &str, remedy: &str) {
        let ran = self.run(&words(line));
        assert_eq!((ran.exit, ran.out.as_str()), (exit, ""), "{line}: {ran:?}");
        let lines: Vec<&str> = ran.err.lines().collect();
        let [said, advice] = lines[..] else {
            panic!("{line}: {ran:?}");
        };
        assert!(
            said.starts_with("error: ") && said.contains(message),
            "{line}: {said}"
        );
        assert!(
            advice.starts_with("remedy: ") && advice.contains(remedy),
            "{line}: {advice}"
        );
        let ran = self.run(&words(&format!("--json {line}")));
        assert_eq!((ran.exit, ran.err.as_str()), (exit, ""), "{line}: {ran:?}");
        let envelope: Value = serde_json::from_str(&ran.out).unwrap();
        let error = &envelope["error"];
        assert_eq!(
            (&error["code"], &error["exit"]),
            (&code.into(), &exit.into()),
            "{line}: {envelope}"
        );
        assert_eq!(error["message"], said["error: ".len()..], "{line}");
        assert_eq!(error["remedy"], advice["remedy: ".len()..], "{line}");
        assert!(envelope.get("data").is_none() && envelope["amemctl"] == 2);
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        if self.socket().exists() {
            let ended = self.command().args(["-q", "shutdown"]).status();
            // A test that fails already is reported by its own failure.
            if !std::thread::panicking() {
                assert!(ended.unwrap().success(), "amemd could not be ended");
            }
        }
    }
}

/// The words of a line; those between single quotes are one.
pub(crate) fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

/// A line with TIME for times and AGO for how long ago they were; its words are apart by one space.
pub(crate) fn without_times(line: &str) -> String {
    let indent: String = line.chars().take_while(|c| *c == ' ').take(1).collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let rest = &words[at..];
        let bare = |word: &str| word.trim_matches(['(', ')', ':', ',']).to_owned();
        let (taken, told) = match rest {
            [just, now, ..] if bare(just) == "just" && bare(now) == "now" => (2, "AGO"),
            [number, _, ago, ..] if bare(ago) == "ago" && bare(number).parse::<u64>().is_ok() => {
                (3, "AGO")
            }
            [time, ..] if is_time(&bare(time)) => (1, "TIME"),
            _ => (1, ""),
        };
        out.push(match told {
            "" => (*word).to_owned(),
            told => {
                let all = rest[..taken].join(" ");
                let front = all.chars().take_while(|c| "(".contains(*c));
                let back = all.chars().rev().take_while(|c| "):,".contains(*c));
                let back: String = back.collect::<Vec<_>>().into_iter().rev().collect();
                format!("{}{told}{back}", front.collect::<String>())
            }
        });
        at += taken;
    }
    indent + &out.join(" ")
}

/// RFC 3339 in UTC, or the time of a day.
fn is_time(word: &str) -> bool {
    let is_instant = word.len() >= 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
    let is_clock = word.len() == 8 && word.as_bytes()[2] == b':' && word.as_bytes()[5] == b':';
    is_instant || is_clock
}
