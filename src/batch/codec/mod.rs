//! [`Codec`]: pages and frames on any engine.

#[cfg(gpu_engine)]
pub(in crate::batch) mod aside;
pub(crate) mod choose;
#[cfg(gpu_engine)]
pub(crate) mod gpu_codec;
mod pages;

#[cfg(not(gpu_engine))]
use crate::Error;
use crate::Result;
use crate::batch::timing::Timings;
#[cfg(not(gpu_engine))]
use crate::engine::Rejected;
use crate::engine::{BackendChoice, BackendRequest, CPU, PowerPreference};
#[cfg(gpu_engine)]
use crate::gpu::Backend;
use crate::lz4::{Dictionary, Level};
#[cfg(gpu_engine)]
use gpu_codec::GpuCodec;

/// Engine and dictionary of a [`Codec`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodecOptions {
    /// The engine to use.
    pub backend: BackendRequest,
    /// Preference between discrete and integrated GPUs.
    pub power_preference: PowerPreference,
    /// Allows [`BackendRequest::Wgpu`] to use a software adapter. [`BackendRequest::Auto`] never uses one.
    pub allow_software: bool,
    /// Index of the adapter for [`BackendRequest::Wgpu`] or [`BackendRequest::Cuda`] among the adapters of that engine,
    /// software adapters included.
    pub adapter_index: Option<usize>,
    /// Stands before each page, and before each block of a frame whose options have no other one.
    pub dictionary: Option<Dictionary>,
}

/// Engine and times of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The engine that did the work: `"cpu"`, `"cuda"` or `"wgpu"`.
    pub engine: &'static str,
    /// Reason for the choice of that engine in this call.
    pub reason: String,
    /// Times of the call.
    pub timings: Timings,
}

impl Report {
    /// Creates the report of a call that ran on the CPU.
    pub(crate) fn cpu(reason: String, timings: Timings) -> Self {
        Self {
            engine: CPU,
            reason,
            timings,
        }
    }

    /// Adds the report of another part of the same call. The engine is that of the part with the larger total time.
    pub(crate) fn add(&mut self, other: Self) {
        if other.timings.total_ns > self.timings.total_ns {
            self.engine = other.engine;
            self.reason = other.reason;
        }
        self.timings.add(&other.timings);
    }
}

/// Compresses and decompresses pages and frames on one engine or, in `Auto` mode, on the faster of two.
///
/// [`Level`] defines on which engines the bytes are equal. A lost GPU is reopened once and the work replayed; after that a
/// forced engine fails with [`Error::DeviceLost`](crate::Error::DeviceLost), and `Auto` falls back to the CPU.
#[derive(Debug)]
pub struct Codec {
    pub(in crate::batch) options: CodecOptions,
    pub(in crate::batch) choice: BackendChoice,
    #[cfg(gpu_engine)]
    pub(in crate::batch) gpu: Option<GpuCodec>,
}

impl Codec {
    /// Opens the engine that `options` selects.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`](crate::Error::BackendUnavailable) with a reason for each candidate if a forced engine is missing.
    pub async fn new_async(options: CodecOptions) -> Result<Self> {
        if options.backend == BackendRequest::Cpu {
            let choice = BackendChoice::cpu("the CPU was asked for".into(), Vec::new());
            return Ok(Self::on_cpu(options, choice));
        }
        #[cfg(gpu_engine)]
        match GpuCodec::open_async(&options).await {
            Ok((gpu, choice)) => Ok(Self {
                options,
                choice,
                gpu: Some(gpu),
            }),
            Err(error) if options.backend.forces_gpu() => Err(error),
            Err(error) => {
                let rejected = gpu_codec::rejected_async(&error).await;
                let choice = BackendChoice::cpu("no hardware GPU can be used".into(), rejected);
                Ok(Self::on_cpu(options, choice))
            }
        }
        #[cfg(not(gpu_engine))]
        {
            let reason = "this build has no GPU engine; the features `cuda` and `wgpu` add them";
            if options.backend.forces_gpu() {
                return Err(Error::BackendUnavailable {
                    backend: "GPU",
                    reason: reason.into(),
                });
            }
            let rejected = vec![Rejected {
                candidate: "GPU".into(),
                reason: reason.into(),
            }];
            Ok(Self::on_cpu(
                options,
                BackendChoice::cpu("the only engine of this build".into(), rejected),
            ))
        }
    }

