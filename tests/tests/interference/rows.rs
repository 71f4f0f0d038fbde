//! The table: a tool, and what becomes of the brain whose file it is used on.

/// What becomes of the brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Becomes {
    /// Nothing: it goes on in the same file.
    Same,
    /// The same; the log reports the mode of the file.
    Exposed,
    /// It goes on under its name, in a file of its own; the other file is quarantined as a conflict.
    Kept,
    /// The same; or, if a commit falls in the moment in which the tool has removed the file and not made the other one,
    /// it is saved, and the other file becomes a brain of its name.
    KeptOrSaved,
    /// It is saved from the open file into quarantine, and its name is free.
    Saved,
    /// It goes on; the second name is reported as a rejected file, as long as both are one file.
    Stray,
}

/// One line.
pub(crate) struct Row {
    /// What it is called.
    pub(crate) tool: &'static str,
    /// What a shell does in the folder; `$b` is the brain's file, `$other` another whole brain's.
    pub(crate) script: &'static str,
    /// Whether the tool says that it did it: a brain's file is read-only.
    pub(crate) succeeds: bool,
    pub(crate) becomes: Becomes,
}

pub(crate) const ROWS: [Row; 11] = [
    row("cp", "cp $other $b", false, Becomes::Same),
    row("cp -f", "cp -f $other $b", true, Becomes::KeptOrSaved),
    row("mv", "cp $other x && mv -f x $b", true, Becomes::Kept),
    row("rm", "rm -f $b", true, Becomes::Saved),
    row("mv away", "mv $b away-$b.txt", true, Becomes::Saved),
    row("truncate", "truncate -s 0 $b", false, Becomes::Same),
    row("append", "echo more >> $b", false, Becomes::Same),
    row("chmod", "chmod 644 $b", true, Becomes::Exposed),
    row("touch", "touch $b", true, Becomes::Same),
    row("symlink", "ln -sfn $PWD/$other $b", true, Becomes::Kept),
    row("hard link", "ln $b linked-$b", true, Becomes::Stray),
];

const fn row(tool: &'static str, script: &'static str, succeeds: bool, becomes: Becomes) -> Row {
    Row {
        tool,
        script,
        succeeds,
        becomes,
    }
}

impl Row {
    /// Its line in the documentation.
    pub(crate) fn line(&self) -> String {
        let Self { tool, script, .. } = self;
        let done = if self.succeeds { "done" } else { "refused" };
        let becomes = match self.becomes {
            Becomes::Same => "continues, same file | follows | the same brain",
            Becomes::Exposed => {
                "continues, same file; the log reports its mode, which the next checkpoint restores | follows | the same brain"
            }
            Becomes::Kept => {
                "continues in a new file; the other is quarantined as a conflict | follows | a whole brain: its own old file"
            }
            Becomes::KeptOrSaved => {
                "as `mv`; but if a commit falls between its removal of the file and the new one, as `rm`, and the other file becomes a brain | follows, or shows the old content, or reports the replacement if a checkpoint came before | a whole brain: its own old file"
            }
            Becomes::Saved => {
                "saved in `.amemd/recovered`, its name is free | shows the old content, or reports the replacement if a checkpoint came before | a whole brain: its own old file"
            }
            Becomes::Stray => {
                "continues, same file; the second name is reported, and is a separate brain after the next checkpoint | follows | the same brain"
            }
        };
        format!("| {tool} | `{script}` | {done} | {becomes} |")
    }
}
