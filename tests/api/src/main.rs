//! Prints the public API of a crate of the repository, named by the argument, with all features; needs a nightly toolchain.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let package = std::env::args().nth(1).ok_or("usage: PACKAGE")?;
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let json = rustdoc_json::Builder::default()
        .toolchain(std::env::var("PAGEPRESS_NIGHTLY").unwrap_or_else(|_| "nightly".into()))
        .manifest_path(manifest)
        .package(package)
        .all_features(true)
        .silent(true)
        .build()?;
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    // Re-exports of items of other crates, whose rustdoc JSON is not loaded.
    let n_missing = api.missing_item_ids().count();
    if n_missing > 0 {
        eprintln!("{n_missing} items of other crates are listed by their re-exports only");
    }
    print!("{api}");
    Ok(())
}
