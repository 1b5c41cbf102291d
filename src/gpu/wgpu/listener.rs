//! Listens to a browser's events of a device: its loss, and uncaptured errors.
//!
//! wgpu's own callback for errors would replace the page's `onuncapturederror`, and never be removed. These listeners are
//! removed with the device.

#[cfg(web_module)]
use std::cell::RefCell;
use std::sync::Arc;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use super::ENGINE;
use super::answer::{raw, returning};
use super::fault::Faults;
use crate::Error;

const UNCAPTURED: &str = "uncapturederror";

#[cfg(web_module)]
thread_local! {
    /// Open devices that this module opened.
    static OPEN: RefCell<Vec<RawDevice>> = const { RefCell::new(Vec::new()) };
}

/// Destroys the devices that this module opened: nothing else does after the module stopped.
#[cfg(web_module)]
pub(crate) fn destroy_all() {
    OPEN.with(|open| {
        if let Ok(open) = open.try_borrow() {
            open.iter().for_each(RawDevice::destroy);
        }
    });
}

/// Removes the listeners when it is dropped.
#[derive(Debug)]
pub(super) struct Listener {
    device: Option<RawDevice>,
    errors: Closure<dyn FnMut(ErrorEvent)>,
    /// Closure that is called when the device is lost. It does nothing if the device outlives it.
    _lost: Closure<dyn FnMut(LostInfo)>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            device.remove_event_listener(UNCAPTURED, self.errors.as_ref().unchecked_ref());
            #[cfg(web_module)]
            OPEN.with_borrow_mut(|open| open.retain(|other| **other != **device));
        }
    }
}

/// Records events of `device` in `faults`.
pub(super) fn listen(device: &wgpu::Device, faults: &Arc<Faults>, is_external: bool) -> Listener {
    let (lost, noted) = (Arc::downgrade(faults), Arc::downgrade(faults));
    let lost = Closure::<dyn FnMut(LostInfo)>::new(move |info: LostInfo| {
        if let Some(faults) = lost.upgrade() {
            faults.note_lost(format!("{} {}", info.reason(), info.message()));
        }
    });
    let errors = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
        if let Some(faults) = noted.upgrade() {
            faults.note(convert(&event.error()));
        }
    });
    let device: Option<RawDevice> = raw(device).map(|device| device.clone().unchecked_into());
    if let Some(device) = &device {
        #[cfg(web_module)]
        if !is_external {
            OPEN.with_borrow_mut(|open| open.push(device.clone()));
        }
        #[cfg(not(web_module))]
        let _ = is_external;
        device.add_event_listener(UNCAPTURED, errors.as_ref().unchecked_ref());
        // Browsers throw when they call a closure that was dropped, or whose instance is gone. That is ignored.
        let heard = device.lost().then(lost.as_ref().unchecked_ref());
        heard.catch(&returning(&JsValue::from(0)));
    }
    Listener {
        device,
        errors,
        _lost: lost,
    }
}

/// Converts an error of the browser.
fn convert(error: &GpuError) -> Error {
    if error.constructor().name() == "GPUOutOfMemoryError" {
        return Error::OutOfMemory { requested: 0 };
    }
    Error::Engine {
        engine: ENGINE,
        message: error.message(),
    }
}

#[wasm_bindgen]
extern "C" {
    #[derive(Debug, Clone)]
    type RawDevice;
    #[cfg(web_module)]
    #[wasm_bindgen(method)]
    fn destroy(this: &RawDevice);
    #[wasm_bindgen(method, js_name = addEventListener)]
    fn add_event_listener(this: &RawDevice, name: &str, listener: &Function);
    #[wasm_bindgen(method, js_name = removeEventListener)]
    fn remove_event_listener(this: &RawDevice, name: &str, listener: &Function);
    #[wasm_bindgen(method, getter)]
    fn lost(this: &RawDevice) -> Lost;

    type Lost;
    #[wasm_bindgen(method)]
    fn then(this: &Lost, heard: &Function) -> Lost;
    #[wasm_bindgen(method)]
    fn catch(this: &Lost, failed: &Function) -> Lost;

    type LostInfo;
    #[wasm_bindgen(method, getter)]
    fn reason(this: &LostInfo) -> String;
    #[wasm_bindgen(method, getter)]
    fn message(this: &LostInfo) -> String;

    type ErrorEvent;
    #[wasm_bindgen(method, getter)]
    fn error(this: &ErrorEvent) -> GpuError;

    type GpuError;
    #[wasm_bindgen(method, getter)]
    fn message(this: &GpuError) -> String;
    #[wasm_bindgen(method, getter)]
    fn constructor(this: &GpuError) -> Constructor;

    type Constructor;
    #[wasm_bindgen(method, getter)]
    fn name(this: &Constructor) -> String;
}
