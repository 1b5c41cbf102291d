//! Makes wgpu use objects of the browser that exist already. wgpu creates its own and cannot import others (wgpu 30:
//! only textures).
//!
//! wgpu creates an object by calling a function of the browser, such as `createBuffer` of a device. For the duration of
//! one synchronous call, that function is replaced by one that returns the existing object.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::closure::ScopedClosure;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// Returns a JavaScript function that returns `value` for any arguments.
pub(super) fn returning(value: &JsValue) -> Function {
    // `Object.prototype.valueOf` returns the object that it is bound to.
    Object::new()
        .unchecked_into::<HasValueOf>()
        .value_of()
        .bind0(value)
}

/// Runs `call` while the function `name` of `object` returns `answer`; `None` if the function cannot be replaced.
pub(super) fn answering<T>(
    object: &JsValue,
    name: &str,
    answer: &Function,
    call: impl FnOnce() -> T,
) -> Option<T> {
    let (name, object) = (JsValue::from_str(name), object.unchecked_ref::<Object>());
    // Restores the page's own property if there is one; otherwise deletes ours, which uncovers the prototype's method.
    let own = Object::get_own_property_descriptor(object, &name);
    if !Reflect::set(object, &name, answer).unwrap_or(false) {
        return None;
    }
    let value = call();
    if own.is_object() {
        Object::define_property(object, &name, own.unchecked_ref());
    } else {
        Reflect::delete_property(object, &name).ok()?;
    }
    Some(value)
}

/// Asks `gpu`, a `navigator.gpu`, for an adapter; `None` if the call throws.
pub(super) fn request_adapter(gpu: &JsValue, options: &Object) -> Option<Promise> {
    gpu.unchecked_ref::<RawGpu>().request_adapter(options).ok()
}

/// Returns the browser's object for a device of wgpu.
pub(super) fn raw(device: &wgpu::Device) -> Option<&JsValue> {
    device.as_webgpu().map(AsRef::as_ref)
}

/// Creates a buffer. Returns `None` if the browser has no memory to map for it.
pub(super) fn create_buffer(
    device: &wgpu::Device,
    descriptor: &wgpu::BufferDescriptor<'_>,
) -> Option<wgpu::Buffer> {
    let (size, usage) = (descriptor.size, descriptor.usage.bits());
    let buffer = create_raw_buffer(device, size, usage, descriptor.mapped_at_creation)?;
    adopt_buffer(device, &buffer, descriptor)
}

/// Creates a `GPUBuffer` of the browser; `None` if it has no memory to map.
pub(super) fn create_raw_buffer(
    device: &wgpu::Device,
    size: u64,
    usage: u32,
    mapped_at_creation: bool,
) -> Option<JsValue> {
    let fields = Object::new().unchecked_into::<BufferFields>();
    fields.set_size(size as f64);
    fields.set_usage(usage);
    fields.set_mapped_at_creation(mapped_at_creation);
    let device = raw(device)?.unchecked_ref::<RawDevice>();
    device.create_buffer(&fields).ok()
}

/// Returns wgpu's handle of a buffer of `device` that fits the descriptor.
pub(super) fn adopt_buffer(
    device: &wgpu::Device,
    buffer: &JsValue,
    descriptor: &wgpu::BufferDescriptor<'_>,
) -> Option<wgpu::Buffer> {
    answering(raw(device)?, "createBuffer", &returning(buffer), || {
        device.create_buffer(descriptor)
    })
}

/// Compiles a pipeline asynchronously in the browser: wgpu's own call blocks all work queued after it. Errors are the browser's.
pub(super) async fn create_pipeline(
    device: &wgpu::Device,
    descriptor: &wgpu::ComputePipelineDescriptor<'_>,
) -> Result<wgpu::ComputePipeline, JsValue> {
    const CREATE: &str = "createComputePipeline";
    let raw = raw(device).ok_or(JsValue::UNDEFINED)?;
    let mut asked = None;
    // The first call captures the descriptor that wgpu passes to the browser. The second imports the compiled pipeline.
    let mut ask = |fields: JsValue| {
        let device = raw.unchecked_ref::<RawDevice>();
        let compiling = device.create_compute_pipeline_async(&fields);
        asked = Some(compiling.clone());
        JsValue::from(compiling)
    };
    {
        let ask = ScopedClosure::borrow_mut_aborting(&mut ask);
        answering(raw, CREATE, ask.as_ref().unchecked_ref(), || {
            device.create_compute_pipeline(descriptor)
        });
    }
    let pipeline = JsFuture::from(asked.ok_or(JsValue::UNDEFINED)?).await?;
    let taken = answering(raw, CREATE, &returning(&pipeline), || {
        device.create_compute_pipeline(descriptor)
    });
    taken.ok_or(JsValue::UNDEFINED)
}

/// Returns the `message` of a JavaScript error.
pub(super) fn message(error: &JsValue) -> String {
    let message = Reflect::get(error, &JsValue::from_str("message"));
    message
        .ok()
        .and_then(|message| message.as_string())
        .unwrap_or_default()
}

#[wasm_bindgen]
extern "C" {
    type HasValueOf;
    #[wasm_bindgen(method, getter, js_name = valueOf)]
    fn value_of(this: &HasValueOf) -> Function;

    type RawGpu;
    #[wasm_bindgen(method, catch, js_name = requestAdapter)]
    fn request_adapter(this: &RawGpu, options: &Object) -> Result<Promise, JsValue>;

    type RawDevice;
    #[wasm_bindgen(method, catch, js_name = createBuffer)]
    fn create_buffer(this: &RawDevice, fields: &BufferFields) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, js_name = createComputePipelineAsync)]
    fn create_compute_pipeline_async(this: &RawDevice, fields: &JsValue) -> Promise;

    type BufferFields;
    #[wasm_bindgen(method, setter)]
    fn set_size(this: &BufferFields, size: f64);
    #[wasm_bindgen(method, setter)]
    fn set_usage(this: &BufferFields, usage: u32);
    #[wasm_bindgen(method, setter, js_name = mappedAtCreation)]
    fn set_mapped_at_creation(this: &BufferFields, mapped: bool);
}
