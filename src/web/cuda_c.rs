//! Kernels in CUDA C: translated to WGSL, PTX, SPIR-V, MSL and HLSL.

use ::cuda_c::{CompiledCuda, CudaOptions, CudaParamKind, Note, ScalarKind};
use wasm_bindgen::prelude::*;

use crate::error::coded;

type Result<T> = std::result::Result<T, JsValue>;

/// The language of a translation.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// WGSL.
    Wgsl,
    /// PTX, for NVIDIA's driver.
    Ptx,
    /// SPIR-V, in bytes.
    Spirv,
    /// Metal Shading Language 2.4.
    Msl,
    /// HLSL of shader model 6.0.
    Hlsl,
}

/// The kind of a parameter. A structure's number of bytes is in the list of parameters.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A buffer that is only read.
    Read,
    /// A buffer that is written.
    ReadWrite,
    /// A signed integer.
    I32,
    /// An unsigned integer or `bool`.
    U32,
    /// A `float`.
    F32,
    /// A structure or vector.
    Struct,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 64 bits.
    U64,
}

/// A compiled kernel.
#[wasm_bindgen(js_name = Translated)]
#[derive(Debug)]
pub struct WebCompiled(CompiledCuda);

/// Compiles the kernel `entry` of a source for a block of threads. `defines` are names of macros, each followed by its value;
/// `features` are of `narrow-doubles`, `subgroups`, `float16` and `int64`.
///
/// # Errors
/// `KERNEL_COMPILE` with `line:column: message` and the line of the CUDA source.
#[wasm_bindgen(js_name = compileCuda)]
pub fn compile_cuda(
    source: &str,
    entry: &str,
    block: &[u32],
    shared_bytes: u32,
    defines: Vec<String>,
    features: Vec<String>,
) -> Result<WebCompiled> {
    let (pairs, _) = defines.as_chunks::<2>();
    let defines: Vec<(&str, &str)> = pairs
        .iter()
        .map(|[name, value]| (name.as_str(), value.as_str()))
        .collect();
    let mut threads = [1; 3];
    for (to, from) in threads.iter_mut().zip(block) {
        *to = *from;
    }
    let has = |feature: &str| features.iter().any(|one| one == feature);
    let options = CudaOptions::new(entry)
        .block(threads)
        .shared_bytes(shared_bytes)
        .defines(&defines)
        .narrow_f64(has("narrow-doubles"))
        .subgroups(has("subgroups"))
        .float16(has("float16"))
        .int64(has("int64"));
    let compiled = ::cuda_c::compile_cuda(source, &options);
    compiled
        .map(WebCompiled)
        .map_err(|error| failed(entry, &error.with_line(source)))
}

/// Lists the kernels of a source: for each its name, the names of its template parameters separated by `, `, and its line.
///
/// # Errors
/// `KERNEL_COMPILE` with `line:column: message` of the CUDA source.
#[wasm_bindgen(js_name = cudaKernels)]
pub fn cuda_kernels(source: &str) -> Result<Vec<String>> {
    let kernels =
        ::cuda_c::kernels(source, &[]).map_err(|error| failed("", &error.with_line(source)))?;
    Ok(kernels
        .into_iter()
        .flat_map(|kernel| {
            [
                kernel.name,
                kernel.template.join(", "),
                kernel.line.to_string(),
            ]
        })
        .collect())
}

fn failed(entry: &str, error: &dyn std::fmt::Display) -> JsValue {
    let space = if entry.is_empty() { "" } else { " " };
    coded(
        &format!("kernel{space}{entry} does not compile: {error}"),
        "KERNEL_COMPILE",
    )
}

#[wasm_bindgen(js_class = Translated)]
impl WebCompiled {
    /// Writes the kernel in a language, as text or, for SPIR-V, as bytes.
    ///
    /// # Errors
    /// `KERNEL_COMPILE` if it uses what the language lacks.
    pub fn write(&self, language: Language) -> Result<Vec<u8>> {
        let text = match language {
            Language::Wgsl => self.0.wgsl(),
            Language::Ptx => self.0.ptx(),
            Language::Msl => self.0.msl(),
            Language::Hlsl => self.0.hlsl(),
            Language::Spirv => {
                let words = self
                    .0
                    .spirv()
                    .map_err(|error| failed(&self.0.entry, &error))?;
                return Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect());
            }
        };
        text.map(String::into_bytes)
            .map_err(|error| failed(&self.0.entry, &error))
    }

    /// Returns the name of the entry point.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn entry(&self) -> String {
        self.0.entry.clone()
    }

    /// Returns the bytes of the uniform with the scalars, which has the binding after the buffers; 0 if there is none.
    #[must_use]
    #[wasm_bindgen(getter, js_name = uniformBytes)]
    pub fn uniform_bytes(&self) -> u32 {
        self.0.uniform_bytes
    }

    /// Returns the names of the parameters.
    #[must_use]
    #[wasm_bindgen(getter, js_name = paramNames)]
    pub fn param_names(&self) -> Vec<String> {
        self.0.params.iter().map(|p| p.name.clone()).collect()
    }

    /// Returns three numbers for each parameter: its kind, its binding or its offset in the uniform, and the bytes of an element
    /// or of the value.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn params(&self) -> Vec<u32> {
        let numbers = |kind: &CudaParamKind| match *kind {
            CudaParamKind::Buffer {
                binding,
                writable,
                element_bytes,
            } => {
                let kind = if writable {
                    ParamKind::ReadWrite
                } else {
                    ParamKind::Read
                };
                [kind as u32, binding, element_bytes]
            }
            CudaParamKind::Scalar { offset, kind } => {
                let (kind, n_bytes) = match kind {
                    ScalarKind::I32 => (ParamKind::I32, 4),
                    ScalarKind::U32 => (ParamKind::U32, 4),
                    ScalarKind::F32 => (ParamKind::F32, 4),
                    ScalarKind::I64 => (ParamKind::I64, 8),
                    ScalarKind::U64 => (ParamKind::U64, 8),
                };
                [kind as u32, offset, n_bytes]
            }
            CudaParamKind::Struct { offset, n_bytes } => {
                [ParamKind::Struct as u32, offset, n_bytes]
            }
            _ => [u32::MAX; 3],
        };
        self.0
            .params
            .iter()
            .flat_map(|param| numbers(&param.kind))
            .collect()
    }

    /// Returns remarks on the source, each as `line:column: message`.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn notes(&self) -> Vec<String> {
        let text = |note: &Note| format!("{}:{}: {}", note.line, note.column, note.message);
        self.0.notes.iter().map(text).collect()
    }
}
