//! Slots that many peers want, and which connections lose theirs.

use super::*;
use crate::ingress::session::CallerIdentity;
use tokio::time::timeout;

/// Accepted until this change.
#[derive(Debug)]
struct Until(u64);

impl CallerIdentity for Until {
    fn is_accepted(&self, live: &LiveConfig) -> bool {
        live.change < self.0
    }
}

/// So many connections, of which a key may have so many.
fn live(connections: u64, connections_per_user: u64) -> LiveConfig {
    LiveConfig::with(Limits {
        connections,
        connections_per_user,
        ..Limits::default()
    })
}

/// The state after that.
fn next(live: &LiveConfig) -> LiveConfig {
    LiveConfig {
        change: live.change + 1,
        ..live.clone()
    }
}

/// A user other than our own.
fn other(number: u32) -> PeerKey {
    PeerKey::User(ours_uid() + number)
}

fn ours() -> PeerKey {
    PeerKey::User(ours_uid())
}

fn ours_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn far(last: u8) -> PeerKey {
    PeerKey::Address([10, 0, 0, last].into())
}

/// A call is let in of who is let in until this state.
fn authorize(slot: &ConnectionSlot, live: &LiveConfig, until: u64) {
    slot.session().authorize(live, || Box::new(Until(until)));
}

/// A slot of which a call was let in.
fn authorized(
    limit: &ConnectionLimit,
    key: PeerKey,
    live: &LiveConfig,
) -> Result<ConnectionSlot, ConnectionRefusal> {
    let slot = limit.acquire(key, live)?;
    authorize(&slot, live, u64::MAX);
    Ok(slot)
}

/// True once it was given to another, which has happened by now if it does.
fn is_evicted(slot: &mut ConnectionSlot) -> bool {
    let evicted = slot.evicted.as_mut().map(oneshot::Receiver::try_recv);
    !matches!(evicted, Some(Err(oneshot::error::TryRecvError::Empty)))
}

#[test]
fn places_are_counted_in_all_and_for_each_and_come_free() {
    let live = live(3, 2);
    let limit = ConnectionLimit::default();
    let acquire = |number| authorized(&limit, other(number), &live);
    let first = acquire(1).unwrap();
    let _second = acquire(1).unwrap();
    assert_eq!(acquire(1).unwrap_err(), ConnectionRefusal::Peer(2));
    let _third = acquire(2).unwrap();
    assert_eq!(acquire(2).unwrap_err(), ConnectionRefusal::All(3));
    drop(first);
    let again = acquire(1).unwrap();
    drop(again);
    let connections = limit.connections();
    assert_eq!((connections.open.len(), connections.by_peer.len()), (2, 2));
}

#[test]
fn who_connects_too_often_is_turned_away_and_others_are_not() {
    let live = LiveConfig::with(Limits {
        connections_per_second: 2,
        ..Limits::default()
    });
    let limit = ConnectionLimit::default();
    let acquire = |number| limit.acquire(other(number), &live).map(drop);
    let turned_away = (0..100).filter(|_| acquire(1) == Err(ConnectionRefusal::Rate(2)));
    assert!(turned_away.count() > 50);
    acquire(2).unwrap();
}

#[test]
fn tcp_peers_leave_slots_for_the_unix_socket_and_all_leave_some_for_the_own_user() {
    let live = live(16, 16);
    let limit = ConnectionLimit::default();
    let mut held: Vec<_> = (0..12)
        .map(|last| authorized(&limit, far(last), &live).unwrap())
        .collect();
    assert_eq!(
        limit.acquire(far(99), &live).map(drop).unwrap_err(),
        ConnectionRefusal::Tcp(12)
    );
    for number in [1, 2] {
        held.push(authorized(&limit, other(number), &live).unwrap());
    }
    let refused = limit.acquire(other(3), &live).unwrap_err();
    assert_eq!(refused, ConnectionRefusal::Others(14));
    assert!(refused.to_string().contains("limits.connections"));
    for _ in 0..2 {
        held.push(authorized(&limit, ours(), &live).unwrap());
    }
    assert_eq!(
        limit.acquire(ours(), &live).unwrap_err(),
        ConnectionRefusal::All(16)
    );
    drop(held);
    assert_eq!(limit.connections().others, 0);
    limit.acquire(far(99), &live).unwrap();
}

