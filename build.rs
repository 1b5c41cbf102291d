//! Names the engines of this build for `cfg`, since a feature alone does not say it: `cuda` means nothing on wasm32.
//! Joins the shaders with the files that they import; for wasm32 it also removes comments and spaces from them.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let has = |name: &str| env::var_os(name).is_some();
    let wasm = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    let cuda = has("CARGO_FEATURE_CUDA") && !wasm;
    let web = has("CARGO_FEATURE__WEB") && wasm;
    let wgpu = has("CARGO_FEATURE_WGPU");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(cuda_engine)");
    println!("cargo::rustc-check-cfg=cfg(gpu_engine)");
    println!("cargo::rustc-check-cfg=cfg(vulkan_engine)");
    println!("cargo::rustc-check-cfg=cfg(web)");
    println!("cargo::rustc-check-cfg=cfg(web_engine)");
    println!("cargo::rustc-check-cfg=cfg(web_files)");
    println!("cargo::rustc-check-cfg=cfg(web_formats)");
    println!("cargo::rustc-check-cfg=cfg(web_module)");
    println!("cargo::rustc-check-cfg=cfg(web_pages)");
    println!("cargo::rustc-check-cfg=cfg(web_tensor)");
    println!("cargo::rustc-check-cfg=cfg(lz4_only)");
    println!("cargo::rustc-check-cfg=cfg(no_dictionary)");
    println!("cargo::rustc-check-cfg=cfg(no_snapshot)");
    println!("cargo::rustc-check-cfg=cfg(pagepress_forced_instructions)");
    if cuda {
        println!("cargo::rustc-cfg=cuda_engine");
    }
    if cuda || wgpu {
        println!("cargo::rustc-cfg=gpu_engine");
    }
    let os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if wgpu && ["windows", "linux", "android", "freebsd"].contains(&os.as_str()) {
        println!("cargo::rustc-cfg=vulkan_engine");
    }
    // wgpu in a browser.
    if wasm && wgpu {
        println!("cargo::rustc-cfg=web_engine");
    }
    // The surfaces for JavaScript: any, and those that other parts of the crate have something for.
    if web {
        println!("cargo::rustc-cfg=web");
    }
    for (feature, name) in [
        ("CARGO_FEATURE_WEB_FILES", "web_files"),
        ("CARGO_FEATURE_WEB_FORMATS", "web_formats"),
        ("CARGO_FEATURE_WEB_GPU", "web_pages"),
        ("CARGO_FEATURE_WEB_TENSOR", "web_tensor"),
    ] {
        if web && has(feature) {
            println!("cargo::rustc-cfg={name}");
        }
    }
    // Those that drive a GPU.
    if web && (has("CARGO_FEATURE_WEB_GPU") || has("CARGO_FEATURE_WEB_TENSOR")) {
        println!("cargo::rustc-cfg=web_module");
    }
    // Modules of the package without a GPU.
    if web && !wgpu {
        println!("cargo::rustc-cfg=lz4_only");
    }
    // Modules of the package without dictionaries.
    if web && !has("CARGO_FEATURE_WEB_DICTIONARY") && !has("CARGO_FEATURE_WEB_GPU") {
        println!("cargo::rustc-cfg=no_dictionary");
    }
    // Modules of the package that cannot meet the errors of snapshots.
    if web && !has("CARGO_FEATURE_WEB_SNAPSHOT") {
        println!("cargo::rustc-cfg=no_snapshot");
    }
    join_shaders(wasm)
}

/// Writes every kernel's shader, joined with the files that it imports, to `OUT_DIR`; for wasm, stripped.
fn join_shaders(stripped: bool) -> io::Result<()> {
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    println!("cargo::rerun-if-changed=shaders");
    for entry in fs::read_dir("shaders")? {
        let path = entry?.path();
        let (Some(name), Some("wgsl")) = (
            path.file_stem().and_then(|name| name.to_str()),
            path.extension().and_then(|e| e.to_str()),
        ) else {
            continue;
        };
        let write = |replaced: [&str; 2], file: String| {
            let joined = join(name, replaced)?;
            let wgsl = if stripped { strip(&joined) } else { joined };
            fs::write(Path::new(&out).join(file), wgsl)
        };
        write([""; 2], format!("{name}.wgsl"))?;
        for (kernels, replaced, text) in SECOND_TEXTS {
            if kernels.contains(&name) {
                write(replaced, format!("{name}.{text}.wgsl"))?;
            }
        }
    }
    Ok(())
}

