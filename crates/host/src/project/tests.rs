//! Projects of real folders and repositories.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::allow::{ALLOWED_FILE, AllowedFolder, AllowedProjects, ProjectClaim};
use super::git::remote_id;
use super::location::of_folder;
use super::*;

fn place(folder: &Path, variables: &[(&str, &str)]) -> Result<ProjectPlace, ProjectError> {
    place_with(folder, variables, &AllowedProjects::default())
}

fn place_with(
    folder: &Path,
    variables: &[(&str, &str)],
    allowed: &AllowedProjects,
) -> Result<ProjectPlace, ProjectError> {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    let variable = |name: &str| variables.get(name).map(OsString::from);
    let surroundings = Surroundings {
        asked: None,
        variable: &variable,
        current: folder.to_owned(),
        allowed,
    };
    surroundings.place()
}

/// The list of a person who allows a place what it says.
fn allowed(place: &ProjectPlace) -> AllowedProjects {
    let says = place.claim.clone().unwrap_or_default();
    let mut allowed = AllowedProjects::default();
    allowed.allow(AllowedFolder {
        folder: place.claimant.clone(),
        project: says.project.clone().unwrap(),
        brain: says.brain.clone(),
        earlier: vec![place.project.clone().unwrap().id, "first-0".to_owned()],
        says,
    });
    allowed
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
fn worktrees_are_one_project_and_a_clone_or_moved_folder_is_one_once_allowed() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (first, second) = (root.join("first"), root.join("second"));
    fs::create_dir_all(first.join("src/deep")).unwrap();
    let by_path = id(&first).unwrap();
    git(&first, &["init", "-q"]);
    git(&first, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(
        &first,
        &["remote", "add", "origin", "git@example.org:Acme/Shop.git"],
    );
    assert_eq!(id(&first).as_ref(), Some(&by_path));
    assert_eq!(id(&first.join("src/deep")).as_ref(), Some(&by_path));
    git(&first, &["worktree", "add", "-q", "../tree"]);
    assert_eq!(id(&root.join("tree")).as_ref(), Some(&by_path));
    // A clone, also a moved one, has a memory of its own.
    git(&root, &["clone", "-q", "first", "second"]);
    git(
        &second,
        &[
            "remote",
            "set-url",
            "origin",
            "https://example.org/acme/shop",
        ],
    );
    let own = place(&second, &[]).unwrap();
    assert_ne!(own.project.as_ref().unwrap().id, by_path);
    let says = own.claim.clone().unwrap();
    assert_eq!(says.project.as_deref(), Some("example.org/acme/shop"));
    let moved = root.join("moved");
    fs::rename(&second, &moved).unwrap();
    let before = own.project.clone().unwrap().id;
    assert_ne!(id(&moved), Some(before.clone()));
    // A person allows it at its place, and finds there what was learnt before.
    let at = place(&moved, &[]).unwrap();
    let list = allowed(&at);
    let joined = place_with(&moved, &[], &list).unwrap();
    let project = joined.project.unwrap();
    assert_eq!(project.id, "example.org/acme/shop");
    assert_eq!(
        project.earlier_ids,
        [at.project.unwrap().id, "first-0".to_owned()]
    );
    assert_eq!(joined.claim, None);
    // Another folder, and the folder with another remote, are not meant.
    assert_eq!(
        place_with(&first, &[], &list).unwrap().project.unwrap().id,
        by_path
    );
    git(
        &moved,
        &[
            "remote",
            "set-url",
            "origin",
            "https://example.org/acme/bank",
        ],
    );
    let changed = place_with(&moved, &[], &list).unwrap();
    assert_ne!(changed.project.unwrap().id, "example.org/acme/shop");
    assert_eq!(
        changed.claim.unwrap().project.as_deref(),
        Some("example.org/acme/bank")
    );
}

#[test]
fn a_folder_that_only_says_it_is_a_worktree_is_a_project_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (first, forged) = (root.join("first"), root.join("forged"));
    fs::create_dir_all(&first).unwrap();
    fs::create_dir_all(&forged).unwrap();
    git(&first, &["init", "-q"]);
    git(&first, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&first, &["worktree", "add", "-q", "../tree"]);
    let target = id(&first).unwrap();
    let of_tree = fs::read_to_string(root.join("tree/.git")).unwrap();
    for text in [
        of_tree.as_str(),
        "gitdir: ../first/.git",
        "gitdir: ../first/.git/worktrees/..",
    ] {
        fs::write(forged.join(".git"), text).unwrap();
        assert_ne!(id(&forged).as_ref(), Some(&target), "{text}");
    }
    fs::remove_file(forged.join(".git")).unwrap();
    std::os::unix::fs::symlink(first.join(".git"), forged.join(".git")).unwrap();
    assert_ne!(id(&forged), Some(target));
}

