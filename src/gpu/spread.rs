//! Distributes parts of work over several workers and returns the results in the order of the parts.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// Marks types that may be sent to worker threads: `Send` natively, any type in a browser, which has one thread.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) trait Shareable: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send> Shareable for T {}
#[cfg(target_arch = "wasm32")]
pub(crate) trait Shareable {}
#[cfg(target_arch = "wasm32")]
impl<T> Shareable for T {}

/// Divides `n` items into at most `n_parts` parts of about equal size, each a multiple of `granule` except the last.
pub(crate) fn parts(n: usize, n_parts: usize, granule: usize) -> Vec<Range<usize>> {
    let size = n.div_ceil(n_parts.max(1)).next_multiple_of(granule.max(1));
    let starts = (0..n).step_by(size.max(1));
    starts.map(|start| start..n.min(start + size)).collect()
}

/// State that workers share: remaining parts, and results.
struct Queue<P, T> {
    pending: VecDeque<(usize, P)>,
    results: Vec<Option<T>>,
    /// The error that ends the work.
    failed: Option<Error>,
    /// The error of the last worker whose device was lost.
    lost: Option<Error>,
}

/// Distributes parts over workers: each takes the next part when it has finished one. Natively every worker has a
/// thread, and this call blocks until they end; in a browser, which exposes at most one GPU, the workers run one after
/// the other. If a worker's device is lost, its part is processed by another; any other error ends the work.
pub(crate) async fn spread<W, P, T, F>(workers: &mut [W], parts: Vec<P>, work: F) -> Result<Vec<T>>
where
    W: Shareable,
    P: Shareable,
    T: Shareable,
    F: AsyncFn(&mut W, &mut P) -> Result<T>,
    for<'a> &'a F: Shareable,
{
    let queue = Mutex::new(Queue {
        results: parts.iter().map(|_| None).collect(),
        pending: parts.into_iter().enumerate().collect(),
        failed: None,
        lost: None,
    });
    let mut workers: Vec<&mut W> = workers.iter_mut().collect();
    loop {
        let n_pending = lock(&queue).pending.len();
        // At most one thread per part.
        let at_work = workers.len().min(n_pending);
        #[cfg(not(target_arch = "wasm32"))]
        let good = round(&mut workers[..at_work], &queue, &work);
        #[cfg(target_arch = "wasm32")]
        let good = round(&mut workers[..at_work], &queue, &work).await;
        let mut at = 0;
        workers.retain(|_| {
            at += 1;
            good.get(at - 1).copied().unwrap_or(true)
        });
        let mut state = lock(&queue);
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        if state.pending.is_empty() {
            break;
        }
        if workers.is_empty() {
            return Err(state.lost.take().unwrap_or(Error::DeviceLost {
                reason: "there is no device".into(),
            }));
        }
    }
    let results = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missing = || Error::Engine {
        engine: "pool",
        message: "a part has no result".into(),
    };
    let results = results.results.into_iter();
    results.map(|result| result.ok_or_else(missing)).collect()
}

/// Runs all workers until no parts are left; returns those that can continue. Not `async`, since futures of closures
/// that borrow could not be sent between threads.
#[cfg(not(target_arch = "wasm32"))]
fn round<W, P, T, F>(workers: &mut [&mut W], queue: &Mutex<Queue<P, T>>, work: &F) -> Vec<bool>
where
    W: Shareable,
    P: Shareable,
    T: Shareable,
    F: AsyncFn(&mut W, &mut P) -> Result<T>,
    for<'a> &'a F: Shareable,
{
    use super::runtime::block_on;
    if let [worker] = workers {
        return vec![block_on(serve::<W, _, _, _>(worker, queue, work))];
    }
    std::thread::scope(|scope| {
        let threads = workers
            .iter_mut()
            .map(|worker| scope.spawn(move || block_on(serve::<W, _, _, _>(worker, queue, work))));
        let threads: Vec<_> = threads.collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(target_arch = "wasm32")]
async fn round<W, P, T, F>(
    workers: &mut [&mut W],
    queue: &Mutex<Queue<P, T>>,
    work: &F,
) -> Vec<bool>
where
    F: AsyncFn(&mut W, &mut P) -> Result<T>,
{
    let mut good = Vec::with_capacity(workers.len());
    for worker in workers {
        good.push(serve::<W, _, _, _>(worker, queue, work).await);
    }
    good
}

/// Runs one worker until no parts are left, or its device is lost.
async fn serve<W, P, T, F>(worker: &mut W, queue: &Mutex<Queue<P, T>>, work: &F) -> bool
where
    F: AsyncFn(&mut W, &mut P) -> Result<T>,
{
    while let Some((i, mut part)) = next(queue) {
        match work(worker, &mut part).await {
            Ok(result) => lock(queue).results[i] = Some(result),
            Err(error @ Error::DeviceLost { .. }) => {
                let mut state = lock(queue);
                state.pending.push_front((i, part));
                state.lost = Some(error);
                return false;
            }
            Err(error) => {
                lock(queue).failed.get_or_insert(error);
                return true;
            }
        }
    }
    true
}

fn next<P, T>(queue: &Mutex<Queue<P, T>>) -> Option<(usize, P)> {
    let mut state = lock(queue);
    match state.failed {
        None => state.pending.pop_front(),
        Some(_) => None,
    }
}

fn lock<T>(queue: &Mutex<T>) -> MutexGuard<'_, T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::runtime::block_on;

    fn lost() -> Error {
        Error::DeviceLost {
            reason: "test".into(),
        }
    }

    #[test]
    fn parts_cover_everything_once() {
        for (n, n_parts, granule) in [(0, 2, 1), (1, 4, 8), (100, 3, 1), (100, 3, 8), (5, 0, 0)] {
            let found = parts(n, n_parts, granule);
            let all: Vec<usize> = found.iter().cloned().flatten().collect();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
            assert!(found.len() <= n_parts.max(1));
        }
        assert_eq!(parts(100, 3, 8), [0..40, 40..80, 80..100]);
    }

    #[test]
    fn results_have_the_order_of_parts() {
        for n_workers in 1..4 {
            let mut workers = vec![0u32; n_workers];
            let found = block_on(spread(
                &mut workers,
                (0..50).collect(),
                async |worker, part| {
                    *worker += 1;
                    Ok(*part * 2)
                },
            ));
            assert_eq!(
                found.unwrap_or_default(),
                (0..100).step_by(2).collect::<Vec<u32>>()
            );
            assert_eq!(workers.iter().sum::<u32>(), 50);
        }
    }

    #[test]
    fn parts_of_a_lost_device_go_to_another() {
        let mut workers = [true, false, true];
        let run = |workers: &mut [bool]| {
            block_on(spread(
                workers,
                (0..9).collect(),
                async |good, part| match good {
                    true => Ok(*part),
                    false => Err(lost()),
                },
            ))
        };
        assert_eq!(run(&mut workers), Ok((0..9).collect::<Vec<u32>>()));
        assert_eq!(run(&mut [false, false]), Err(lost()));
        assert_eq!(
            run(&mut []),
            Err(Error::DeviceLost {
                reason: "there is no device".into()
            })
        );
        let wrong = block_on(spread(
            &mut workers,
            vec![1, 2],
            async |_, part| match part {
                1 => Ok(()),
                _ => Err(Error::Cancelled),
            },
        ));
        assert_eq!(wrong, Err(Error::Cancelled));
    }
}
