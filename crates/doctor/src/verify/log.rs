//! The check of the log sections of a base: history, stamps, clock, requests, recent commits, actors, authors.

use amem_format::base::Base;
use amem_format::base::history::PriorValue;
use amem_format::base::section::tag;
use amem_format::error::Result;
use amem_format::journal::op::Ops;
use amem_format::limits::TIME_MICROS_MAX;
use amem_format::stamp::StampTarget;
use amem_format::types::{ActorId, Lsn, NodeId};

/// The check of a log section; `None` for other sections.
pub(crate) fn of(tag: u8) -> Option<fn(&Base) -> Result<()>> {
    Some(match tag {
        tag::HISTORY => history,
        tag::CHANGE_STAMPS => change_stamps,
        tag::CLOCK => clock,
        tag::REQUESTS => requests,
        tag::COMMITS => commits,
        tag::ACTORS => actors,
        tag::AUTHORS => authors,
        _ => return None,
    })
}

fn history(base: &Base) -> Result<()> {
    let (section, history) = (base.section(tag::HISTORY)?, base.history()?);
    let clock = base.clock()?;
    let (mut last, mut entries) = (Lsn(0), 0u64);
    for change in history.iter() {
        let change = change?;
        let now = change.lsn;
        if now < last || clock.at_lsn(now) != Some((now, change.time)) {
            return Err(section.bad(0, format!("a change of LSN {now} out of order")));
        }
        last = now;
        let other = match change.before {
            PriorValue::Edge { target, .. } => target,
            _ => change.target,
        };
        if change.target.0.max(other.0) >= base.nodes() {
            return Err(section.bad(0, format!("a change of event {}", change.target)));
        }
        entries += if other == change.target { 1 } else { 2 };
    }
    for id in (0..base.nodes()).map(NodeId) {
        for change in history.of(id) {
            let change = change?;
            let of_other = matches!(change.before, PriorValue::Edge { target, .. } if target == id);
            if change.target != id && !of_other {
                return Err(section.bad(0, format!("event {id} lists a change of another event")));
            }
            entries = entries.wrapping_sub(1);
        }
    }
    if entries != 0 {
        return Err(section.bad(8, "its index misses changes"));
    }
    Ok(())
}

fn change_stamps(base: &Base) -> Result<()> {
    let Some(stamps) = base.change_stamps()? else {
        return Ok(());
    };
    let (section, sessions) = (base.section(tag::CHANGE_STAMPS)?, base.sessions()?);
    let mut last = None;
    for stamp in stamps.iter() {
        let (of, at) = stamp?;
        if last.replace(of) >= Some(of) {
            return Err(section.bad(8, format!("a stamp out of order: {of:?}")));
        }
        let is_there = match of {
            StampTarget::Field(id, _) => id.0 < base.nodes(),
            StampTarget::Edge(source, target, _) => {
                source != target && source.max(target).0 < base.nodes()
            }
            StampTarget::Session(id) => sessions.find(id)?.is_some(),
        };
        if !is_there {
            return Err(section.bad(8, format!("a stamp of what does not exist: {of:?}")));
        }
        if !(0..=TIME_MICROS_MAX).contains(&at.0) {
            return Err(section.bad(8, format!("a stamp out of range: {of:?} at {at}")));
        }
    }
    Ok(())
}

fn clock(base: &Base) -> Result<()> {
    let (section, clock) = (base.section(tag::CLOCK)?, base.clock()?);
    let mut last = None;
    for at in 0..clock.len() {
        let Some(now) = clock.get(at) else { break };
        let follows = last.is_none_or(|(lsn, time)| lsn < now.0 && time < now.1);
        if !follows || now.0 < Lsn(1) {
            return Err(section.bad(8, format!("commit {} out of order", now.0)));
        }
        last = Some(now);
    }
    let identity = base.identity();
    if last.is_some_and(|last| last != (identity.base_lsn, identity.base_time)) {
        return Err(section.bad(0, "its last commit is not the last one of the base"));
    }
    Ok(())
}

fn requests(base: &Base) -> Result<()> {
    let (section, requests) = (base.section(tag::REQUESTS)?, base.requests()?);
    let mut last = None;
    for at in 0..requests.len() {
        let request = requests.at(at)?;
        if last.replace(request.id) >= Some(request.id) {
            return Err(section.bad(16, format!("request {} out of order", request.id)));
        }
        if request.lsn > base.identity().base_lsn {
            let why = format!(
                "request {} of LSN {}, out of range",
                request.id, request.lsn
            );
            return Err(section.bad(16, why));
        }
    }
    Ok(())
}

fn commits(base: &Base) -> Result<()> {
    let (section, commits) = (base.section(tag::COMMITS)?, base.commits()?);
    let mut last = Lsn(0);
    for at in 0..commits.len() {
        let kept = commits.at(at)?;
        if kept.header.lsn <= last {
            return Err(section.bad(8, format!("frame {} out of order", kept.header.lsn)));
        }
        last = kept.header.lsn;
        Ops::new(&kept.payload, section.offset)
            .try_for_each(|op| op.map(drop))
            .map_err(|e| e.or_corrupt("recent commits", section.offset))?;
    }
    Ok(())
}

fn authors(base: &Base) -> Result<()> {
    let Some(authors) = base.authors()? else {
        return Ok(());
    };
    let (section, actors) = (base.section(tag::AUTHORS)?, base.actors()?.len());
    let mut listed = 0;
    for actor in (0..=actors).map(|actor| ActorId(actor as u32)) {
        let members = authors.members(actor)?;
        let ascend = members.windows(2).all(|pair| pair[0] < pair[1]);
        let is_own =
            |&id: &u32| u64::from(id) < base.nodes() && authors.of(NodeId(id.into())) == actor;
        if !ascend || !members.iter().all(is_own) {
            return Err(section.bad(16, format!("the list of actor {actor} has other events")));
        }
        listed += members.len() as u64;
    }
    if listed != base.nodes() {
        let nodes = base.nodes();
        return Err(section.bad(16, format!("its lists have {listed} of {nodes} events")));
    }
    Ok(())
}

fn actors(base: &Base) -> Result<()> {
    let actors = base.actors()?;
    for id in (1..).map(ActorId) {
        if actors.get(id)?.is_none() {
            break;
        }
    }
    Ok(())
}
