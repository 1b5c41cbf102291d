//! Sources that would take hours or overflow the stack are answered soon: compiled, or refused with the limit by name
//! and number, and the place.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod nesting;
mod sizes;
mod uses;

use std::time::{Duration, Instant};

use wgsl_ptx::{Error, PtxOptions, compile_wgsl};

/// In optimised builds it is a tenth of a second; this is for builds without, on machines that are busy.
const SOON: Duration = Duration::from_secs(10);

const MAIN: &str = "\n@compute @workgroup_size(1) fn main() {";
const OUT: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n";

/// Compiles on a thread with no more stack than threads have; `None` if it compiles.
#[track_caller]
fn answer(name: &str, wgsl: &str) -> Option<String> {
    let started = Instant::now();
    let compiled = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let thread = thread.spawn_scoped(scope, || compile_wgsl(wgsl, &PtxOptions::new("main")));
        thread.unwrap().join().unwrap()
    });
    let took = started.elapsed();
    println!("{name}: {} bytes, {took:?}", wgsl.len());
    assert!(took < SOON, "{name} took {took:?}");
    match compiled {
        Ok(_) => None,
        Err(Error::KernelCompile { message, .. }) => {
            println!("    {}", message.lines().next().unwrap_or_default());
            assert!(message.len() < 10_000, "{name}: {} bytes", message.len());
            Some(message)
        }
        Err(other) => panic!("{name}: {other}"),
    }
}

/// Refused, with or without a place.
#[track_caller]
fn is_refused(name: &str, wgsl: &str) -> String {
    match answer(name, wgsl) {
        Some(message) => message,
        None => panic!("{name} compiled"),
    }
}

/// Refused with a place, and with these words.
#[track_caller]
fn refused(name: &str, wgsl: &str, words: &[&str]) {
    let message = is_refused(name, wgsl);
    let place = message.split(": ").next().unwrap_or_default();
    let is_place = place
        .split_once(':')
        .is_some_and(|(line, column)| line.parse::<u32>().is_ok() && column.parse::<u32>().is_ok());
    assert!(is_place, "{name}: where? {message}");
    for part in words {
        assert!(
            message.contains(part),
            "{name}: {part:?} is not in {message:?}"
        );
    }
}

#[track_caller]
fn compiles(name: &str, wgsl: &str) {
    if let Some(message) = answer(name, wgsl) {
        panic!("{name}: {message}");
    }
}

fn repeated(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}
