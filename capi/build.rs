//! Names the shared library: programs that link it ask the loader for the name under which `install.mjs` installs it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is =
        |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    let unix_like_linux =
        is("CARGO_CFG_TARGET_FAMILY", "unix") && !is("CARGO_CFG_TARGET_VENDOR", "apple");
    if unix_like_linux {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpagepress.so.0");
    } else if is("CARGO_CFG_TARGET_VENDOR", "apple") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libpagepress.0.dylib");
    }
}
