//! Shares that are compressed in parallel and appended in order, for native targets.
//!
//! A share is compressed to a buffer that its thread uses again, and copied to its place behind the shares before it: memory
//! of the result is written once, and a thread has one buffer. A share that is done before an earlier one waits for it in its
//! buffer; its thread goes on with another.

use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::mem::MaybeUninit;
use std::slice::Chunks;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::with_room;
use crate::{Error, Result};

/// Fewest bytes of a share.
const MIN_SHARE_BYTES: usize = 256 << 10;
/// Most bytes of a share. Two threads that touch one huge page at the same time both clear one, so places should be large.
const MAX_SHARE_BYTES: usize = 2 << 20;
/// Shares of each thread, so that all end at about the same time.
const SHARES_PER_THREAD: usize = 16;

/// Returns the bytes of a share of `n_bytes`, a multiple of `unit`; `None` if one thread does all of the work.
pub(super) fn share_bytes(n_bytes: usize, unit: usize) -> Option<usize> {
    let n_threads = rayon::current_num_threads();
    let share = (n_bytes / (SHARES_PER_THREAD * n_threads)).clamp(MIN_SHARE_BYTES, MAX_SHARE_BYTES);
    let share = share.next_multiple_of(unit.max(1));
    (n_threads > 1 && n_bytes > share).then_some(share)
}

/// The state of a call, which its threads share under a mutex.
struct Order<'a, T> {
    /// Shares that no thread has taken.
    shares: Enumerate<Chunks<'a, u8>>,
    /// Shares that are done and wait for earlier ones.
    waiting: BTreeMap<usize, (Vec<u8>, T)>,
    /// Number and start of the next share to be placed.
    next: usize,
    start: usize,
    /// The room behind all placed shares.
    room: &'a mut [MaybeUninit<u8>],
    /// The start of each placed share, and what was returned for it.
    placed: Vec<(usize, T)>,
    /// Buffers that no thread uses.
    buffers: Vec<Vec<u8>>,
    failed: Option<Error>,
}

/// A piece and its place.
type Placed<'a> = (&'a mut [MaybeUninit<u8>], Vec<u8>);

impl<'a, T> Order<'a, T> {
    /// Takes the next share and a buffer for it.
    fn take(&mut self) -> Option<(usize, &'a [u8], Vec<u8>)> {
        if self.failed.is_some() {
            return None;
        }
        let (number, share) = self.shares.next()?;
        Some((number, share, self.buffers.pop().unwrap_or_default()))
    }

    /// Adds a share that is done; returns all whose places are known now.
    fn place(&mut self, number: usize, piece: Vec<u8>, made: T) -> Vec<Placed<'a>> {
        self.waiting.insert(number, (piece, made));
        let mut known = Vec::new();
        while let Some((piece, made)) = self.waiting.remove(&self.next) {
            let (place, rest) = std::mem::take(&mut self.room).split_at_mut(piece.len());
            self.room = rest;
            self.placed.push((self.start, made));
            self.start += piece.len();
            self.next += 1;
            known.push((place, piece));
        }
        known
    }
}

/// Calls `make` for each share of `bytes`, on all cores, and appends the bytes that it writes to `out`, in order. `make` gets
/// a value of `new` that is its thread's, and an empty buffer. Returns the start of each share in what was appended, with what
/// `make` returned. After an error `out` is as before.
///
/// `out` has room for all that `make` writes.
pub(super) fn append_shares<W, T: Send>(
    bytes: &[u8],
    share_bytes: usize,
    new: impl Fn() -> Result<W> + Sync,
    make: impl Fn(&mut W, &[u8], &mut Vec<u8>) -> Result<T> + Sync,
    out: &mut Vec<u8>,
) -> Result<Vec<(usize, T)>> {
    let n_shares = bytes.len().div_ceil(share_bytes);
    let order = Mutex::new(Order {
        shares: bytes.chunks(share_bytes).enumerate(),
        waiting: BTreeMap::new(),
        next: 0,
        start: 0,
        room: out.spare_capacity_mut(),
        placed: with_room(n_shares)?,
        buffers: Vec::new(),
        failed: None,
    });
    let work = || {
        if let Err(error) = make_shares(&order, share_bytes, &new, &make) {
            lock(&order).failed.get_or_insert(error);
        }
    };
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(n_shares) {
            scope.spawn(|_| work());
        }
    });
    let order = order.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = order.failed {
        return Err(error);
    }
    let (placed, n_bytes) = (order.placed, order.start);
    let length = out.len() + n_bytes;
    // SAFETY: `place` cut the places one behind the other from the start of the spare capacity, `n_bytes` in all. Each was
    // written by the thread that cut it before the scope ended: no thread failed.
    unsafe { out.set_len(length) };
    Ok(placed)
}

/// Makes shares until none is left.
fn make_shares<W, T>(
    order: &Mutex<Order<'_, T>>,
    share_bytes: usize,
    new: &impl Fn() -> Result<W>,
    make: &impl Fn(&mut W, &[u8], &mut Vec<u8>) -> Result<T>,
) -> Result<()> {
    let mut worker = None;
    loop {
        let Some((number, share, mut buffer)) = lock(order).take() else {
            return Ok(());
        };
        if buffer.capacity() == 0 {
            buffer = with_room(share_bytes)?;
        }
        let worker = match &mut worker {
            Some(worker) => worker,
            none => none.insert(new()?),
        };
        let made = make(worker, share, &mut buffer)?;
        let placed = lock(order).place(number, buffer, made);
        for (place, mut piece) in placed {
            place.write_copy_of_slice(&piece);
            piece.clear();
            lock(order).buffers.push(piece);
        }
    }
}

fn lock<'a, 'b, T>(order: &'a Mutex<Order<'b, T>>) -> MutexGuard<'a, Order<'b, T>> {
    order.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::append_shares;
    use crate::Error;

    /// Early shares take longest, so that late ones wait; pieces have many lengths, none among them.
    #[test]
    fn shares_are_in_order_however_long_each_takes() {
        let bytes: Vec<u8> = (0..100_u32).flat_map(u32::to_le_bytes).collect();
        let make = |n_calls: &mut usize, share: &[u8], out: &mut Vec<u8>| {
            *n_calls += 1;
            let number = usize::from(share[0]);
            std::thread::sleep(std::time::Duration::from_micros(100 - number as u64));
            out.extend_from_slice(&share[..number % 5 % share.len()]);
            Ok(number)
        };
        let mut out = vec![9];
        out.reserve(400);
        let placed = append_shares(&bytes, 4, || Ok(0), make, &mut out);
        let mut expected = vec![9];
        let mut starts = Vec::new();
        for number in 0..100 {
            starts.push((expected.len() - 1, number));
            expected.extend_from_slice(&bytes[4 * number..][..number % 5 % 4]);
        }
        assert_eq!(placed, Ok(starts));
        assert_eq!(out, expected);
    }

    #[test]
    fn an_error_of_one_share_is_that_of_the_call() {
        let short = Error::OutOfMemory { requested: 1 };
        let make = |(): &mut (), share: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(share);
            match share[0] {
                50 => Err(short.clone()),
                _ => Ok(()),
            }
        };
        let mut out = Vec::with_capacity(100);
        let bytes: Vec<u8> = (0..100).collect();
        let failed = append_shares(&bytes, 1, || Ok(()), make, &mut out);
        assert_eq!(failed, Err(short.clone()));
        assert!(out.is_empty());
        let none: Result<(), _> = Err(short.clone());
        let failed = append_shares(&bytes, 1, || none.clone(), |(), _, _| Ok(()), &mut out);
        assert_eq!(failed, Err(short));
    }
}
