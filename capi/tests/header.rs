//! Compares `include/pagepress.h` with the sources. `PAGEPRESS_WRITE_HEADER=1` writes it anew.
#![cfg(not(target_arch = "wasm32"))]

use std::path::Path;

use cbindgen::{Config, Language, Style};

const HEAD: &str = "\
/*
 * Pagepress: LZ4 frames, blocks and memory pages, on any GPU and on the CPU.
 *
 * Every function checks pointers for null and sizes for overflow, and returns a pp_status; pp_last_error() has the message.
 * Pointers that are not null must be valid as the function's section on safety says.
 *
 * All functions may be called from several threads at once. Calls on one context or one stream take turns. A handle must not be
 * freed while another thread uses it.
 *
 * Written by cbindgen from capi/src; change it there.
 */";

#[test]
fn the_header_is_that_of_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = Config {
        language: Language::C,
        style: Style::Both,
        cpp_compat: true,
        include_guard: Some("PAGEPRESS_H".into()),
        header: Some(HEAD.into()),
        documentation: true,
        ..Config::default()
    };
    config.enumeration.prefix_with_name = false;
    // No function has parameters of these types, since a number from C may be no value of an enumeration.
    config.export.include = ["pp_block_status", "pp_engine", "pp_level", "pp_page_kind"]
        .map(String::from)
        .into();
    config.function.args = cbindgen::Layout::Auto;
    config.line_length = 120;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_crate(folder)
        .generate()
        .unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = folder.join("include/pagepress.h");
    if std::env::var_os("PAGEPRESS_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let stored = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        stored == made,
        "include/pagepress.h differs from the sources: PAGEPRESS_WRITE_HEADER=1 cargo test --package pagepress-capi --test header"
    );
}
