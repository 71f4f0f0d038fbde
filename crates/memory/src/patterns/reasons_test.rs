//! Reasons, conclusions and procedures, as turns say them.

use super::extract::facts_in;
use crate::kind::FactKind;

/// A turn, and its facts: text, kind, and the positions of those that it follows from.
type Row<'r> = (&'r str, &'r [(&'r str, FactKind, &'r [usize])]);

#[test]
fn decisions_have_reasons_and_conclusions_have_observations() {
    use FactKind::{Decision, Fact, Inference, Plan, Skill};
    let rows: [Row<'_>; 22] = [
        (
            "We chose PostgreSQL because it has JSON columns.",
            &[
                ("PostgreSQL has JSON columns", Fact, &[]),
                ("User and others chose PostgreSQL", Decision, &[0]),
            ],
        ),
        (
            "We decided to use Redis for caching since memcached was too limited.",
            &[
                ("Memcached was too limited", Fact, &[]),
                (
                    "User and others decided to use Redis for caching since memcached was too limited",
                    Decision,
                    &[0],
                ),
            ],
        ),
        (
            "We went with Vite because the old bundler was slow",
            &[
                ("The old bundler was slow", Fact, &[]),
                (
                    "User and others went with Vite because the old bundler was slow",
                    Decision,
                    &[0],
                ),
            ],
        ),
        (
            "I'm going to move to Porto because my sister lives there.",
            &[(
                "User is going to move to Porto because their sister lives there",
                Plan,
                &[],
            )],
        ),
        // Nothing says what "it" is, or the reason is a time, or uncertain.
        (
            "We use Redis since 2019.",
            &[("User and others use Redis since 2019", Fact, &[])],
        ),
        (
            "I chose tea because maybe coffee is bad.",
            &[("User chose tea", Decision, &[])],
        ),
        (
            "The build fails on Mondays, that means the cron job is broken.",
            &[
                ("The build fails on Mondays", Fact, &[]),
                ("The cron job is broken", Inference, &[0]),
            ],
        ),
        (
            "The proxy logs nothing at night. This means that the traffic stops before it.",
            &[
                ("The proxy logs nothing at night", Fact, &[]),
                ("The traffic stops before it", Inference, &[0]),
            ],
        ),
        (
            "We use Postgres 16. Therefore the merge statement is available.",
            &[
                ("User and others use Postgres 16", Fact, &[]),
                ("The merge statement is available", Inference, &[0]),
            ],
        ),
        (
            "It turned out that the cache was stale.",
            &[("The cache was stale", Inference, &[])],
        ),
        ("That means it is broken.", &[]),
        ("Does that mean the cache is stale?", &[]),
        ("That means you should restart the server.", &[]),
        (
            "To deploy, run make release and then push the tag.",
            &[(
                "To deploy, run make release and then push the tag",
                Skill,
                &[],
            )],
        ),
        (
            "To run the tests locally, start the database with docker compose first.",
            &[(
                "To run the tests locally, start the database with docker compose first",
                Skill,
                &[],
            )],
        ),
        ("To fix this, change the function.", &[]),
        ("To test it, run the script.", &[]),
        ("To deploy we need a key.", &[]),
        ("No, use pnpm.", &[("User and others use pnpm", Fact, &[])]),
        ("Use pnpm.", &[]),
        ("No, use the other one.", &[]),
        (
            "Nope, use yarn instead",
            &[("User and others use yarn", Fact, &[])],
        ),
    ];
    for (turn, expected) in rows {
        let found = facts_in(turn, "User", &[]);
        let found: Vec<_> = found
            .iter()
            .map(|fact| {
                (
                    fact.text.as_str(),
                    fact.family.kind,
                    fact.because.as_slice(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{turn}");
    }
    let corrected = facts_in("No, use pnpm.", "User", &[]);
    assert!(corrected[0].is_correcting);
}
