//! Calls that JavaScript drives, so that whatever goes wrong in one, traps too, is thrown where it waits for the call.

use std::pin::Pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use crate::batch::Timings;
use crate::web::memory::{self, NOTHING};
use crate::{Error, Result};

#[link(wasm_import_module = "js")]
unsafe extern "C" {
    /// Says that it is time to poll a call again.
    safe fn wake(call: *const ());
}

/// What a call gives.
#[derive(Default)]
pub(in crate::web) struct Done {
    pub timings: Timings,
    pub number: f64,
    pub bytes: Vec<u8>,
}

/// A call under way.
pub(in crate::web) struct Call {
    work: Pin<Box<dyn Future<Output = Result<Done>>>>,
    is_cancelled: bool,
}

impl Call {
    /// A call for JavaScript. It fails with `CANCELLED` once it is cancelled, and `work` is dropped where it waited.
    #[inline(never)]
    pub(in crate::web) fn begin(work: Pin<Box<dyn Future<Output = Result<Done>>>>) -> *mut Self {
        Box::into_raw(Box::new(Self {
            work,
            is_cancelled: false,
        }))
    }
}

/// Goes on as far as it can, and gives what the call does: nothing while it waits, and [`wake`] tells when it is time to
/// poll again. Not to be polled after it gave something else.
///
/// The answer begins with five numbers of 64 bits: nanoseconds of upload, kernels, readback and in all, less than 0 where
/// they are not known, and one that depends on the call.
///
/// # Safety
/// The call is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn poll_call(call: *mut Call) -> u32 {
    // SAFETY: this function's contract.
    let this = unsafe { &mut *call };
    if this.is_cancelled {
        return memory::fail(&Error::Cancelled);
    }
    // SAFETY: the functions of the table do nothing with the pointer but pass it on.
    let waker = unsafe { Waker::from_raw(waker(call.cast())) };
    match this.work.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Pending => NOTHING,
        Poll::Ready(done) => memory::settle(done.map(answer)),
    }
}

fn answer(
    Done {
        timings,
        number,
        bytes,
    }: Done,
) -> Vec<u8> {
    let number_of = |ns: Option<u64>| ns.map_or(-1.0, |ns| ns as f64);
    let head = [
        number_of(timings.upload_ns),
        number_of(timings.kernel_ns),
        number_of(timings.readback_ns),
        timings.total_ns as f64,
        number,
    ];
    let mut answer = Vec::with_capacity(size_of_val(&head) + bytes.len());
    for number in head {
        answer.extend_from_slice(&number.to_le_bytes());
    }
    answer.extend_from_slice(&bytes);
    answer
}

/// Has the next poll give the work up. JavaScript never calls this from within a poll.
///
/// # Safety
/// The call is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn cancel_call(call: *mut Call) {
    // SAFETY: this function's contract.
    unsafe { &mut *call }.is_cancelled = true;
}

/// # Safety
/// The call is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_call(call: *mut Call) {
    // SAFETY: this function's contract.
    drop(unsafe { Box::from_raw(call) });
}

/// One that wakes the call at this address; if there is none any more, JavaScript knows.
fn waker(call: *const ()) -> RawWaker {
    static TABLE: RawWakerVTable = RawWakerVTable::new(waker, wake_call, wake_call, |_| {});
    RawWaker::new(call, &TABLE)
}

fn wake_call(call: *const ()) {
    wake(call);
}
