//! Runs cases as NVIDIA's compiler builds them, with the driver's own interface.
//!
//! For a machine with CUDA's toolkit and a GPU: `PAGEPRESS_NVCC` is the path of `nvcc`.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::process::Command;

use cudarc::driver::sys::{self, CUresult};

use crate::case::{Arg, Case};
use crate::common::foreign::Foreign;
use crate::options::options;

/// A kernel in PTX, as `nvcc` compiled it.
pub struct Built {
    ptx: CString,
    /// Mangled name of the kernel.
    entry: CString,
}

/// Stands for `helper_cuda.h` of NVIDIA's samples, as far as the host code of the cases uses it.
const HELPERS: &str = "#define checkCudaErrors(call) (void)(call)
inline int findCudaDevice(int, const char **) { return 0; }
";

/// `double` as `float`, after the headers.
const NARROW: &str = "#define double float
#define double1 float1
#define double2 float2
#define double3 float3
#define double4 float4
#define make_double2 make_float2
#define make_double3 make_float3
#define make_double4 make_float4";

/// Returns the source with `double` as `float` if the case says so, and an instantiation of its template.
fn source(case: &Case) -> String {
    let mut lines: Vec<&str> = case.source.lines().collect();
    if case.narrow_f64 {
        let is_include = |line: &&str| line.trim_start().starts_with("#include");
        let after = lines.iter().rposition(is_include).map_or(0, |at| at + 1);
        lines.insert(after, NARROW);
    }
    let mut text = lines.join("\n");
    if case.entry.contains('<') {
        let entry = case.entry;
        text += &format!("\nvoid *pagepress_kernel() {{ return (void *){entry}; }}\n");
    }
    text
}

/// Returns a name without spaces and casts, such as `scale<float,4>` of `void scale<float, (int)4>(float *)`.
fn plain(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name);
    let mut name = name.replace("unsigned int", "unsigned");
    for cast in ["(int)", "(unsigned)", "(bool)"] {
        name = name.replace(cast, "");
    }
    for (from, to) in [("true", "1"), ("false", "0"), ("U>", ">"), ("U,", ",")] {
        name = name.replace(from, to);
    }
    name.split_whitespace().collect()
}

/// Returns the mangled name of the kernel `entry`, such as `scale<float, 4>`, among those of PTX.
fn mangled(nvcc: &Path, ptx: &str, entry: &str) -> Result<String, String> {
    let wanted = plain(entry);
    let mut names = Vec::new();
    for text in ptx.split(".entry ").skip(1) {
        let name = text.split(['(', '\n', ' ']).next().unwrap_or_default();
        let demangled = Command::new(nvcc.with_file_name("cu++filt"))
            .arg(name)
            .output();
        let demangled = demangled.map_err(|error| format!("cu++filt does not start: {error}"))?;
        let demangled = plain(&String::from_utf8_lossy(&demangled.stdout));
        if demangled == wanted || demangled.starts_with(&format!("{wanted}(")) {
            return Ok(name.to_owned());
        }
        names.push(demangled);
    }
    Err(format!("{wanted} is not among {names:?}"))
}