#[test]
fn a_repository_with_commands_in_its_configuration_runs_none() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("theirs");
    let marker = root.path().join("ran");
    fs::create_dir_all(&folder).unwrap();
    git(&folder, &["init", "-q"]);
    git(&folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let command = format!("touch {}; false", marker.display());
    // What git fetches by itself if the first commit is looked for and an object is missing.
    for (key, value) in [
        ("extensions.partialClone", "evil"),
        ("core.repositoryFormatVersion", "1"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", "."),
        ("remote.evil.uploadpack", &command),
        ("core.fsmonitor", &command),
    ] {
        git(&folder, &["config", key, value]);
    }
    for object in fs::read_dir(folder.join(".git/objects")).unwrap().flatten() {
        if object.file_name().len() == 2 {
            fs::remove_dir_all(object.path()).unwrap();
        }
    }
    assert!(place(&folder, &[]).unwrap().project.is_some());
    assert!(!marker.exists());
}

#[test]
fn pipes_devices_and_links_in_a_folder_are_answered_at_once_and_shown_nowhere() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().to_str().unwrap();
    let names = [
        ".amem.toml",
        ".git",
        ".git/config",
        "real/commondir",
        "real/gitdir",
    ];
    for name in names {
        for kind in ["pipe", "zero", "environment"] {
            let folder = tempfile::tempdir_in(root.path()).unwrap();
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // The files of a linked worktree are beside those that its `.git` names.
            if name.starts_with("real/") {
                fs::write(folder.path().join(".git"), "gitdir: real").unwrap();
                fs::write(folder.path().join("real/commondir"), "..").unwrap();
                let _absent = fs::remove_file(&path);
            }
            match kind {
                "pipe" => {
                    let mode = rustix::fs::Mode::from_raw_mode(0o600);
                    let fifo = rustix::fs::FileType::Fifo;
                    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
                }
                "zero" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
                _ => std::os::unix::fs::symlink("/proc/self/environ", &path).unwrap(),
            }
            let found = place(folder.path(), &[("HOME", home)]);
            match (name, found) {
                (".amem.toml", Err(ProjectError::File(_))) => {}
                (".amem.toml", other) => panic!("{kind}: {other:?}"),
                (_, found) => assert!(found.unwrap().project.is_some(), "{name} {kind}"),
            }
        }
    }
    // What is no TOML is not quoted.
    let folder = tempfile::tempdir_in(root.path()).unwrap();
    fs::write(folder.path().join(".amem.toml"), "\nKEY=s3cret\n").unwrap();
    let error = place(folder.path(), &[]).unwrap_err().to_string();
    assert!(
        error.contains("line 2") && !error.contains("s3cret"),
        "{error}"
    );
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
    assert!(error.to_string().contains("cannot be used"), "{error}");
}

