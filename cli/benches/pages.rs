//! Runs `pagepress bench` on every engine of the machine, which verifies pages and frames before it times them.
//!
//! ```sh
//! cargo bench --package pagepress-cli --features cuda --bench pages -- [FILE...]
//! ```
//! Without files it measures the command's own executable. `cargo test` measures little, for the verification alone.

use std::error::Error;
use std::process::Command;

/// Path of the command that cargo built.
const COMMAND: &str = env!("CARGO_BIN_EXE_pagepress");

/// Bytes of the executable that a test uses.
const TEST_BYTES: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let (options, mut files): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let is_bench = options.iter().any(|option| option == "--bench");
    let folder = tempfile::tempdir()?;
    if files.is_empty() {
        let mut content = std::fs::read(COMMAND)?;
        if !is_bench {
            content.truncate(TEST_BYTES);
        }
        let path = folder.path().join("executable");
        std::fs::write(&path, content)?;
        files.push(path.display().to_string());
    }
    let page_sizes: &[&str] = if is_bench {
        &["4096", "65536"]
    } else {
        &["4096"]
    };
    let mut backends = vec!["cpu"];
    if cfg!(feature = "wgpu") {
        backends.push("wgpu");
    }
    if cfg!(feature = "cuda") {
        backends.push("cuda");
    }
    for backend in backends {
        for page_size in page_sizes {
            measure(backend, page_size, &files, is_bench)?;
        }
    }
    Ok(())
}

/// Runs the command and shows what it prints. Only a GPU that is not available may fail; its reason is shown.
fn measure(
    backend: &str,
    page_size: &str,
    files: &[String],
    is_bench: bool,
) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new(COMMAND);
    command.args(["bench", "--json", "--backend", backend]);
    command.args(["--page-size", page_size]);
    if !is_bench {
        command.args(["--runs", "1"]);
    } else if backend != "cpu" {
        command.arg("--resident");
    }
    let output = command.args(files).output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{message}");
    let is_absent = backend != "cpu" && message.contains("is not available");
    match output.status.success() || is_absent {
        true => Ok(()),
        false => Err(format!("{backend}, pages of {page_size} bytes: {}", output.status).into()),
    }
}
