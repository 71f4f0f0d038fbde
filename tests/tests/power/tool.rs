//! The power fails while `amemctl` writes a new file, or as soon as it has said that it did: what was said is there,
//! whole; what was not is there whole, or not at all.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use amem_doctor::verify;
use amem_tests::mounts::{Kind, Mount};
use amem_tests::power::{CutMode, Cutter};
use amem_tests::programs::amemctl;
use amem_tests::random::Random;

use crate::{make_folder, mounted, say, scratch, size};

const EVENTS: usize = 3000;

/// A folder on the file system, with what the tool reads.
struct ToolFolder {
    mount: Mount,
    folder: PathBuf,
}

impl ToolFolder {
    fn new(mount: Mount) -> Self {
        let folder = mount.folder().join("files");
        make_folder(&folder);
        let place = Self { mount, folder };
        let mut lines = String::new();
        for at in 0..EVENTS {
            writeln!(
                lines,
                "{{\"text\":\"event {at} of a brain that is damaged\"}}"
            )
            .unwrap();
        }
        fs::write(place.at("lines.jsonl"), lines).unwrap();
        assert!(
            place
                .start(["import", "lines.jsonl", "damaged.amem"])
                .wait()
                .unwrap()
                .success()
        );
        let mut bytes = fs::read(place.at("damaged.amem")).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(place.at("damaged.amem"), bytes).unwrap();
        for name in ["lines.jsonl", "damaged.amem", ""] {
            File::open(place.at(name)).unwrap().sync_all().unwrap();
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn start(&self, arguments: [&str; 3]) -> Child {
        let mut command = amemctl();
        command.args(arguments).current_dir(&self.folder);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Takes away what a try has left.
    fn clear(&self) {
        for name in ["new.amem", "new.amem.tmp"] {
            if self.at(name).exists() {
                fs::remove_file(self.at(name)).unwrap();
            }
        }
        File::open(&self.folder).unwrap().sync_all().unwrap();
    }
}

/// True if a file is there, which must be whole then.
fn is_there(file: &Path) -> Result<bool, String> {
    match fs::metadata(file) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(format!("{}: {e}", file.display())),
    }
    match verify::file(file) {
        Ok(report) if report.is_whole() => Ok(true),
        Ok(report) => Err(format!("{}: {report:?}", file.display())),
        Err(why) => Err(format!("{}: {why}", file.display())),
    }
}

/// Cuts at random moments of what the tool does, and when it is done.
fn check(kind: Kind) {
    let scratch = scratch();
    let Some(mount) = mounted(
        kind,
        scratch.path(),
        "what a power cut leaves of a new file",
    ) else {
        return;
    };
    let seed = size("AMEM_SEED", std::process::id().into());
    let (mut random, mut cutter) = (Random::new(seed), Cutter::start().unwrap());
    let place = ToolFolder::new(mount);
    let begun = Instant::now();
    let [mut done, mut cut_off, mut there] = [0; 3];
    // How long each takes.
    let works = [
        ["repair", "damaged.amem", "new.amem"],
        ["import", "lines.jsonl", "new.amem"],
    ];
    let mut lasts = works.map(|work| {
        let started = Instant::now();
        place.start(work).wait().unwrap();
        let lasted = started.elapsed();
        place.clear();
        lasted
    });
    for at in 0..size("AMEM_POWER_CUTS", 60) {
        let which = random.below(2) as usize;
        let arguments = works[which];
        let started = Instant::now();
        let mut tool = place.start(arguments);
        let mut ended = None;
        if at % 2 == 0 {
            ended = Some(tool.wait().unwrap());
            lasts[which] = started.elapsed();
        } else {
            std::thread::sleep(Duration::from_micros(
                random.below(lasts[which].as_micros() as u64),
            ));
            ended = tool.try_wait().unwrap().or(ended);
        }
        let how = random.pick(&[CutMode::AtOnce, CutMode::LogFlushed]);
        cutter.cut(place.mount.folder(), how).unwrap();
        drop(tool.kill());
        tool.wait().unwrap();
        place.mount.again().unwrap();
        let what = format!("AMEM_SEED={seed}, {kind}, cut {at}, {arguments:?}");
        let is_there =
            is_there(&place.at("new.amem")).unwrap_or_else(|why| panic!("{what}: {why}"));
        match ended {
            Some(status) => {
                // 1: what was lost of the damaged file is reported.
                let told = arguments[0] == "repair" && status.code() == Some(1);
                assert!(status.success() || told, "{what}: {status}");
                assert!(is_there, "{what}: it was written, and is gone");
                done += 1;
            }
            None => {
                cut_off += 1;
                there += u64::from(is_there);
            }
        }
        place.clear();
    }
    say(&format!(
        "{kind}: {} power cuts under amemctl, {done} when it had ended, {cut_off} before, of which {there} left the new file, \
         damaged 0, gone 0, {:.1} s",
        done + cut_off,
        begun.elapsed().as_secs_f32()
    ));
    assert!(cut_off > 0 || done < 2, "nothing was cut off");
}

#[test]
fn files_written_by_amemctl_survive_power_cuts() {
    for kind in [Kind::Ext4, Kind::Xfs] {
        check(kind);
    }
}

#[test]
fn a_file_written_without_a_sync_is_caught_by_power_cuts() {
    let scratch = scratch();
    let Some(mount) = mounted(Kind::Ext4, scratch.path(), "a file that is not synced") else {
        return;
    };
    let (place, mut cutter) = (ToolFolder::new(mount), Cutter::start().unwrap());
    let mut tool = place.start(["import", "lines.jsonl", "whole.amem"]);
    assert!(tool.wait().unwrap().success());
    // Written and renamed as the tool does it, but for the syncs.
    fs::copy(place.at("whole.amem"), place.at("new.amem.tmp")).unwrap();
    fs::rename(place.at("new.amem.tmp"), place.at("new.amem")).unwrap();
    cutter.cut(place.mount.folder(), CutMode::AtOnce).unwrap();
    place.mount.again().unwrap();
    assert_eq!(is_there(&place.at("whole.amem")), Ok(true));
    let new = is_there(&place.at("new.amem"));
    assert_ne!(new, Ok(true), "the power cut took nothing");
}