#[test]
fn what_the_file_of_a_folder_says_holds_once_a_person_allowed_it() {
    let root = tempfile::tempdir().unwrap();
    let top = root.path().canonicalize().unwrap();
    let deep = top.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let file = top.join(".amem.toml");
    let said = "project = \"shop\"\nbrain = \"work\"\nhooks = false\nlater = 1\n";
    fs::write(&file, said).unwrap();
    let own = place(&deep, &[]).unwrap();
    assert_eq!(own.project.clone().unwrap(), of_folder(&top));
    assert_eq!((own.brain.as_deref(), own.hooks_enabled), (None, false));
    let list = allowed(&own);
    let found = place_with(&deep, &[], &list).unwrap();
    let project = found.project.unwrap();
    assert_eq!(
        (project.id.as_str(), found.brain.as_deref()),
        ("shop", Some("work"))
    );
    assert_eq!(
        project.earlier_ids,
        [of_folder(&top).id, "first-0".to_owned()]
    );
    // It says something else: that was not allowed.
    fs::write(&file, said.replace("shop", "bank")).unwrap();
    assert_eq!(
        place_with(&deep, &[], &list).unwrap().project,
        Some(of_folder(&top))
    );
    // A file further down, as archives bring it, does not change the project around it.
    git(&top, &["init", "-q"]);
    fs::write(&file, said).unwrap();
    fs::write(top.join("a/.amem.toml"), "project = \"bank\"").unwrap();
    assert_eq!(place(&deep, &[]).unwrap().project, Some(of_folder(&top)));
    for wrong in ["project = 7", "=", "hooks = \"no\""] {
        fs::write(top.join("a/.amem.toml"), wrong).unwrap();
        assert!(place(&deep, &[]).is_err(), "{wrong}");
    }
}

/// An entry that allows a folder to be a project.
fn entry(folder: &Path, project: &str, says: Option<&str>) -> AllowedFolder {
    AllowedFolder {
        folder: folder.to_owned(),
        project: project.to_owned(),
        earlier: Vec::new(),
        brain: None,
        says: ProjectClaim {
            project: says.map(str::to_owned),
            brain: None,
        },
    }
}

#[test]
fn a_claim_further_in_changes_nothing_of_the_project_around_it() {
    let root = tempfile::tempdir().unwrap();
    let top = root.path().canonicalize().unwrap().join("shop");
    let inner = top.join("vendor/bank");
    fs::create_dir_all(&inner).unwrap();
    git(&top, &["init", "-q"]);
    let remote = "https://example.org/acme/shop";
    git(&top, &["remote", "add", "origin", remote]);
    let mut list = AllowedProjects::default();
    list.allow(entry(&top, "shop", Some("example.org/acme/shop")));
    let by_path = of_folder(&top).id;
    let at = |folder: &Path, list: &AllowedProjects| place_with(folder, &[], list).unwrap();
    let id_at = |folder: &Path, list: &AllowedProjects| at(folder, list).project.unwrap().id;
    assert_eq!(id_at(&inner, &list), "shop");
    // What was learned by the path is found without being listed.
    let project = at(&inner, &list).project.unwrap();
    assert_eq!(project.earlier_ids, [by_path]);
    for with_file in [&inner, &top] {
        let file = with_file.join(".amem.toml");
        fs::write(&file, "project = \"bank\"\n").unwrap();
        let found = at(&inner, &list);
        assert_eq!(found.project.unwrap().id, "shop", "{with_file:?}");
        assert_eq!(found.claim.unwrap().project.as_deref(), Some("bank"));
        assert_eq!(&found.claimant, with_file);
        fs::remove_file(&file).unwrap();
    }
    // A part that a person allowed to be another project does not get the memory around it.
    fs::write(inner.join(".amem.toml"), "project = \"bank\"\n").unwrap();
    let unallowed = at(&inner, &AllowedProjects::default());
    assert_eq!(unallowed.path_id, None);
    list.allow(entry(&inner, "bank", Some("bank")));
    let found = at(&inner, &list);
    assert_eq!(found.project.unwrap(), Project::named("bank").unwrap());
    assert_eq!((found.claim, found.claimant), (None, inner));
    assert_eq!(id_at(&top, &list), "shop");
}

#[test]
fn a_project_that_a_person_named_holds_while_the_folder_says_nothing() {
    let root = tempfile::tempdir().unwrap();
    let top = root.path().canonicalize().unwrap().join("shop");
    fs::create_dir_all(top.join("src")).unwrap();
    let mut list = AllowedProjects::default();
    list.allow(entry(&top, "by hand", None));
    git(&top, &["init", "-q"]);
    let id_now = || {
        let found = place_with(&top.join("src"), &[], &list).unwrap();
        found.project.unwrap().id
    };
    assert_eq!(id_now(), "by hand");
    fs::write(top.join(".amem.toml"), "project = \"bank\"\n").unwrap();
    assert_eq!(id_now(), of_folder(&top).id);
}

