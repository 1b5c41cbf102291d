//! Arguments, device and random numbers of the examples that measure.

use pagepress::gpu::{Backend, DeviceRequest, EngineChoice, GpuDevice};

pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The arguments of the command line.
pub struct Arguments(Vec<String>);

impl Arguments {
    pub fn new() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| argument == name)
    }

    /// Returns the argument after `name`.
    pub fn value(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().position(|argument| argument == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    /// Opens the device of `--engine`, by default the best.
    #[allow(dead_code, reason = "llama has another default, and the CPU")]
    pub fn device(&self) -> Outcome<GpuDevice> {
        let engine = match self.value("--engine") {
            Some("cuda") => EngineChoice::Cuda,
            Some("wgpu") => EngineChoice::Wgpu,
            None if !self.has("--engine") => EngineChoice::Auto,
            other => return Err(format!("--engine {other:?}: cuda or wgpu").into()),
        };
        self.open(engine)
    }

    /// Opens a device of an engine, a software GPU only with `--software`, and prints its name.
    pub fn open(&self, engine: EngineChoice) -> Outcome<GpuDevice> {
        let device = GpuDevice::open(&DeviceRequest {
            engine,
            allow_software: self.has("--software"),
            ..DeviceRequest::default()
        })?;
        println!("{} through {}", device.info(), device.name());
        Ok(device)
    }
}

/// Returns a source of random words, the same for the same seed.
pub fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Returns numbers from -1 to 1, the same for the same seed.
#[allow(dead_code, reason = "packed_bench has coarser ones")]
pub fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut next = random(seed);
    let number = |_| (next() >> 40) as f32 / (1 << 23) as f32 - 1.0;
    (0..n).map(number).collect()
}