/// Compiles a case with `nvcc` for GPUs of `architecture`, such as `compute_90`.
pub fn build(nvcc: &Path, architecture: &str, case: &Case) -> Result<Built, String> {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (
        folder.path().join("case.cu"),
        folder.path().join("case.ptx"),
    );
    std::fs::write(&from, source(case)).unwrap();
    std::fs::write(folder.path().join("helper_cuda.h"), HELPERS).unwrap();
    std::fs::write(folder.path().join("helper_functions.h"), "").unwrap();
    let mut command = Command::new(nvcc);
    command.args(["-ptx", "-w", "-std=c++17", "--expt-relaxed-constexpr"]);
    command.args(["-include", "cstdint"]);
    command.args(["-arch", architecture]);
    for (name, value) in &case.defines {
        command.arg(format!("-D{name}={value}"));
    }
    let output = command.arg("-o").arg(&to).arg(&from).output();
    let output = output.map_err(|error| format!("nvcc does not start: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let ptx = std::fs::read_to_string(to).unwrap();
    let entry = mangled(nvcc, &ptx, case.entry)?;
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

/// Returns the architecture of GPU 0, which is open, as `nvcc` names it.
pub fn architecture(_open: &Foreign) -> String {
    use sys::CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    let [major, minor] = [MAJOR, MINOR].map(|attribute| {
        let mut value = 0;
        // SAFETY: the variable outlives the call, and `Foreign` has initialised the driver.
        ok(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, 0) }).unwrap();
        value
    });
    format!("compute_{major}{minor}")
}

/// Runs a case, and returns its buffers after it in the order of its arguments.
pub fn run(built: &Built, case: &Case) -> Result<Vec<Vec<u8>>, String> {
    let mut foreign = Foreign::new();
    let mut module = Module(std::ptr::null_mut());
    let mut function = std::ptr::null_mut();
    // SAFETY: the text ends with a zero, and the variables outlive the calls.
    unsafe {
        let image = built.ptx.as_ptr().cast::<c_void>();
        ok(sys::cuModuleLoadData(&raw mut module.0, image))?;
        let entry = built.entry.as_ptr();
        ok(sys::cuModuleGetFunction(&raw mut function, module.0, entry))?;
    }
    let sizes = sizes_of_params(function);
    let mut buffers = Vec::new();
    let mut values: Vec<[u64; 32]> = Vec::new();
    for (position, arg) in case.args.iter().enumerate() {
        let mut value = [0; 32];
        match arg {
            Arg::Buffer { before, .. } if position < sizes.len() => {
                value[0] = foreign.upload(before);
                buffers.push((value[0], before.len()));
            }
            Arg::Buffer { before, .. } => {
                let address = module.variable(&variable(case, position)?, before.len())?;
                foreign.write(address, before);
                buffers.push((address, before.len()));
            }
            Arg::I32(number) => value[0] = i64::from(*number) as u64,
            Arg::U32(number) => value[0] = u64::from(*number),
            Arg::F32(number) if sizes.get(position) == Some(&2) => {
                value[0] = u64::from(half_bits(*number));
            }
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
    if values.len() < sizes.len() {
        return Err(format!("{} arguments of {}", values.len(), sizes.len()));
    }
    let addresses = values.iter_mut().map(|value| value.as_mut_ptr().cast());
    let mut addresses: Vec<*mut c_void> = addresses.collect();
    let ([gx, gy, gz], [bx, by, bz]) = (case.grid, case.block);
    // SAFETY: the driver copies each parameter from its place in `values`, which is larger than any parameter here.
    // The cases' kernels stay within their buffers, as their references do.
    unsafe {
        let (shared, stream) = (case.shared_bytes, foreign.stream);
        let params = addresses.as_mut_ptr();
        let extra = std::ptr::null_mut();
        ok(sys::cuLaunchKernel(
            function, gx, gy, gz, bx, by, bz, shared, stream, params, extra,
        ))?;
        ok(sys::cuStreamSynchronize(stream))?;
    }
    let download = |(address, length)| foreign.download(address, length);
    Ok(buffers.into_iter().map(download).collect())
}
/// Returns the bytes of each parameter of a kernel.
fn sizes_of_params(function: sys::CUfunction) -> Vec<usize> {
    let size_of = |index| {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the variables outlive the call. It fails for an index beyond the last parameter.
        let code =
            unsafe { sys::cuFuncGetParamInfo(function, index, &raw mut offset, &raw mut size) };
        ok(code).ok().map(|()| size)
    };
    (0..).map_while(size_of).collect()
}

/// Returns the bits of a number that `half` represents, and is not small.
fn half_bits(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = (bits & 0x7fff_ffff).saturating_sub(112 << 23);
    sign | (magnitude >> 13) as u16
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

impl Module {
    /// Returns the address of a variable that has room for as many bytes.
    fn variable(&self, name: &CString, n_bytes: usize) -> Result<u64, String> {
        let (mut address, mut size) = (0, 0);
        // SAFETY: the name ends with a zero, and the variables outlive the call.
        ok(unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut size, self.0, name.as_ptr())
        })?;
        if size < n_bytes {
            return Err(format!("{name:?} has {size} bytes, not {n_bytes}"));
        }
        Ok(address)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is used only through this value.
        unsafe { sys::cuModuleUnload(self.0) };
    }
}
