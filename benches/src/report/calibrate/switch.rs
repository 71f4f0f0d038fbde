//! A context switch: a byte goes from one thread to another and back, through pipes.

use std::io::{Read, Write, pipe};
use std::thread;
use std::time::Instant;

use super::super::measure::{Outcome, median};

const TRIPS: u32 = 5_000;

/// Seconds of half a round trip.
pub(super) fn measure() -> Outcome<f64> {
    let (mut there, mut to_there) = pipe()?;
    let (mut here, mut to_here) = pipe()?;
    let other = thread::spawn(move || -> std::io::Result<()> {
        let mut byte = [0];
        while there.read(&mut byte)? > 0 {
            to_here.write_all(&byte)?;
        }
        Ok(())
    });
    let mut times = Vec::new();
    let mut byte = [1];
    for _ in 0..7 {
        let began = Instant::now();
        for _ in 0..TRIPS {
            to_there.write_all(&byte)?;
            here.read_exact(&mut byte)?;
        }
        times.push(began.elapsed().as_secs_f64() / f64::from(2 * TRIPS));
    }
    drop(to_there);
    other
        .join()
        .map_err(|_| "the other thread of a switch panicked")??;
    Ok(median(times))
}
