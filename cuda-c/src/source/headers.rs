//! Headers that may be included. None is read: their declarations are built in, or are parsed from the sources beside this file.

/// Headers whose declarations are built in, or of use to host code only.
const KNOWN: &str = " algorithm array assert.h cassert cfloat chrono climits cmath complex cstddef cstdint cstdio cstdlib \
    cstring ctime cublas_v2.h cuda.h cuda/atomic cuda_bf16.h cuda_fp8.h cuda_profiler_api.h cuda_runtime.h \
    cuda_runtime_api.h curand.h curand_kernel.h cusparse.h device_functions.h device_launch_parameters.h driver_types.h errno.h \
    exception fcntl.h float.h fstream functional getopt.h helper_cuda.h helper_functions.h helper_image.h helper_math.h \
    helper_string.h helper_timer.h inttypes.h iomanip iostream iterator limits limits.h list malloc.h map math.h \
    math_constants.h math_functions.h memory memory.h mma.h mutex numeric numbers omp.h queue random set signal.h \
    sm_60_atomic_functions.h sstream stdbool.h stddef.h stdexcept stdint.h stdio.h stdlib.h string string.h strings.h \
    sys/stat.h sys/time.h sys/types.h thread time.h tuple type_traits unistd.h unordered_map utility vector \
    vector_functions.h vector_types.h ";

/// Folders of libraries whose headers are known.
const LIBRARIES: [&str; 5] = [
    "cub/",
    "thrust/",
    "nvtx3/",
    "cuda/std/",
    "cooperative_groups/",
];

/// The declarations that an included header adds, in CUDA C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// None, or built-in ones.
    BuiltIn,
    CooperativeGroups,
    CooperativeReduce,
    Half,
}

impl Header {
    /// Returns the header of a name, if it is known.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "cooperative_groups.h" => Some(Self::CooperativeGroups),
            "cuda_fp16.h" | "cuda_fp16.hpp" => Some(Self::Half),
            "cooperative_groups/reduce.h" => Some(Self::CooperativeReduce),
            "" => None,
            _ if name.contains(' ') => None,
            _ if KNOWN.contains(&format!(" {name} "))
                || LIBRARIES.iter().any(|folder| name.starts_with(folder)) =>
            {
                Some(Self::BuiltIn)
            }
            _ => None,
        }
    }

    /// Returns its declarations.
    pub(super) const fn source(self) -> &'static str {
        match self {
            Self::BuiltIn => "",
            Self::CooperativeGroups => include_str!("cooperative_groups.cu"),
            Self::Half => include_str!("cuda_fp16.cu"),
            Self::CooperativeReduce => include_str!("cooperative_groups_reduce.cu"),
        }
    }
}
