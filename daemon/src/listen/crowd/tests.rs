//! Places that many want, and who makes way.

use super::*;
use crate::listen::fate::Visitor;
use tokio::time::timeout;

/// Who is let in by states before this one.
#[derive(Debug)]
struct Until(u64);

impl Visitor for Until {
    fn is_let_in(&self, live: &Live) -> bool {
        live.change < self.0
    }
}

/// So many connections, of which a party may have so many.
fn live(connections: u64, connections_per_user: u64) -> Live {
    Live::with(Limits {
        connections,
        connections_per_user,
        ..Limits::default()
    })
}

/// The state after that.
fn next(live: &Live) -> Live {
    Live {
        change: live.change + 1,
        ..live.clone()
    }
}

/// A user other than our own.
fn other(number: u32) -> Party {
    Party::User(ours_uid() + number)
}

fn ours() -> Party {
    Party::User(ours_uid())
}

fn ours_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn far(last: u8) -> Party {
    Party::Address([10, 0, 0, last].into())
}

/// A call is let in of who is let in until this state.
fn let_in(place: &Place, live: &Live, until: u64) {
    place.fate().let_in(live, || Box::new(Until(until)));
}

/// A place of which a call was let in.
fn known(crowd: &Crowd, party: Party, live: &Live) -> Result<Place, Full> {
    let place = crowd.enter(party, live)?;
    let_in(&place, live, u64::MAX);
    Ok(place)
}

/// True once it was given to another, which has happened by now if it does.
fn is_given_up(place: &mut Place) -> bool {
    let given_up = place.given_up.as_mut().map(oneshot::Receiver::try_recv);
    !matches!(given_up, Some(Err(oneshot::error::TryRecvError::Empty)))
}

#[test]
fn places_are_counted_in_all_and_for_each_and_come_free() {
    let live = live(3, 2);
    let crowd = Crowd::default();
    let enter = |number| known(&crowd, other(number), &live);
    let first = enter(1).unwrap();
    let _second = enter(1).unwrap();
    assert_eq!(enter(1).unwrap_err(), Full::Party(2));
    let _third = enter(2).unwrap();
    assert_eq!(enter(2).unwrap_err(), Full::All(3));
    drop(first);
    let again = enter(1).unwrap();
    drop(again);
    let counts = crowd.counts();
    assert_eq!((counts.taken.len(), counts.parties.len()), (2, 2));
}

#[test]
fn who_connects_too_often_is_turned_away_and_others_are_not() {
    let live = Live::with(Limits {
        connections_per_second: 2,
        ..Limits::default()
    });
    let crowd = Crowd::default();
    let enter = |number| crowd.enter(other(number), &live).map(drop);
    let turned_away = (0..100).filter(|_| enter(1) == Err(Full::Rate(2)));
    assert!(turned_away.count() > 50);
    enter(2).unwrap();
}

#[test]
fn tcp_peers_leave_slots_for_the_unix_socket_and_all_leave_some_for_the_own_user() {
    let live = live(16, 16);
    let crowd = Crowd::default();
    let mut held: Vec<_> = (0..12)
        .map(|last| known(&crowd, far(last), &live).unwrap())
        .collect();
    assert_eq!(
        crowd.enter(far(99), &live).map(drop).unwrap_err(),
        Full::Tcp(12)
    );
    for number in [1, 2] {
        held.push(known(&crowd, other(number), &live).unwrap());
    }
    let refused = crowd.enter(other(3), &live).unwrap_err();
    assert_eq!(refused, Full::Others(14));
    assert!(refused.to_string().contains("limits.connections"));
    for _ in 0..2 {
        held.push(known(&crowd, ours(), &live).unwrap());
    }
    assert_eq!(crowd.enter(ours(), &live).unwrap_err(), Full::All(16));
    drop(held);
    assert_eq!(crowd.counts().others, 0);
    crowd.enter(far(99), &live).unwrap();
}

#[test]
fn one_address_has_half_of_the_places_by_tcp() {
    let live = Live::with(Limits::default());
    let crowd = Crowd::default();
    let mut held = Vec::new();
    let refused = loop {
        match known(&crowd, far(1), &live) {
            Ok(place) => held.push(place),
            Err(why) => break why,
        }
    };
    assert_eq!((refused, held.len()), (Full::Address(96), 96));
    held.push(known(&crowd, far(2), &live).unwrap());
    // Where there is little, everybody may have something.
    let crowd = Crowd::default();
    known(&crowd, far(1), &self::live(1, 1)).unwrap();
}

#[tokio::test]
async fn who_has_made_no_call_gives_up_its_place_the_oldest_first() {
    let live = live(16, 4);
    let crowd = Crowd::default();
    let first = known(&crowd, far(1), &live).unwrap();
    let mut strangers: Vec<_> = (0..3)
        .map(|_| crowd.enter(far(1), &live).unwrap())
        .collect();
    let mut another = crowd.enter(far(2), &live).unwrap();
    // Of its own party, though another's is there as well.
    strangers.push(crowd.enter(far(1), &live).unwrap());
    strangers.remove(0).await;
    assert!(!strangers.iter_mut().any(is_given_up) && !is_given_up(&mut another));
    for place in strangers.iter().chain([&first, &another]) {
        let_in(place, &live, u64::MAX);
    }
    assert_eq!(crowd.enter(far(1), &live).unwrap_err(), Full::Party(4));
    let counts = || {
        let counts = crowd.counts();
        (counts.taken.len(), counts.tcp, counts.parties.len())
    };
    assert_eq!(counts(), (5, 5, 2));
    drop((first, another, strangers));
    assert_eq!(counts(), (0, 0, 0));
}

