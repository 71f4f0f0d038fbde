//! The program, built once as the tests themselves are, and run in a folder of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The program's path.
fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // This test stands in the folder `deps` beside the programs of its profile.
        let own = std::env::current_exe().unwrap();
        let profile = own.parent().and_then(Path::parent).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "amemctl"]);
        build.arg("--target-dir").arg(profile.parent().unwrap());
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let built = build.current_dir(env!("CARGO_MANIFEST_DIR")).status();
        assert!(built.unwrap().success(), "amemctl could not be built");
        profile.join("amemctl")
    })
}

/// A folder of files, and the program in it.
pub(crate) struct Tool(tempfile::TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
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
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// A folder with one file in it.
    pub(crate) fn with(name: &str, bytes: &[u8]) -> Self {
        let tool = Self::new();
        tool.put(name, bytes);
        tool
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
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
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name();
        let mut names: Vec<String> = entries.map(|e| name(e).into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        self.run_with(arguments, Stdio::null())
    }

    /// The program, about to run in the folder.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.0.path()).env_remove("NO_COLOR");
        command
    }

    /// Runs the program with something on stdin.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], stdin: Stdio) -> Ran {
        let output: Output = self
            .command()
            .args(arguments)
            .stdin(stdin)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran {
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

    /// The envelope of an answer, whose `data` is returned; the exit code must be `exit`.
    pub(crate) fn data(&self, line: &str, exit: i32) -> Value {
        let ran = self.run(&words(&format!("--json {line}")));
        assert_eq!(ran.exit, exit, "{line}: {ran:?}");
        assert_eq!(ran.out.lines().count(), 1, "{line}");
        let envelope: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(envelope["amemctl"], 1);
        assert_eq!(envelope["command"], words(line)[0]);
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
        assert!(envelope.get("data").is_none() && envelope["amemctl"] == 1);
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}
