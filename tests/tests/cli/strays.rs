//! Reports of files that are no brains, and of brains that can't be opened: each by itself.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use amem_tests::programs::number;

use crate::tool::Tool;

/// The folder of the daemon's brains.
fn folder(tool: &Tool) -> PathBuf {
    let status = tool.data("status", 0);
    PathBuf::from(status["status"]["folder"].as_str().unwrap())
}

/// Waits until so many files were rejected.
fn wait_for_rejected(tool: &Tool, count: u64) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let ran = tool.run(&["--json", "status"]);
        let status: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        if number(&status["data"]["status"]["rejectedFiles"]) == count {
            return;
        }
        assert!(Instant::now() < until, "{status}");
    }
}

#[test]
fn an_untracked_file_is_reported_and_only_a_damaged_brain_is_a_failure() {
    let tool = Tool::new();
    tool.refused(
        "status --alive",
        7,
        "no_daemon",
        "no amemd answers",
        "amemd",
    );
    tool.text("-q brain create work");
    let folder = folder(&tool);
    fs::write(folder.join("empty.amem"), "").unwrap();
    for number in 0..24 {
        fs::write(folder.join(format!("stray{number:02}.amem")), "no brain").unwrap();
    }
    wait_for_rejected(&tool, 25);
    let status = tool.data("status", 0)["status"].clone();
    assert_eq!(number(&status["brainCount"]), 1);
    assert_eq!(number(&status["failedBrains"]), 0);
    let text = tool.told("status");
    for words in [
        "files 25 rejected",
        "rejected empty.amem is not adopted: it is empty: put",
        "rejected stray00.amem: ",
        "5 more: `amemctl brain ls --rejected`",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // A list of brains has brains, and a word on what is none.
    let listed = tool.data("brain ls", 0);
    let names = |of: &serde_json::Value| -> Vec<String> {
        let rows = of["brains"].as_array().unwrap().iter();
        rows.map(|row| row["brain"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&listed), ["work"]);
    assert_eq!(number(&listed["rejectedFiles"]), 25);
    assert_eq!(number(&listed["filesWaiting"]), 0);
    let text = tool.told("brain ls");
    assert!(
        text.contains("1 brain\n25 files were rejected: `amemctl brain ls --rejected`\n"),
        "{text}"
    );
    assert!(!text.contains("stray"), "{text}");
    assert_eq!(tool.data("status --alive", 0)["alive"], true);
    let top = tool.told("top --once --interval 0.1");
    assert!(top.contains("20 more: `amemctl brain ls"), "{top}");
    let rejected = tool.data("brain ls --rejected", 1);
    let rejected = rejected["problems"].as_array().unwrap();
    assert_eq!(rejected.len(), 25);
    assert!(rejected.iter().all(|of| of["rejected"] == true));
    // In place: another file would be a stranger.
    tool.text("-q shutdown");
    let work = folder.join("work.amem");
    fs::set_permissions(&work, PermissionsExt::from_mode(0o600)).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&work).unwrap();
    file.write_all_at(&[9], 4).unwrap();
    drop(file);
    tool.run(&["brain", "ls"]);
    // What is in the folder is known once it has been looked at.
    wait_for_rejected(&tool, 25);
    let status = tool.data("status", 1)["status"].clone();
    assert_eq!(
        (&status["brainCount"], &status["failedBrains"]),
        (&"1".into(), &"1".into())
    );
    assert_eq!(status["problems"][0]["brain"], "work");
    assert_eq!(tool.data("status --alive", 0)["alive"], true);
    tool.text("-q shutdown");
}

#[test]
fn a_copy_is_listed_as_a_sibling_before_it_is_opened() {
    let tool = Tool::new();
    tool.text("-q brain create work");
    let folder = folder(&tool);
    fs::copy(folder.join("work.amem"), folder.join("twin.amem")).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let brains = loop {
        let listed = tool.data("brain ls", 0)["brains"].clone();
        // It may have been looked at first when it was half copied.
        if listed.as_array().unwrap().len() == 2 && listed[0]["lineage"].is_string() {
            break listed;
        }
        assert!(Instant::now() < until, "{listed}");
    };
    let (twin, work) = (&brains[0], &brains[1]);
    assert_eq!(
        (&twin["brain"], &twin["open"]),
        (&"twin".into(), &serde_json::Value::Null)
    );
    assert_eq!(twin["lineage"], work["lineage"]);
    assert_ne!(twin["instance"], work["instance"]);
    tool.text("-q shutdown");
}

#[test]
fn refusals_give_a_remedy_to_a_newcomer() {
    let tool = Tool::new();
    tool.text("-q brain create work");
    tool.refused(
        "merge work nothere",
        3,
        "unknown_brain",
        "no other brain",
        "brain ls",
    );
    let ran = tool.run(&["get", "work", "last", "--as-of", "9999999"]);
    assert!(!ran.err.contains("COMMAND"), "{}", ran.err);
    let ran = tool.run(&["conflicts", "--limit", "3", "--as-of", "yesterday"]);
    assert_eq!(ran.exit, 2, "{}", ran.err);
    assert!(ran.err.contains("BRAIN"), "{}", ran.err);
    tool.text("-q shutdown");
}
