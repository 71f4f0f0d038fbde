//! Projects of real folders and repositories.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::git::remote_id;
use super::*;

fn place(folder: &Path, variables: &[(&str, &str)]) -> Result<ProjectPlace, ProjectError> {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    let variable = |name: &str| variables.get(name).map(OsString::from);
    let surroundings = Surroundings {
        asked: None,
        variable: &variable,
        current: folder.to_owned(),
    };
    surroundings.place()
}

fn id(folder: &Path) -> Option<String> {
    place(folder, &[])
        .unwrap()
        .project
        .map(|project| project.id)
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

#[test]
fn a_remote_is_host_owner_and_repository_however_it_is_written() {
    for url in [
        "https://github.com/Acme/Shop.git",
        "https://ada:secret@github.com/acme/shop",
        "git@github.com:acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git/",
        "git://github.com/acme/shop.git?x=1",
    ] {
        assert_eq!(
            remote_id(url).as_deref(),
            Some("github.com/acme/shop"),
            "{url}"
        );
    }
    for url in [
        "/srv/git/shop.git",
        "file:///srv/shop",
        "../shop",
        "C:/shop",
        "",
        "x:",
        "a/b:c",
    ] {
        assert_eq!(remote_id(url), None, "{url}");
    }
}

#[test]
fn clones_worktrees_and_moved_folders_are_one_project() {
    let root = tempfile::tempdir().unwrap();
    let (first, second) = (root.path().join("first"), root.path().join("second"));
    fs::create_dir_all(first.join("src/deep")).unwrap();
    let by_path = id(&first).unwrap();
    git(&first, &["init", "-q"]);
    assert_eq!(id(&first).as_ref(), Some(&by_path), "no commit yet");
    git(&first, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let by_commit = id(&first).unwrap();
    assert!(by_commit.starts_with("git-"), "{by_commit}");
    assert_eq!(id(&first.join("src/deep")).as_ref(), Some(&by_commit));
    // A clone by path, a worktree, and a move.
    git(root.path(), &["clone", "-q", "first", "second"]);
    assert_eq!(id(&second).as_ref(), Some(&by_commit));
    git(&first, &["worktree", "add", "-q", "../tree"]);
    assert_eq!(id(&root.path().join("tree")).as_ref(), Some(&by_commit));
    let moved = root.path().join("moved");
    fs::rename(&second, &moved).unwrap();
    assert_eq!(id(&moved).as_ref(), Some(&by_commit));
    // What was remembered before the remote is found after it.
    git(
        &first,
        &["remote", "add", "origin", "git@example.org:Acme/Shop.git"],
    );
    let project = place(&first, &[]).unwrap().project.unwrap();
    assert_eq!(project.id, "example.org/acme/shop");
    assert_eq!(project.label, project.id);
    assert_eq!(project.earlier_ids, [by_commit, by_path]);
}

#[test]
fn home_and_root_are_no_project_and_a_repository_at_home_does_not_spread() {
    let home = tempfile::tempdir().unwrap();
    git(home.path(), &["init", "-q"]);
    git(
        home.path(),
        &["commit", "-q", "--allow-empty", "-m", "dotfiles"],
    );
    let work = home.path().join("work");
    fs::create_dir(&work).unwrap();
    let variables = [("HOME", home.path().to_str().unwrap())];
    assert_eq!(place(home.path(), &variables).unwrap().project, None);
    assert_eq!(place(Path::new("/"), &variables).unwrap().project, None);
    let project = place(&work, &variables).unwrap().project.unwrap();
    assert!(project.id.starts_with("work-"), "{project:?}");
}

#[test]
fn a_name_comes_before_a_folder_and_a_folder_of_a_client_before_the_current_one() {
    let root = tempfile::tempdir().unwrap();
    let other = root.path().join("other");
    fs::create_dir(&other).unwrap();
    let gone = root.path().join("gone");
    let at = |variables: &[(&str, &str)]| place(root.path(), variables).unwrap().project.unwrap();
    assert_eq!(at(&[("AMEM_PROJECT", "shop")]).id, "shop");
    let by_folder = at(&[("CLAUDE_PROJECT_DIR", other.to_str().unwrap())]);
    assert_eq!(by_folder, at(&[("AMEM_PROJECT", other.to_str().unwrap())]));
    assert_eq!(by_folder.label, "other");
    assert_eq!(
        at(&[("GEMINI_PROJECT_DIR", gone.to_str().unwrap())]).label,
        "gone"
    );
    let error = place(root.path(), &[("AMEM_PROJECT", "a\nb")]).unwrap_err();
    assert!(
        error.to_string().contains("no name of a project"),
        "{error}"
    );
}

#[test]
fn the_file_of_a_project_names_it_and_its_brain_and_must_be_toml() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let file = root.path().join(".amem.toml");
    fs::write(
        &file,
        "project = \"shop\"\nbrain = \"work\"\nhooks = false\nlater = 1\n",
    )
    .unwrap();
    let found = place(&deep, &[]).unwrap();
    assert_eq!(found.project, Some(Project::named("shop").unwrap()));
    assert_eq!(found.brain.as_deref(), Some("work"));
    assert!(!found.hooks_enabled);
    for wrong in ["project = 7", "project = \"\"", "=", "hooks = \"no\""] {
        fs::write(&file, wrong).unwrap();
        assert!(place(&deep, &[]).is_err(), "{wrong}");
    }
}
