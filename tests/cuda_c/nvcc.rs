//! Runs cases as NVIDIA's compiler builds them, with the driver's own interface.
//!
//! For a machine with CUDA's toolkit and a GPU: `PAGEPRESS_NVCC` is the path of `nvcc`.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::process::Command;

use cudarc::driver::sys::{self, CUresult};

use crate::case::{Arg, Case};
use crate::options::options;

/// A kernel in PTX, as `nvcc` compiled it.
pub struct Built {
    ptx: CString,
    /// Mangled name of the kernel.
    entry: CString,
}

/// Returns the source with `double` as `float` if the case says so, and an instantiation of its template.
fn source(case: &Case) -> String {
    let mut lines: Vec<&str> = case.source.lines().collect();
    if case.narrow_f64 {
        let is_include = |line: &&str| line.trim_start().starts_with("#include");
        let after = lines.iter().rposition(is_include).map_or(0, |at| at + 1);
        lines.insert(after, "#define double float");
    }
    let mut text = lines.join("\n");
    if case.entry.contains('<') {
        let entry = case.entry;
        text += &format!("\nvoid *pagepress_kernel() {{ return (void *){entry}; }}\n");
    }
    text
}

/// Returns the names of the kernels in PTX.
fn entries(ptx: &str) -> Vec<&str> {
    let after = ptx.split(".entry ").skip(1);
    after
        .filter_map(|text| text.split(['(', '\n', ' ']).next())
        .collect()
}

/// Returns the mangled name of the kernel `entry`, such as `scale<float, 4>`.
fn mangled<'a>(ptx: &'a str, entry: &str) -> Result<&'a str, String> {
    let base = entry.split('<').next().unwrap_or(entry).trim();
    let base = base.rsplit("::").next().unwrap_or(base);
    let part = format!("{}{base}", base.len());
    let names = entries(ptx);
    let mut found = names.iter().filter(|name| {
        let after = name.split(&part).nth(1);
        let is_whole = after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_digit()));
        **name == base || is_whole
    });
    // The last is the instantiation that the added line asks for.
    let first = found.next_back();
    first
        .copied()
        .ok_or_else(|| format!("{entry} is not among {names:?}"))
}

/// Compiles a case with `nvcc` for GPUs of `architecture`, such as `compute_90`.
pub fn build(nvcc: &Path, architecture: &str, case: &Case) -> Result<Built, String> {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (
        folder.path().join("case.cu"),
        folder.path().join("case.ptx"),
    );
    std::fs::write(&from, source(case)).unwrap();
    let mut command = Command::new(nvcc);
    command.args(["-ptx", "-w", "-std=c++17", "-arch", architecture]);
    for (name, value) in &case.defines {
        command.arg(format!("-D{name}={value}"));
    }
    let output = command.arg("-o").arg(&to).arg(&from).output();
    let output = output.map_err(|error| format!("nvcc does not start: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let ptx = std::fs::read_to_string(to).unwrap();
    let entry = mangled(&ptx, case.entry)?.to_owned();
    Ok(Built {
        ptx: CString::new(ptx).unwrap(),
        entry: CString::new(entry).unwrap(),
    })
}

fn ok(code: CUresult) -> Result<(), String> {
    match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(format!("{code:?}")),
    }
}

/// The primary context of GPU 0, current on the thread.
pub struct Gpu {
    device: sys::CUdevice,
}

impl Gpu {
    pub fn new() -> Self {
        let mut context = std::ptr::null_mut();
        // SAFETY: the variable outlives the calls, which return it.
        unsafe {
            ok(sys::cuInit(0)).unwrap();
            ok(sys::cuDevicePrimaryCtxRetain(&raw mut context, 0)).unwrap();
            ok(sys::cuCtxPushCurrent_v2(context)).unwrap();
        }
        Self { device: 0 }
    }

    /// Returns the architecture as `nvcc` names it.
    pub fn architecture(&self) -> String {
        use sys::CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
        };
        let [major, minor] = [MAJOR, MINOR].map(|attribute| {
            let mut value = 0;
            // SAFETY: the variable outlives the call, and `new` has initialised the driver.
            ok(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, self.device) })
                .unwrap();
            value
        });
        format!("compute_{major}{minor}")
    }

    /// Runs a case, and returns its buffers after it in the order of its arguments.
    pub fn run(&self, built: &Built, case: &Case) -> Result<Vec<Vec<u8>>, String> {
        let mut module = Module(std::ptr::null_mut());
        let mut function = std::ptr::null_mut();
        // SAFETY: the text ends with a zero, and the variables outlive the calls.
        unsafe {
            let image = built.ptx.as_ptr().cast::<c_void>();
            ok(sys::cuModuleLoadData(&raw mut module.0, image))?;
            let entry = built.entry.as_ptr();
            ok(sys::cuModuleGetFunction(&raw mut function, module.0, entry))?;
        }
        let n_params = n_params(function);
        let mut memory = Memory::default();
        let mut values: Vec<[u64; 32]> = Vec::new();
        for (position, arg) in case.args.iter().enumerate() {
            let mut value = [0; 32];
            match arg {
                Arg::Buffer { before, .. } if position < n_params => {
                    value[0] = memory.upload(before)?;
                }
                Arg::Buffer { before, .. } => {
                    memory.bind(&module, &variable(case, position)?, before)?;
                }
                Arg::I32(number) => value[0] = i64::from(*number) as u64,
                Arg::U32(number) => value[0] = u64::from(*number),
                Arg::F32(number) => value[0] = u64::from(number.to_bits()),
                Arg::I64(number) => value[0] = *number as u64,
                Arg::U64(number) => value[0] = *number,
                Arg::Bytes(bytes) => {
                    for (word, bytes) in value.iter_mut().zip(bytes.chunks(8)) {
                        let mut whole = [0; 8];
                        whole[..bytes.len()].copy_from_slice(bytes);
                        *word = u64::from_le_bytes(whole);
                    }
                }
            }
            values.push(value);
        }
        if values.len() < n_params {
            return Err(format!("{} arguments of {n_params}", values.len()));
        }
        let addresses = values.iter_mut().map(|value| value.as_mut_ptr().cast());
        let mut addresses: Vec<*mut c_void> = addresses.collect();
        let ([gx, gy, gz], [bx, by, bz]) = (case.grid, case.block);
        // SAFETY: the driver copies each parameter from its place in `values`, which is larger than any parameter here.
        // The cases' kernels stay within their buffers, as their references do.
        unsafe {
            let (shared, stream) = (case.shared_bytes, std::ptr::null_mut());
            let params = addresses.as_mut_ptr();
            let extra = std::ptr::null_mut();
            ok(sys::cuLaunchKernel(
                function, gx, gy, gz, bx, by, bz, shared, stream, params, extra,
            ))?;
            ok(sys::cuCtxSynchronize())?;
        }
        memory.download()
    }
}

