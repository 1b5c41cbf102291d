//! A monotonic clock that exists on every target (`std::time::Instant` traps on wasm32).

/// A point in time, from which elapsed nanoseconds are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    #[cfg(not(target_arch = "wasm32"))]
    start: std::time::Instant,
    #[cfg(target_arch = "wasm32")]
    start_ms: f64,
}

#[cfg(not(target_arch = "wasm32"))]
impl Clock {
    /// Returns the current time.
    pub(crate) fn start() -> Self {
        Self {
            start: std::time::Instant::now(),
        }
    }

    /// Returns the nanoseconds since [`start`](Self::start).
    pub(crate) fn elapsed_ns(self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(target_arch = "wasm32")]
impl Clock {
    /// Returns the current time.
    pub(crate) fn start() -> Self {
        Self { start_ms: now_ms() }
    }

    /// Returns the nanoseconds since [`start`](Self::start).
    pub(crate) fn elapsed_ns(self) -> u64 {
        ((now_ms() - self.start_ms) * 1e6) as u64
    }
}

/// `performance.now()`, which windows and workers both have; `Date.now()` where a host has neither.
#[cfg(target_arch = "wasm32")]
fn now_ms() -> f64 {
    use wasm_bindgen::{JsCast, JsValue};
    let global = js_sys::global();
    js_sys::Reflect::get(&global, &JsValue::from_str("performance"))
        .and_then(|performance| {
            let now = js_sys::Reflect::get(&performance, &JsValue::from_str("now"))?;
            now.dyn_into::<js_sys::Function>()?.call0(&performance)
        })
        .ok()
        .and_then(|now| now.as_f64())
        .unwrap_or_else(js_sys::Date::now)
}
