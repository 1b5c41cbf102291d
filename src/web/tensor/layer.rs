//! [`WgslForwardPass`] as a JavaScript class.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;

use super::convert::{JsResult, promise, wrong};
use super::device::WebDevice;
use super::names::WebDType;
use super::op::{list, norm, quantization};
use super::resident::WebTensor;
use crate::tensor::layer::{Form, LayerConfig, Mlp, ResidentWeights};
use crate::tensor::{DType, Precision, QkvLoRA, WgslForwardPass};
use crate::{Error, Result};

#[wasm_bindgen(typescript_custom_section)]
const CONFIG: &str = r#"
/** Configuration of a layer. `sizes` are hidden, mlpWidth, nHeads, nKvHeads, headDim, maxPositions and window; 0 is the default. */
export type LayerConfig = readonly [
  sizes: Uint32Array, norm: string, epsilon: number, mlp: string, causal: boolean, rotaryBase: number | null, kvType: string,
];
"#;

/// Weights on a device, by name.
#[wasm_bindgen(js_name = LayerWeights)]
#[derive(Debug, Default)]
pub struct WebLayerWeights(ResidentWeights);

#[wasm_bindgen(js_class = LayerWeights)]
impl WebLayerWeights {
    /// Creates an empty list.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `length` values in a form: `float32`, `float16`, `bfloat16`, or a quantization, whose length is in bytes.
    pub fn add(
        &mut self,
        name: String,
        form: &JsValue,
        length: usize,
        words: &WebTensor,
    ) -> JsResult<()> {
        let form = match dtype(form) {
            Some(dtype) => Form::As(dtype),
            None => Form::Packed(quantization(form)?),
        };
        Ok(self.0.add(name, form, length, words.0.clone())?)
    }
}

/// A layer on a device: [`WgslForwardPass`] for JavaScript. `None` during a call.
#[wasm_bindgen(js_name = Layer)]
#[derive(Debug)]
pub struct WebLayer(Rc<RefCell<Option<WgslForwardPass>>>);

#[wasm_bindgen(js_class = Device)]
impl WebDevice {
    /// Creates a layer from weights, which it shares.
    #[wasm_bindgen(js_name = createLayer, unchecked_return_type = "Promise<Layer>")]
    pub fn create_layer(
        &self,
        #[wasm_bindgen(js_name = config, unchecked_param_type = "LayerConfig")] given: &Array,
        weights: WebLayerWeights,
    ) -> JsResult<Promise> {
        let (device, config) = (self.device.clone(), config(given)?);
        Ok(promise(async move {
            let made = WgslForwardPass::from_resident_async(device, config, &weights.0).await;
            let layer = made.map_err(in_javascript)?;
            Ok(WebLayer(Rc::new(RefCell::new(Some(layer)))))
        }))
    }
}

#[wasm_bindgen(js_class = Layer)]
impl WebLayer {
    /// Runs the layer on rows of a tensor; the result stays on the device.
    #[wasm_bindgen(unchecked_return_type = "Promise<Tensor>")]
    pub fn forward(&self, rows: &WebTensor) -> Promise {
        let (place, rows) = (Rc::clone(&self.0), rows.0.clone());
        promise(async move {
            let taken = place.borrow_mut().take();
            let mut layer = taken.ok_or_else(in_use)?;
            let made = layer.apply_async(&rows).await;
            place.replace(Some(layer));
            made.map(WebTensor).map_err(in_javascript)
        })
    }

    /// Returns the number of rows of the sequence so far.
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> JsResult<usize> {
        self.with(|layer| Ok(layer.position()))
    }

    /// Returns the number of bytes of weights, rotary table and cache on the device.
    #[wasm_bindgen(getter, js_name = deviceBytes)]
    pub fn device_bytes(&self) -> JsResult<f64> {
        self.with(|layer| Ok(layer.device_bytes() as f64))
    }

    /// Starts a new sequence.
    pub fn reset(&self) -> JsResult<()> {
        self.with(|layer| {
            layer.reset();
            Ok(())
        })
    }

    /// Sets low-rank updates, whose matrices are named `q.a`, `q.b` and so on; without any, removes them.
    #[wasm_bindgen(js_name = setLora)]
    pub fn set_lora(
        &self,
        rank: usize,
        scale: f32,
        weights: Option<WebLayerWeights>,
    ) -> JsResult<()> {
        self.with(|layer| {
            let lora = weights
                .map(|weights| QkvLoRA::from_resident(layer.config(), rank, scale, &weights.0))
                .transpose()?;
            layer.set_lora(lora);
            Ok(())
        })
    }

    /// Frees the object. Unlike `free`, throws for an object of an earlier instance of the module.
    pub fn release(self) {}
}

impl WebLayer {
    fn with<T>(&self, work: impl FnOnce(&mut WgslForwardPass) -> Result<T>) -> JsResult<T> {
        let mut place = self.0.borrow_mut();
        let layer = place.as_mut().ok_or_else(in_use)?;
        Ok(work(layer).map_err(in_javascript)?)
    }
}

fn in_use() -> Error {
    Error::InvalidArgument {
        name: "layer",
        value: "one that runs a call".into(),
        expected: "wait for it before the next",
    }
}

/// Decodes a configuration. The package's JavaScript creates the list, so only values that come from callers are checked.
fn config(given: &Array) -> Result<LayerConfig> {
    let sizes = list(&given.get(0))?;
    let [
        hidden,
        mlp_width,
        n_heads,
        n_kv_heads,
        head_dim,
        max_positions,
        window,
    ] = sizes[..]
    else {
        return Err(wrong("config", given, "give seven sizes"));
    };
    let or = |size, default| if size == 0 { default } else { size };
    let number = |i| given.get(i).as_f64().map(|number| number as f32);
    let usual = LayerConfig::decoder(hidden, n_heads, mlp_width);
    let kv_type = given.get(6);
    Ok(LayerConfig {
        n_kv_heads: or(n_kv_heads, n_heads),
        head_dim: or(head_dim, usual.head_dim),
        max_positions: or(max_positions, usual.max_positions),
        norm: norm(&given.get(1), number(2).unwrap_or_default())?,
        mlp: mlp(&given.get(3))?,
        causal: given.get(4).is_truthy(),
        window: (window > 0).then_some(window),
        rotary_base: number(5),
        kv_type: dtype(&kv_type)
            .ok_or_else(|| wrong("kvType", &kv_type, "give float32, float16 or bfloat16"))?,
        precision: Precision::F32,
        ..usual
    })
}

fn mlp(given: &JsValue) -> Result<Mlp> {
    match given.as_string().as_deref() {
        Some("swiGlu") => Ok(Mlp::SwiGlu),
        Some("gelu") => Ok(Mlp::Gelu),
        Some("geluTanh") => Ok(Mlp::GeluTanh),
        _ => Err(wrong("mlp", given, "give swiGlu, gelu or geluTanh")),
    }
}

fn dtype(given: &JsValue) -> Option<DType> {
    WebDType::from_js_value(given)?.named().ok()
}

/// Returns the error with the name that the argument has in JavaScript.
fn in_javascript(error: Error) -> Error {
    match error {
        Error::InvalidArgument {
            name,
            value,
            expected,
        } => Error::InvalidArgument {
            name: match name {
                "n_heads" => "nHeads",
                "n_kv_heads" => "nKvHeads",
                "head_dim" => "headDim",
                "mlp_width" => "mlpWidth",
                "max_positions" => "maxPositions",
                "input" => "rows",
                other => other,
            },
            value,
            expected,
        },
        other => other,
    }
}
