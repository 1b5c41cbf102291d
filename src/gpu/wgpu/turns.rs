//! Turns in which native work is submitted together: as long as work follows on work. A thread ends them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::shared::Shared;

/// A turn ends after this time without more work. Tests have turns on busy machines, too.
const LONGEST_PAUSE: Duration = match cfg!(feature = "fault-injection") {
    true => Duration::from_millis(5),
    false => Duration::from_micros(100),
};

#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Time of the latest work of this turn.
    latest: Option<Instant>,
    /// Wakes the thread that ends turns.
    thread: Option<Sender<Weak<Shared>>>,
    /// True while the thread looks after a turn.
    is_watched: bool,
}

impl Turns {
    /// Ends the turn: a caller waits for its work.
    pub(super) fn end(&mut self) {
        self.latest = None;
    }

    /// Returns true if work came a short time ago.
    fn is_going_on(&self) -> bool {
        self.latest
            .is_some_and(|latest| latest.elapsed() < LONGEST_PAUSE)
    }

    /// Wakes the thread, which is started first if there is none. Returns false if the system gives no thread.
    fn wake(&mut self, device: Weak<Shared>) -> bool {
        if self.thread.is_none() {
            let (sender, receiver) = channel();
            let builder = thread::Builder::new().name("pagepress-submit".into());
            let started = builder.spawn(move || end_turns(&receiver));
            self.thread = started.is_ok().then_some(sender);
        }
        let thread = self.thread.as_ref();
        thread.is_some_and(|thread| thread.send(device).is_ok())
    }
}

/// Ends the turns of a device, until the sender is dropped with it.
fn end_turns(devices: &Receiver<Weak<Shared>>) {
    while let Ok(device) = devices.recv() {
        loop {
            thread::sleep(LONGEST_PAUSE);
            if !device.upgrade().is_some_and(|shared| shared.watch_turn()) {
                break;
            }
        }
    }
}

impl Shared {
    /// Notes work; returns true if it is the first of a turn.
    pub(super) fn begins_turn(&self, turns: &mut Turns) -> bool {
        let is_first = !turns.is_going_on();
        turns.latest = Some(Instant::now());
        is_first
    }

    /// Has the thread end the turn. Returns false if there is no thread.
    pub(super) fn ends_turn(self: &Arc<Self>, turns: &mut Turns) -> bool {
        if !turns.is_watched {
            turns.is_watched = turns.wake(Arc::downgrade(self));
        }
        turns.is_watched
    }

    /// Submits the work that waits, if its turn has ended. Returns true if there still is such work.
    fn watch_turn(&self) -> bool {
        let joined = self.joined();
        let is_going_on = joined.borrow().turns.is_going_on();
        if !is_going_on {
            self.submit_joined();
        }
        let mut state = joined.borrow_mut();
        state.turns.is_watched = state.has_work();
        state.turns.is_watched
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::runtime::block_on;
    use crate::gpu::{Backend, Buffer, DeviceRequest, EngineChoice, GpuDevice, Place, Recorder};

    /// Time in which the thread submits work on a busy machine.
    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn work_runs_though_nothing_waits_for_it() {
        let request = DeviceRequest {
            engine: EngineChoice::Wgpu,
            allow_software: true,
            ..DeviceRequest::default()
        };
        let device =
            block_on(GpuDevice::open_async(&request)).expect("a GPU, a software one will do");
        let wgpu = device.as_wgpu().expect("wgpu was asked for");
        let has_work = || wgpu.0.joined().borrow().has_work();
        let memory = |_| device.allocate_memory(256).expect("256 bytes");
        let [from, to]: [Buffer; 2] = std::array::from_fn(memory);
        let copy = || {
            let mut stream = device.stream();
            stream.copy(Place::Device(&to, 0), Place::Device(&from, 0), 256)?;
            stream.submit_untimed()
        };
        // On a busy machine a turn can end between two copies.
        let begin = Instant::now();
        while !has_work() && begin.elapsed() < LONG {
            copy().expect("a copy");
        }
        assert!(has_work(), "no copy waits for another one");
        while has_work() && begin.elapsed() < 2 * LONG {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!has_work(), "nothing submits the copies that wait");
        // A wait submits as well.
        while !has_work() && begin.elapsed() < 3 * LONG {
            copy().expect("a copy");
        }
        block_on(device.synchronize_async()).expect("the copies are done");
        assert!(!has_work());
    }
}
