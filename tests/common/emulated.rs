//! Cooperative matrices of 16x16 elements for GPUs without them: the text of a kernel with functions of plain WGSL in their place.
//!
//! A matrix is an array of 8 elements of each of 32 invocations, those at places `lane + 32 * n` of its rows. Factors of a product are
//! exchanged through workgroup memory: a product takes 152 turns of loops, of which lavapipe grants an invocation 65,535. Kernels use matrices in uniform control flow only, so barriers are allowed there.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A load or store of a matrix: its kind, the type and order of the matrix, and the array in memory.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Transfer {
    is_load: bool,
    by_rows: bool,
    matrix: String,
    array: String,
}

impl Transfer {
    fn name(&self) -> String {
        let kind = if self.is_load { "load" } else { "store" };
        let order = if self.by_rows { "rows" } else { "columns" };
        format!("emulated_{kind}_{order}_{}_{}", self.matrix, self.array)
    }

    /// Returns the function that takes its place. Strides are in elements of the array, which may be vectors.
    fn function(&self, kernel: &str) -> String {
        let width = vector_width(kernel, &self.array);
        let (line, column) = match self.by_rows {
            true => ("place / 16u", "place % 16u"),
            false => ("place % 16u", "place / 16u"),
        };
        let element = match width {
            1 => format!("{}[at]", self.array),
            _ => format!("{}[at / {width}u][at % {width}u]", self.array),
        };
        let places = format!(
            "for (var n = 0u; n < n_own; n++) {{
        let place = own_invocation % 32u + 32u * n;
        let at = {width}u * (start + {line} * stride) + {column};"
        );
        let (name, matrix) = (self.name(), &self.matrix);
        if self.is_load {
            return format!(
                "fn {name}(start: u32, stride: u32) -> {matrix} {{
    var matrix: {matrix};
    {places}
        matrix[n] = {element};
    }}
    return matrix;
}}\n"
            );
        }
        format!(
            "fn {name}(given: {matrix}, start: u32, stride: u32) {{
    var matrix = given;
    {places}
        {element} = matrix[n];
    }}
}}\n"
        )
    }
}

/// Returns the number of components of an array's elements.
fn vector_width(kernel: &str, array: &str) -> u32 {
    let declared = after(kernel, &format!("> {array}: array<"));
    let element = declared.split([',', '>']).next().unwrap();
    let resolved = match kernel.find(&format!("alias {element} = ")) {
        Some(at) => after(&kernel[at..], "= "),
        None => declared,
    };
    ["vec2", "vec3", "vec4"]
        .iter()
        .position(|vector| resolved.starts_with(vector))
        .map_or(1, |at| at as u32 + 2)
}

fn after<'a>(text: &'a str, start: &str) -> &'a str {
    let at = text.find(start).unwrap_or_else(|| panic!("no {start}"));
    &text[at + start.len()..]
}

/// Splits a text at the bracket that ends what it starts with.
fn split_at_end(text: &str) -> (&str, &str) {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' if depth == 0 => return (&text[..at], &text[at + 1..]),
            b')' | b']' => depth -= 1,
            _ => {}
        }
    }
    panic!("no end of {text}")
}

/// Returns a kernel of halves with matrices of plain WGSL. Workgroups have at most `n_subgroups` times 32 invocations, the index of one is
/// `i`.
pub fn without_cooperative_matrices(kernel: &str, entry: &str, n_subgroups: u32) -> String {
    let mut text = kernel.replace("enable wgpu_cooperative_matrix;", "");
    for (of, role) in [("f16", "A"), ("f16", "B"), ("f32", "C")] {
        let cooperative = format!("coop_mat16x16<{of}, {role}>");
        text = text.replace(&cooperative, &format!("array<{of}, 8>"));
    }
    let mut transfers = BTreeSet::new();
    for (start, before_array, is_load, by_rows) in [
        ("coopLoadT<", ">(&", true, true),
        ("coopLoad<", ">(&", true, false),
        ("coopStoreT(", ", &", false, true),
    ] {
        while let Some(at) = text.find(start) {
            // The type of a matrix to load, or the matrix to store.
            let (first, rest) = text[at + start.len()..].split_once(before_array).unwrap();
            let (array, rest) = rest.split_once('[').unwrap();
            let (place, rest) = split_at_end(rest);
            let (matrix, stored) = match is_load {
                true => (first, String::new()),
                false => ("Sum", format!("{first}, ")),
            };
            let transfer = Transfer {
                is_load,
                by_rows,
                matrix: matrix.into(),
                array: array.into(),
            };
            text = format!("{}{}({stored}{place}{rest}", &text[..at], transfer.name());
            transfers.insert(transfer);
        }
    }
    text = text.replace("coopMultiplyAdd(", "emulated_multiply(");
    assert!(!text.contains("coop"), "a construct that is not emulated");
    let functions = transfers.iter().map(|transfer| transfer.function(&text));
    let functions: String = functions.collect();
    let body = text.find(&format!("fn {entry}(")).unwrap();
    let (parameters, rest) = text[body..].split_once(") {").unwrap();
    let mut out = format!(
        "{}{parameters}) {{\n    own_invocation = i;\n    n_own = 8u + (i >> 16u);",
        &text[..body]
    );
    write!(
        out,
        "{rest}
var<private> own_invocation: u32;
// 8, but compilers do not know it: loops that are not unrolled compile in seconds instead of minutes.
var<private> n_own: u32;
var<workgroup> sh_emulated: array<f16, {}>;

fn emulated_multiply(left: array<f16, 8>, right: array<f16, 8>, given: array<f32, 8>) -> array<f32, 8> {{
    var rows = left;
    var columns = right;
    var sums = given;
    let own = own_invocation / 32u * 512u;
    let lane = own_invocation % 32u;
    workgroupBarrier();
    for (var n = 0u; n < n_own; n++) {{
        sh_emulated[own + lane + 32u * n] = rows[n];
        sh_emulated[own + 256u + lane + 32u * n] = columns[n];
    }}
    workgroupBarrier();
    for (var n = 0u; n < n_own; n++) {{
        let place = lane + 32u * n;
        for (var k = 0u; k < 2u * n_own; k++) {{
            sums[n] += f32(sh_emulated[own + 16u * (place / 16u) + k]) * f32(sh_emulated[own + 256u + 16u * k + place % 16u]);
        }}
    }}
    return sums;
}}
{functions}",
        512 * n_subgroups
    )
    .unwrap();
    out
}