    /// Creates a codec on an open device, as if its engine had been requested.
    ///
    /// # Errors
    /// None today.
    #[cfg(gpu_engine)]
    pub fn with_device(device: crate::gpu::GpuDevice) -> Result<Self> {
        let options = CodecOptions {
            backend: match device.name() {
                crate::engine::CUDA => BackendRequest::Cuda,
                _ => BackendRequest::Wgpu,
            },
            ..CodecOptions::default()
        };
        let (gpu, choice) = GpuCodec::with_device(device, false);
        Ok(Self {
            options,
            choice,
            gpu: Some(gpu),
        })
    }

    /// Uses a dictionary in all later calls, as if it had been in the [`CodecOptions`].
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: Dictionary) -> Self {
        self.options.dictionary = Some(dictionary);
        self
    }

    fn on_cpu(options: CodecOptions, choice: BackendChoice) -> Self {
        Self {
            options,
            choice,
            #[cfg(gpu_engine)]
            gpu: None,
        }
    }

    /// Returns the chosen engine and the reason. In `Auto` mode with a GPU a call still runs on the CPU where that is
    /// measured to be faster; its [`Report`] has the engine of the call.
    #[must_use]
    pub fn choice(&self) -> &BackendChoice {
        &self.choice
    }

    /// Returns the level of `auto` on this codec: the fastest of its engine or, if `deterministic`, the fastest that every
    /// engine can write.
    #[must_use]
    pub fn auto_level(&self, deterministic: bool) -> Level {
        Level::auto(self.choice.engine != "cpu", deterministic)
    }

    /// Returns the options that the codec was opened with.
    #[must_use]
    pub fn options(&self) -> &CodecOptions {
        &self.options
    }

    /// Returns the GPU in use, if any.
    #[cfg(gpu_engine)]
    #[must_use]
    pub fn device(&self) -> Option<&crate::gpu::GpuDevice> {
        self.gpu.as_ref().map(GpuCodec::device)
    }

    /// Returns true if this call may block its thread, and there is a GPU.
    #[cfg(gpu_engine)]
    pub(in crate::batch) fn may_block(&self) -> bool {
        self.gpu.as_ref().is_some_and(GpuCodec::may_block)
    }

    /// Returns the reason why no call runs on a GPU; `None` if there is one in use.
    pub(in crate::batch) fn cpu_only(&self) -> Option<&str> {
        (self.choice.engine == CPU).then_some(self.choice.reason.as_str())
    }
}

#[cfg(gpu_engine)]
pub(in crate::batch) fn no_gpu() -> crate::Error {
    crate::Error::BackendUnavailable {
        backend: "GPU",
        reason: "the GPU was lost, and the codec fell back to the CPU".into(),
    }
}

/// Runs `work` on the CPU and times it.
pub(crate) fn on_host<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Timings)> {
    let clock = crate::clock::Clock::start();
    let value = work()?;
    Ok((value, Timings::host(clock.elapsed_ns())))
}

/// Blocking forms. Native only.
#[cfg(not(target_arch = "wasm32"))]
impl Codec {
    /// Runs a call that may block this thread and others of the pool.
    pub(in crate::batch) fn blocking<T>(&mut self, call: impl FnOnce(&mut Self) -> T) -> T {
        self.set_may_block(true);
        let done = call(self);
        self.set_may_block(false);
        done
    }

    fn set_may_block(&mut self, may_block: bool) {
        #[cfg(gpu_engine)]
        if let Some(gpu) = &mut self.gpu {
            gpu.set_may_block(may_block);
        }
        #[cfg(not(gpu_engine))]
        let _ = may_block;
    }

    /// Blocking form of [`new_async`](Self::new_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn new(options: CodecOptions) -> Result<Self> {
        crate::batch::block_on(Self::new_async(options))
    }
}