fn n_params(function: sys::CUfunction) -> usize {
    let (mut offset, mut size) = (0, 0);
    // SAFETY: the variables outlive the call. It fails for an index beyond the last parameter.
    let mut exists = |index| unsafe {
        sys::cuFuncGetParamInfo(function, index, &raw mut offset, &raw mut size)
            == CUresult::CUDA_SUCCESS
    };
    (0..).take_while(|index| exists(*index)).count()
}

/// Returns the name of the variable that an argument beyond the parameters fills.
fn variable(case: &Case, position: usize) -> Result<CString, String> {
    let compiled = cuda_c::compile_cuda(case.source, &options(case));
    let compiled = compiled.map_err(|error| error.to_string())?;
    let param = compiled.params.get(position);
    let param = param.ok_or_else(|| format!("there is no argument {position}"))?;
    CString::new(param.name.as_str()).map_err(|error| error.to_string())
}

struct Module(sys::CUmodule);

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is used only through this value.
        unsafe { sys::cuModuleUnload(self.0) };
    }
}

/// Buffers of a launch, and the length of each.
#[derive(Default)]
struct Memory {
    allocated: Vec<u64>,
    buffers: Vec<(u64, usize)>,
}

impl Memory {
    fn upload(&mut self, bytes: &[u8]) -> Result<u64, String> {
        let mut address = 0;
        // SAFETY: the variable outlives the call.
        ok(unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes.len().max(4)) })?;
        self.allocated.push(address);
        self.write(address, bytes)?;
        Ok(address)
    }

    /// Fills a variable of the module.
    fn bind(&mut self, module: &Module, name: &CString, bytes: &[u8]) -> Result<(), String> {
        let (mut address, mut size) = (0, 0);
        // SAFETY: the name ends with a zero, and the variables outlive the call.
        ok(unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module.0, name.as_ptr())
        })?;
        if size < bytes.len() {
            return Err(format!("{name:?} has {size} bytes, not {}", bytes.len()));
        }
        self.write(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.buffers.push((address, bytes.len()));
        // SAFETY: the memory has that many bytes, and the call returns after the copy.
        ok(unsafe { sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) })
    }

    fn download(&self) -> Result<Vec<Vec<u8>>, String> {
        let download = |&(address, length): &(u64, usize)| {
            let mut bytes = vec![0; length];
            // SAFETY: the memory has that many bytes, and the call returns after the copy.
            ok(unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, length) })?;
            Ok(bytes)
        };
        self.buffers.iter().map(download).collect()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for address in &self.allocated {
            // SAFETY: `upload` allocated it, and no launch is under way.
            unsafe { sys::cuMemFree_v2(*address) };
        }
    }
}
