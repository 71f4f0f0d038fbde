//! What followers saw, held together: the same commits, in the same order, each once.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::Xxh3;

/// What one follower saw.
#[derive(Debug, Default)]
pub(crate) struct FollowerLog {
    /// Each commit: LSN, time, kind, agent, principal, what it holds.
    pub(crate) commits: Vec<String>,
    /// Microseconds from each commit's time until it was here.
    pub(crate) delays: Vec<i64>,
}

impl FollowerLog {
    /// From the lines that an agent noted.
    pub(crate) fn of(noted: &str) -> Self {
        let mut seen = Self::default();
        for line in noted.lines() {
            let (delay, commit) = line.split_once('\t').unwrap();
            seen.delays.push(delay.parse().unwrap());
            seen.commits.push(commit.to_owned());
        }
        seen
    }

    /// A hash of all that was seen, in order.
    pub(crate) fn hash(&self) -> u64 {
        let mut hash = Xxh3::new();
        for commit in &self.commits {
            hash.update(commit.as_bytes());
            hash.update(b"\n");
        }
        hash.digest()
    }

    /// The LSN of each commit.
    pub(crate) fn lsns(&self) -> impl Iterator<Item = u64> {
        self.commits
            .iter()
            .map(|commit| field(commit, 0).parse().unwrap())
    }

    /// Every commit came once, and none was left out: an LSN is that of a frame, and a small commit has one for what it
    /// does, one for its request, which what the daemon does by itself has not, and one for its agent when that is
    /// first heard of.
    pub(crate) fn check_order(&self) -> Result<(), String> {
        let (mut before, mut agents) = (0, BTreeSet::new());
        for (commit, lsn) in self.commits.iter().zip(self.lsns()) {
            let (agent, principal) = (field(commit, 3), field(commit, 4));
            let has_request = principal != "amemd";
            let is_new = agents.insert((principal, agent));
            if lsn != before + 1 + u64::from(has_request) + u64::from(is_new) {
                return Err(format!("{commit:?} came after LSN {before}"));
            }
            before = lsn;
        }
        Ok(())
    }

    /// The same as another follower saw, in the same order.
    pub(crate) fn check_same(&self, other: &Self) -> Result<(), String> {
        let differs = self.commits.iter().zip(&other.commits);
        if let Some((a, b)) = differs.into_iter().find(|(a, b)| a != b) {
            return Err(format!("{a:?} for one, {b:?} for the other"));
        }
        let (a, b) = (self.commits.len(), other.commits.len());
        if a != b || self.hash() != other.hash() {
            return Err(format!("{a} commits for one, {b} for the other"));
        }
        Ok(())
    }

    /// What any commit holds that begins with a word: that and the words behind it.
    pub(crate) fn holding<'a>(&'a self, word: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
        let changes = self.commits.iter();
        let changes = changes.flat_map(|commit| field(commit, 5).split(" | "));
        let words = changes.map(|change| change.splitn(5, ' ').collect::<Vec<_>>());
        words.filter(move |words| words[0] == word)
    }

    /// The actors that committed after an LSN and until another.
    pub(crate) fn agents(&self, after: u64, until: u64) -> BTreeSet<&str> {
        let among = self.commits.iter().zip(self.lsns());
        let among = among.filter(|(_, lsn)| (after + 1..=until).contains(lsn));
        among.map(|(commit, _)| field(commit, 3)).collect()
    }
}

fn field(commit: &str, at: usize) -> &str {
    commit.splitn(6, '\t').nth(at).unwrap()
}

/// Half of them, 99 of 100, all of them took at most so long.
pub(crate) fn quantiles(mut delays: Vec<i64>) -> String {
    delays.sort_unstable();
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
    let (half, most, all) = (at(0.5), at(0.99), at(1.0));
    format!("p50 {half:.2}, p99 {most:.2}, max {all:.2} ms")
}

#[test]
fn missing_duplicated_swapped_and_foreign_commits_are_reported() {
    let whole = [
        "5\t3\t10\tingest\ta\tu\tevent 0 fact 1 x",
        "6\t6\t20\tingest\tb\tu\tevent 1 fact 1 y",
        "7\t8\t30\tlink\ta\tu\tedge 1 supports 0 1.000",
    ];
    let right = FollowerLog::of(&whole.join("\n"));
    right.check_order().unwrap();
    let slower = whole.join("\n").replace("5\t3", "9\t3");
    right.check_same(&FollowerLog::of(&slower)).unwrap();
    let texts: String = right.holding("event").map(|words| words[4]).collect();
    assert_eq!(texts, "xy");
    assert_eq!(right.agents(2, 6), BTreeSet::from(["a", "b"]));
    assert_eq!(
        quantiles(right.delays.clone()),
        "p50 0.01, p99 0.01, max 0.01 ms"
    );
    let [a, b, c] = whole;
    let (text, agent) = (b.replace(" y", " z"), b.replace("\tb\t", "\tc\t"));
    let rows: [(&[&str], bool); 6] = [
        (&[a, b], true),
        (&[a, c], false),
        (&[a, b, b, c], false),
        (&[b, a, c], false),
        (&[a, &text, c], true),
        (&[a, &agent, c], true),
    ];
    for (noted, is_in_order) in rows {
        let wrong = FollowerLog::of(&noted.join("\n"));
        assert_eq!(wrong.check_order().is_ok(), is_in_order, "{noted:?}");
        assert!(wrong.check_same(&right).is_err(), "{noted:?}");
        assert!(right.check_same(&wrong).is_err(), "{noted:?}");
    }
}