#[test]
fn a_worktree_of_an_allowed_repository_needs_nothing() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (first, tree) = (root.join("first"), root.join("tree"));
    fs::create_dir_all(&first).unwrap();
    git(&first, &["init", "-q"]);
    fs::write(first.join(".amem.toml"), "project = \"shop\"\n").unwrap();
    git(&first, &["add", ".amem.toml"]);
    git(&first, &["commit", "-q", "-m", "first"]);
    git(&first, &["worktree", "add", "-q", "../tree"]);
    let mut list = AllowedProjects::default();
    list.allow(entry(&first, "shop", Some("shop")));
    let at_tree = || place_with(&tree, &[], &list).unwrap();
    let found = at_tree();
    assert_eq!(
        (found.project.unwrap().id.as_str(), found.claim),
        ("shop", None)
    );
    // Its branch says something else.
    fs::write(tree.join(".amem.toml"), "project = \"bank\"\n").unwrap();
    let found = at_tree();
    assert_eq!(found.project, Some(of_folder(&first)));
    assert_eq!(found.claim.unwrap().project.as_deref(), Some("bank"));
}

#[test]
fn hooks_are_off_below_a_folder_that_switches_them_off() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    fs::write(root.path().join(".amem.toml"), "hooks = false\n").unwrap();
    fs::write(inner.join(".amem.toml"), "hooks = true\n").unwrap();
    assert!(!place(&inner, &[]).unwrap().hooks_enabled);
    // A project that is named by its name has the switch of its folder, and its faults.
    let named = [("AMEM_PROJECT", "shop")];
    assert!(!place(&inner, &named).unwrap().hooks_enabled);
    fs::write(inner.join(".amem.toml"), "hooks = 1\n").unwrap();
    assert!(place(&inner, &named).is_err());
}

#[test]
fn a_brain_for_the_projects_of_a_folder_is_allowed_for_each() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    fs::write(root.join(".amem.toml"), "brain = \"work\"\n").unwrap();
    let mut list = AllowedProjects::default();
    for name in ["shop", "bank"] {
        let folder = root.join(name);
        fs::create_dir(&folder).unwrap();
        git(&folder, &["init", "-q"]);
        let own = place_with(&folder, &[], &list).unwrap();
        assert_eq!(
            (own.claimant.as_path(), own.brain),
            (folder.as_path(), None)
        );
        let id = own.project.unwrap().id;
        list.allow(AllowedFolder {
            says: own.claim.unwrap(),
            brain: Some("work".to_owned()),
            ..entry(&folder, &id, None)
        });
    }
    for name in ["shop", "bank"] {
        let found = place_with(&root.join(name), &[], &list).unwrap();
        assert_eq!(found.brain.as_deref(), Some("work"));
        assert_eq!(found.project.unwrap().id, of_folder(&root.join(name)).id);
    }
}

#[test]
fn the_list_of_a_person_is_read_as_it_was_written_and_only_if_it_is_private() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join(ALLOWED_FILE);
    let entry = |folder: &str, brain: Option<&str>| AllowedFolder {
        folder: folder.into(),
        says: ProjectClaim {
            project: Some("a \"b\"".to_owned()),
            brain: brain.map(str::to_owned),
        },
        project: "shop".to_owned(),
        earlier: Vec::new(),
        brain: brain.map(str::to_owned),
    };
    let mut list = AllowedProjects::default();
    assert_eq!(AllowedProjects::read(&path).unwrap(), list);
    list.allow(entry("/srv/one", None));
    list.allow(entry("/srv/two", Some("work")));
    list.allow(entry("/srv/one", Some("other")));
    assert_eq!(list.entries().len(), 2);
    fs::write(&path, list.to_toml().unwrap()).unwrap();
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o600);
    assert_eq!(AllowedProjects::read(&path).unwrap(), list);
    mode(0o644);
    assert!(AllowedProjects::read(&path).is_err());
    mode(0o600);
    let no_name = "[[allowed]]\nfolder = \"/srv/one\"\nproject = \"\"\n";
    for wrong in ["allowed = 7", no_name] {
        fs::write(&path, wrong).unwrap();
        let error = AllowedProjects::read(&path).unwrap_err().to_string();
        assert!(error.contains("allow the projects again"), "{error}");
    }
    assert!(list.forbid(Path::new("/srv/two")) && !list.forbid(Path::new("/srv/two")));
}
