//! Errors in JavaScript: an `Error` with the property `code`.

use wasm_bindgen::prelude::*;

use super::Error;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Error)]
    type CodedError;

    #[wasm_bindgen(constructor, js_class = "Error")]
    fn new(message: &str) -> CodedError;

    #[wasm_bindgen(method, setter)]
    fn set_code(this: &CodedError, code: &str);
}

/// Returns an `Error` with this message and this code.
pub(crate) fn coded(message: &str, code: &str) -> JsValue {
    let error = CodedError::new(message);
    error.set_code(code);
    error.into()
}

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        coded(&format!("{error}"), error.code())
    }
}