#[test]
fn one_address_has_half_of_the_places_by_tcp() {
    let live = LiveConfig::with(Limits::default());
    let limit = ConnectionLimit::default();
    let mut held = Vec::new();
    let refused = loop {
        match authorized(&limit, far(1), &live) {
            Ok(slot) => held.push(slot),
            Err(why) => break why,
        }
    };
    assert_eq!((refused, held.len()), (ConnectionRefusal::Address(96), 96));
    held.push(authorized(&limit, far(2), &live).unwrap());
    // Where there is little, everybody may have something.
    let limit = ConnectionLimit::default();
    authorized(&limit, far(1), &self::live(1, 1)).unwrap();
}

#[tokio::test]
async fn who_has_made_no_call_gives_up_its_place_the_oldest_first() {
    let live = live(16, 4);
    let limit = ConnectionLimit::default();
    let first = authorized(&limit, far(1), &live).unwrap();
    let mut candidates: Vec<_> = (0..3)
        .map(|_| limit.acquire(far(1), &live).unwrap())
        .collect();
    let mut another = limit.acquire(far(2), &live).unwrap();
    // Of its own key, though another's is there as well.
    candidates.push(limit.acquire(far(1), &live).unwrap());
    candidates.remove(0).await;
    assert!(!candidates.iter_mut().any(is_evicted) && !is_evicted(&mut another));
    for slot in candidates.iter().chain([&first, &another]) {
        authorize(slot, &live, u64::MAX);
    }
    assert_eq!(
        limit.acquire(far(1), &live).unwrap_err(),
        ConnectionRefusal::Peer(4)
    );
    let connections = || {
        let connections = limit.connections();
        (
            connections.open.len(),
            connections.tcp,
            connections.by_peer.len(),
        )
    };
    assert_eq!(connections(), (5, 5, 2));
    drop((first, another, candidates));
    assert_eq!(connections(), (0, 0, 0));
}

#[test]
fn strangers_of_the_party_that_has_most_of_them_make_way_first() {
    let live = live(16, 16);
    let limit = ConnectionLimit::default();
    // The oldest of all is the only one of its key.
    let mut alone = limit.acquire(far(1), &live).unwrap();
    let mut many: Vec<_> = (0..5)
        .map(|_| limit.acquire(far(2), &live).unwrap())
        .collect();
    let mut few: Vec<_> = (0..4)
        .map(|_| limit.acquire(far(3), &live).unwrap())
        .collect();
    let _known: Vec<_> = (10..12)
        .map(|last| authorized(&limit, far(last), &live).unwrap())
        .collect();
    let mut came = Vec::new();
    for last in 20..26 {
        came.push(authorized(&limit, far(last), &live).unwrap());
    }
    let left = |slots: &mut [ConnectionSlot]| slots.iter_mut().map(is_evicted).collect::<Vec<_>>();
    assert!(!is_evicted(&mut alone));
    assert_eq!(left(&mut many), [true, true, true, true, false]);
    assert_eq!(left(&mut few), [true, true, false, false]);
    assert!(!left(&mut came).contains(&true));
}

#[test]
fn who_is_let_in_no_more_makes_way_and_who_still_is_does_not() {
    let before = live(16, 2);
    let limit = ConnectionLimit::default();
    let mut goes = limit.acquire(far(1), &before).unwrap();
    let mut stays = limit.acquire(far(1), &before).unwrap();
    authorize(&goes, &before, 2);
    authorize(&stays, &before, 3);
    assert_eq!(
        limit.acquire(far(1), &before).unwrap_err(),
        ConnectionRefusal::Peer(2)
    );
    let after = next(&before);
    let mut new = limit.acquire(far(1), &after).unwrap();
    assert!(is_evicted(&mut goes) && !is_evicted(&mut stays));
    // A call comes too late for the slot.
    authorize(&goes, &after, u64::MAX);
    assert!(!goes.session().is_authorized(&after));
    authorize(&new, &after, u64::MAX);
    assert_eq!(
        limit.acquire(far(1), &after).unwrap_err(),
        ConnectionRefusal::Peer(2)
    );
    // On a connection whose caller lost its rights, another caller is admitted: that keeps the slot.
    let last = next(&after);
    assert!(!stays.session().is_authorized(&last));
    authorize(&stays, &last, u64::MAX);
    assert_eq!(
        limit.acquire(far(1), &last).unwrap_err(),
        ConnectionRefusal::Peer(2)
    );
    assert!(!is_evicted(&mut stays) && !is_evicted(&mut new));
}

