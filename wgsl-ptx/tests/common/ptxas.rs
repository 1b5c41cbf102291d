//! The assembler of NVIDIA's toolkit: the program that the environment variable `PTXAS` names, or `ptxas` in `PATH`.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::PathBuf;
use std::process::Command;

/// Architectures for which every kernel must assemble.
pub const TARGETS: [u32; 4] = [75, 80, 90, 100];

/// Returns the assembler, or prints that there is none; the other checks of the test still run.
pub fn ptxas() -> Option<PathBuf> {
    let candidate = std::env::var_os("PTXAS").map_or_else(|| PathBuf::from("ptxas"), PathBuf::from);
    let found = Command::new(&candidate)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("no ptxas (set PTXAS to its path): PTX is not assembled in this test");
    }
    found.then_some(candidate)
}

/// Assembles a module for the architecture that it names. Returns the assembler's report on registers and spills, or
/// its errors.
pub fn assemble(ptxas: &PathBuf, name: &str, ptx: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    // One underscore between words: names of files are limited to 255 bytes.
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let source = folder.path().join(format!("{}.ptx", words.join("_")));
    std::fs::write(&source, ptx).map_err(|e| e.to_string())?;
    let target = ptx
        .lines()
        .find_map(|line| line.strip_prefix(".target "))
        .unwrap_or("sm_75");
    let output = Command::new(ptxas)
        .args(["-v", "--warn-on-spills", "-arch", target, "-o"])
        .arg(folder.path().join("out.cubin"))
        .arg(&source)
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    if let Some(folder) = std::env::var_os("PAGEPRESS_KEEP_PTX") {
        let kept = PathBuf::from(folder).join(format!(
            "{}.{target}",
            source.file_name().unwrap_or_default().display()
        ));
        std::fs::copy(&source, kept).map_err(|e| e.to_string())?;
    }
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}