/// Kernels that have a second text, in which files of one folder take the place of those of the same names in another, and its name.
/// The files in `shaders/lib/pages` treat pages that lie back to back, those in `shaders/lib/chunks` chunks with a length each. The files in
/// `shaders/lib/narrow` are for workgroups of 32 invocations, those in `shaders/lib/wide` for 64. With the files in
/// `shaders/lib/plain` kernels store products, with those in `shaders/lib/fused` what an epilogue makes of them. With the files in
/// `shaders/lib/singles` kernels read and write f32, with those in `shaders/lib/halves` f16 or bf16.
const SECOND_TEXTS: [(&[&str], [&str; 2], &str); 4] = [
    (
        &[
            "lz4_copy",
            "lz4_emit",
            "lz4_parse",
            "lz4_tokens",
            "lz4_tokens_many",
        ],
        ["lib/pages/", "lib/chunks/"],
        "chunks",
    ),
    (&["lz4_copy"], ["lib/narrow/", "lib/wide/"], "wide"),
    (
        &[
            "tensor_matmul",
            "tensor_matmul_half",
            "tensor_matmul_tf32",
            "tensor_matmul_tf32_warpgroup",
            "tensor_matmul_warpgroup",
        ],
        ["lib/plain/", "lib/fused/"],
        "fused",
    ),
    (
        &[
            "tensor_elementwise",
            "tensor_norm",
            "tensor_reduce_rows",
            "tensor_softmax",
        ],
        ["lib/singles/", "lib/halves/"],
        "halves",
    ),
];

/// Returns the text of a kernel followed by every file that it imports, directly or not, once each, those of the folder
/// `to` in place of those of `from`. The kernel's own text comes first, so that its line numbers hold; the order of declarations means nothing in WGSL.
fn join(kernel: &str, [from, to]: [&str; 2]) -> io::Result<String> {
    let mut names = vec![kernel.to_owned()];
    let mut joined = String::new();
    let mut next = 0;
    while let Some(name) = names.get(next) {
        let path = format!("shaders/{name}.wgsl");
        let text = fs::read_to_string(&path)
            .map_err(|error| io::Error::other(format!("{path}, for {kernel}: {error}")))?;
        for import in imports(&text) {
            let import = import.replacen(from, to, 1);
            if !names.contains(&import) {
                names.push(import);
            }
        }
        joined.push_str(&text);
        next += 1;
    }
    Ok(joined)
}

/// Returns the files named in the comment lines `// import: lib/bits, lib/merge` of a shader.
fn imports(wgsl: &str) -> impl Iterator<Item = &str> {
    wgsl.lines()
        .filter_map(|line| line.strip_prefix("// import: "))
        .flat_map(|names| names.split(", "))
}

/// Removes comments, indentation and the spaces beside punctuation and most operators, to make the text that a page loads
/// smaller. Newlines stay, so that compilers' messages name short lines.
fn strip(wgsl: &str) -> String {
    let mut out = String::new();
    for line in wgsl.lines() {
        let code = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        let mut code = words.join(" ");
        for mark in [",", ";", ":", "(", ")", "{", "}"] {
            code = code
                .replace(&format!(" {mark}"), mark)
                .replace(&format!("{mark} "), mark);
        }
        for operator in ["=", "==", "!=", "+", "+=", "*", "&", "&&", "|", "||", "^"] {
            code = join_operands(&code, operator);
        }
        if !code.is_empty() {
            out.push_str(&code);
            out.push('\n');
        }
    }
    out
}

/// Removes the spaces around a binary operator, unless they keep two tokens apart: `vec2<u32> = x`, `a & &b`.
fn join_operands(code: &str, operator: &str) -> String {
    let spaced = format!(" {operator} ");
    let mut joined = String::new();
    for (i, operand) in code.split(&spaced).enumerate() {
        if i > 0 {
            let is_operand = |c: char| c.is_alphanumeric() || c == '_' || c == '(';
            let fits = operand.starts_with(is_operand) && !joined.ends_with('>');
            joined.push_str(if fits { operator } else { &spaced });
        }
        joined.push_str(operand);
    }
    joined
}
