//! The assembler of NVIDIA's toolkit, where there is one: the variable `PTXAS`, or the path.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::PathBuf;
use std::process::Command;

/// Architectures that every kernel assembles for.
pub const TARGETS: [u32; 4] = [75, 80, 90, 100];

/// The assembler; without one the test says so and the rest of it still counts.
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

/// Assembles a module for the architecture it names. Returns what the assembler says about registers and spills, or
/// its errors.
pub fn assemble(ptxas: &PathBuf, name: &str, ptx: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = folder.path().join(format!(
        "{}.ptx",
        name.replace(|c: char| !c.is_alphanumeric(), "_")
    ));
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