#[test]
fn strangers_of_the_party_that_has_most_of_them_make_way_first() {
    let live = live(16, 16);
    let crowd = Crowd::default();
    // The oldest of all is the only one of its party.
    let mut alone = crowd.enter(far(1), &live).unwrap();
    let mut many: Vec<_> = (0..5)
        .map(|_| crowd.enter(far(2), &live).unwrap())
        .collect();
    let mut few: Vec<_> = (0..4)
        .map(|_| crowd.enter(far(3), &live).unwrap())
        .collect();
    let _known: Vec<_> = (10..12)
        .map(|last| known(&crowd, far(last), &live).unwrap())
        .collect();
    let mut came = Vec::new();
    for last in 20..26 {
        came.push(known(&crowd, far(last), &live).unwrap());
    }
    let left = |places: &mut [Place]| places.iter_mut().map(is_given_up).collect::<Vec<_>>();
    assert!(!is_given_up(&mut alone));
    assert_eq!(left(&mut many), [true, true, true, true, false]);
    assert_eq!(left(&mut few), [true, true, false, false]);
    assert!(!left(&mut came).contains(&true));
}

#[test]
fn who_is_let_in_no_more_makes_way_and_who_still_is_does_not() {
    let before = live(16, 2);
    let crowd = Crowd::default();
    let mut goes = crowd.enter(far(1), &before).unwrap();
    let mut stays = crowd.enter(far(1), &before).unwrap();
    let_in(&goes, &before, 2);
    let_in(&stays, &before, 3);
    assert_eq!(crowd.enter(far(1), &before).unwrap_err(), Full::Party(2));
    let after = next(&before);
    let mut new = crowd.enter(far(1), &after).unwrap();
    assert!(is_given_up(&mut goes) && !is_given_up(&mut stays));
    // A call comes too late for the place.
    let_in(&goes, &after, u64::MAX);
    assert!(!goes.fate().is_known(&after));
    let_in(&new, &after, u64::MAX);
    assert_eq!(crowd.enter(far(1), &after).unwrap_err(), Full::Party(2));
    // Of who is let in no more, a call of somebody else is let in: that keeps the place.
    let last = next(&after);
    assert!(!stays.fate().is_known(&last));
    let_in(&stays, &last, u64::MAX);
    assert_eq!(crowd.enter(far(1), &last).unwrap_err(), Full::Party(2));
    assert!(!is_given_up(&mut stays) && !is_given_up(&mut new));
}

#[test]
fn who_is_let_in_no_more_is_turned_out_unless_it_comes_again() {
    let before = live(16, 16);
    let crowd = Crowd::default();
    let [mut goes, mut again, mut stays, mut new] =
        [1, 2, 3, 4].map(|last| crowd.enter(far(last), &before).unwrap());
    let_in(&goes, &before, 2);
    let_in(&again, &before, 2);
    let_in(&stays, &before, u64::MAX);
    let after = next(&before);
    let outsiders = crowd.outsiders(&after);
    assert_eq!(outsiders, [(goes.number, 1), (again.number, 1)]);
    let_in(&again, &after, 3);
    // It goes once more, and has a time of its own from then on.
    let last = next(&after);
    crowd.turn_out(&outsiders, &last);
    let gone = [&mut goes, &mut again, &mut stays, &mut new].map(is_given_up);
    assert_eq!(gone, [true, false, false, false]);
    assert_eq!(crowd.counts().taken.len(), 3);
    assert_eq!(crowd.outsiders(&last), [(again.number, 2)]);
    crowd.turn_out(&[(again.number, 2)], &last);
    assert!(is_given_up(&mut again));
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
    let crowd = Crowd::default();
    let live = control.live();
    let place = crowd.enter(Party::User(uid), &live).unwrap();
    place.fate().let_in(&live, || Box::new(User(uid)));
    let stays = crowd.enter(ours(), &live).unwrap();
    stays.fate().let_in(&live, || Box::new(User(ours_uid())));
    let watching = crowd.watch(&control, Duration::from_millis(20));
    let turned_out = async {
        // The watch has begun by then.
        tokio::task::yield_now().await;
        std::fs::write(&file, &head).unwrap();
        control.reload().unwrap();
        place.await;
    };
    let turned_out = async {
        tokio::select! {
            () = watching => {}
            () = turned_out => {}
        }
    };
    timeout(Duration::from_secs(20), turned_out)
        .await
        .expect("it keeps its place");
    assert_eq!(crowd.counts().taken.len(), 1);
    assert!(stays.fate().is_known(&control.live()));
}

/// A user of this machine.
#[derive(Debug)]
struct User(u32);

impl Visitor for User {
    fn is_let_in(&self, live: &Live) -> bool {
        live.access.rights(self.0, 0).most().is_some()
    }
}

#[test]
fn who_gets_no_place_costs_nobody_else_one() {
    let live = live(8, 2);
    let crowd = Crowd::default();
    let mut ours = crowd.enter(ours(), &live).unwrap();
    let mut stranger = crowd.enter(other(1), &live).unwrap();
    let _held: Vec<_> = [far(1), far(1), far(2), far(3), far(4), far(5)]
        .map(|party| known(&crowd, party, &live).unwrap())
        .into();
    // Nobody but another's stranger makes way for who is not our own user.
    let _last = known(&crowd, other(2), &live).unwrap();
    assert!(is_given_up(&mut stranger) && !is_given_up(&mut ours));
    assert_eq!(crowd.counts().taken.len(), 8);
    assert_eq!(crowd.enter(far(1), &live).unwrap_err(), Full::Party(2));
    assert_eq!(crowd.enter(far(6), &live).unwrap_err(), Full::Tcp(6));
    assert_eq!(crowd.enter(other(3), &live).unwrap_err(), Full::Others(7));
    assert!(!is_given_up(&mut ours));
}