#[test]
fn who_is_let_in_no_more_is_turned_out_unless_it_comes_again() {
    let before = live(16, 16);
    let limit = ConnectionLimit::default();
    let [mut goes, mut again, mut stays, mut new] =
        [1, 2, 3, 4].map(|last| limit.acquire(far(last), &before).unwrap());
    authorize(&goes, &before, 2);
    authorize(&again, &before, 2);
    authorize(&stays, &before, u64::MAX);
    let after = next(&before);
    let unauthorized = limit.unauthorized(&after);
    assert_eq!(unauthorized, [(goes.number, 1), (again.number, 1)]);
    authorize(&again, &after, 3);
    // It goes once more, and has a time of its own from then on.
    let last = next(&after);
    limit.evict(&unauthorized, &last);
    let gone = [&mut goes, &mut again, &mut stays, &mut new].map(is_evicted);
    assert_eq!(gone, [true, false, false, false]);
    assert_eq!(limit.connections().open.len(), 3);
    assert_eq!(limit.unauthorized(&last), [(again.number, 2)]);
    limit.evict(&[(again.number, 2)], &last);
    assert!(is_evicted(&mut again));
}

#[tokio::test]
async fn a_change_turns_out_whom_it_takes_the_way_in() {
    let uid = ours_uid() + 1;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let gid = rustix::process::getegid().as_raw();
    let head = format!("folder = \"brains\"\nsocket = \"s\"\naccess.socket_group = \"{gid}\"\n");
    let grants = format!("{head}access.users = {{ {uid} = \"read\" }}\n");
    std::fs::write(&file, grants).unwrap();
    let flags = crate::config::Flags {
        config: Some(file.clone()),
        ..Default::default()
    };
    let config = crate::config::Config::load(flags, Arc::new(|_| None)).unwrap();
    let control = Control::new(&config).unwrap();
    let limit = ConnectionLimit::default();
    let live = control.live();
    let slot = limit.acquire(PeerKey::User(uid), &live).unwrap();
    slot.session().authorize(&live, || Box::new(User(uid)));
    let stays = limit.acquire(ours(), &live).unwrap();
    stays
        .session()
        .authorize(&live, || Box::new(User(ours_uid())));
    let watching = limit.watch(&control, Duration::from_millis(20));
    let turned_out = async {
        // The watch has begun by then.
        tokio::task::yield_now().await;
        std::fs::write(&file, &head).unwrap();
        control.reload().unwrap();
        slot.await;
    };
    let turned_out = async {
        tokio::select! {
            () = watching => {}
            () = turned_out => {}
        }
    };
    timeout(Duration::from_secs(20), turned_out)
        .await
        .expect("it keeps its slot");
    assert_eq!(limit.connections().open.len(), 1);
    assert!(stays.session().is_authorized(&control.live()));
}

/// A user of this machine.
#[derive(Debug)]
struct User(u32);

impl CallerIdentity for User {
    fn is_accepted(&self, live: &LiveConfig) -> bool {
        live.access.rights(self.0, 0).most().is_some()
    }
}

#[test]
fn who_gets_no_place_costs_nobody_else_one() {
    let live = live(8, 2);
    let limit = ConnectionLimit::default();
    let mut ours = limit.acquire(ours(), &live).unwrap();
    let mut evict_one = limit.acquire(other(1), &live).unwrap();
    let _held: Vec<_> = [far(1), far(1), far(2), far(3), far(4), far(5)]
        .map(|key| authorized(&limit, key, &live).unwrap())
        .into();
    // Nobody but another's evict_one makes way for who is not our own user.
    let _last = authorized(&limit, other(2), &live).unwrap();
    assert!(is_evicted(&mut evict_one) && !is_evicted(&mut ours));
    assert_eq!(limit.connections().open.len(), 8);
    assert_eq!(
        limit.acquire(far(1), &live).unwrap_err(),
        ConnectionRefusal::Peer(2)
    );
    assert_eq!(
        limit.acquire(far(6), &live).unwrap_err(),
        ConnectionRefusal::Tcp(6)
    );
    assert_eq!(
        limit.acquire(other(3), &live).unwrap_err(),
        ConnectionRefusal::Others(7)
    );
    assert!(!is_evicted(&mut ours));
}
