//! Block decoding with every output capacity.

use pagepress::lz4::{BlockError, decompress_block, formats::measure_block};

use super::random::{Random, mutated};

/// Blocks per execution: the input and mutations of it, with several capacities each.
pub const INPUTS: u64 = 32;

/// Guard bytes next to a page, which must not change.
const BESIDE: usize = 64;
const MAX_CONTENT: usize = 1 << 17;

/// Decodes a block to pages of all capacities near its content size, into memory with two different contents: the
/// result equals the naive decoder's, guard bytes do not change, and no old byte is left in the page.
pub fn block(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    one(data, &mut random);
    for _ in 1..INPUTS {
        one(&mutated(data, &mut random), &mut random);
    }
    INPUTS
}

fn one(block: &[u8], random: &mut Random) {
    let (expected, content) = naive(block, MAX_CONTENT);
    let measured = measure_block(block);
    if let Some(content) = expected.is_ok().then_some(&content) {
        assert_eq!(measured, Ok(content.len() as u64));
    }
    let n = content.len();
    let capacities = [
        n,
        n + 1,
        n.saturating_sub(1),
        0,
        random.below(n + 64),
        random.below(80),
    ];
    for capacity in capacities {
        let found = [0x5a, 0xa5].map(|before| {
            let mut room = vec![before; BESIDE + capacity + BESIDE];
            let status = decompress_block(block, &mut room[BESIDE..BESIDE + capacity]);
            let (page, beside) = (&room[BESIDE..BESIDE + capacity], |at: usize| {
                &room[at..at + BESIDE]
            });
            let is_kept = |bytes: &[u8]| bytes.iter().all(|&byte| byte == before);
            assert!(
                is_kept(beside(0)) && is_kept(beside(BESIDE + capacity)),
                "wrote beside the page"
            );
            if status.is_err() {
                assert!(
                    page.iter().all(|&byte| byte == 0),
                    "a page that fails is zeros"
                );
            }
            (status, page.to_vec())
        });
        assert!(found[0] == found[1], "what was there before shows");
        let (status, page) = &found[0];
        match naive(block, capacity) {
            (Ok(()), content) => {
                assert_eq!(*status, Ok(()));
                assert!(*page == content);
            }
            (Err(error), _) => assert_eq!(*status, Err(error)),
        }
    }
}

/// A decoder written directly from the format's definition. The content must fill `capacity` exactly.
fn naive(block: &[u8], capacity: usize) -> (Result<(), BlockError>, Vec<u8>) {
    let mut out = Vec::new();
    let status = naive_to(block, capacity, &mut out);
    let status = match status {
        Ok(()) if out.len() < capacity && capacity != MAX_CONTENT => {
            Err(BlockError::OutputUnderrun)
        }
        other => other,
    };
    (status, out)
}

fn naive_to(block: &[u8], capacity: usize, out: &mut Vec<u8>) -> Result<(), BlockError> {
    let mut at = 0;
    let take = |at: &mut usize| {
        let byte = block.get(*at).copied().ok_or(BlockError::Truncated);
        *at += 1;
        byte
    };
    let length = |at: &mut usize, start: u8| {
        let mut n = usize::from(start);
        if start == 15 {
            loop {
                let byte = take(at)?;
                n += usize::from(byte);
                if byte != 255 {
                    break;
                }
            }
        }
        Ok(n)
    };
    loop {
        let token = take(&mut at)?;
        let n_literals = length(&mut at, token >> 4)?;
        let literals = block
            .get(at..at + n_literals)
            .ok_or(BlockError::Truncated)?;
        if n_literals > capacity - out.len() {
            return Err(BlockError::OutputOverrun);
        }
        out.extend_from_slice(literals);
        at += n_literals;
        if at == block.len() {
            return Ok(());
        }
        let offset = usize::from(take(&mut at)?) | usize::from(take(&mut at)?) << 8;
        if offset == 0 {
            return Err(BlockError::ZeroOffset);
        }
        if offset > out.len() {
            return Err(BlockError::OffsetTooFar);
        }
        let n = length(&mut at, token & 15)? + 4;
        if n > capacity - out.len() {
            return Err(BlockError::OutputOverrun);
        }
        for _ in 0..n {
            out.push(out[out.len() - offset]);
        }
    }
}
