//! A case: a kernel, its launch, its arguments, and the results that a reference in Rust expects.

use std::fmt::Display;

use pagepress::gpu::Capabilities;

/// Contents of a buffer. The last word is padded with zeros.
#[derive(Debug, Clone)]
pub enum Data {
    F32(Vec<f32>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U8(Vec<u8>),
    I8(Vec<i8>),
    F16(Vec<Half>),
    I64(Vec<i64>),
    U64(Vec<u64>),
}

/// The bits of a `half`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Half(pub u16);

impl Half {
    fn to_le_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    fn from_le_bytes(bytes: [u8; 2]) -> Self {
        Self(u16::from_le_bytes(bytes))
    }
}

impl Display for Half {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_f64().fmt(f)
    }
}

impl Number for Half {
    fn as_f64(self) -> f64 {
        let (exponent, fraction) = (i32::from(self.0 >> 10 & 31), f64::from(self.0 & 1023));
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            31 if fraction > 0.0 => f64::NAN,
            31 => f64::INFINITY,
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        if self.0 >> 15 == 1 {
            -magnitude
        } else {
            magnitude
        }
    }
}

macro_rules! data_of {
    ($($variant:ident $element:ty),*) => {
        $(impl From<Vec<$element>> for Data {
            fn from(values: Vec<$element>) -> Self {
                Self::$variant(values)
            }
        })*

        impl Data {
            /// Returns the contents as bytes, padded to whole words.
            pub fn bytes(&self) -> Vec<u8> {
                let mut bytes: Vec<u8> = match self {
                    $(Self::$variant(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),)*
                };
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                bytes
            }

            /// Returns contents of the same type and length with these bytes.
            pub fn of_bytes(&self, bytes: &[u8]) -> Self {
                match self {
                    $(Self::$variant(values) => {
                        let elements = bytes.chunks_exact(size_of::<$element>()).take(values.len());
                        let elements = elements.map(|bytes| <$element>::from_le_bytes(bytes.try_into().unwrap()));
                        Self::$variant(elements.collect())
                    })*
                }
            }

            /// Returns the number of elements, without padding.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$variant(values) => values.len(),)*
                }
            }

            /// Compares what a device wrote with these contents.
            pub fn compare(&self, found: &[u8], tolerance: Tolerance) -> Result<(), String> {
                match self {
                    $(Self::$variant(values) => {
                        const SIZE: usize = size_of::<$element>();
                        let found = found.chunks_exact(SIZE).take(values.len());
                        let found = found.map(|bytes| <$element>::from_le_bytes(bytes.try_into().unwrap()));
                        compare(values, found, tolerance)
                    })*
                }
            }
        }
    };
}

data_of!(F32 f32, I32 i32, U32 u32, U16 u16, I16 i16, U8 u8, I8 i8, F16 Half, I64 i64, U64 u64);

/// The difference from the reference that a result may have.
#[derive(Debug, Clone, Copy)]
pub enum Tolerance {
    /// None.
    Exact,
    /// An absolute part, and a part relative to the expected value.
    Near { absolute: f64, relative: f64 },
    /// Units in the last place of the expected `float`.
    Ulps(f64),
    /// Any difference in this share of the elements, such as points at the edge of a fractal.
    Except(f64),
}

trait Number: Copy + Display + PartialEq {
    fn as_f64(self) -> f64;
}

macro_rules! number {
    ($($element:ty),*) => {
        $(impl Number for $element {
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
        })*
    };
}

number!(f32, i32, u32, u16, i16, u8, i8);

/// Numbers of 64 bits, which are compared exactly before they are rounded.
macro_rules! long_number {
    ($($element:ty),*) => {
        $(impl Number for $element {
            fn as_f64(self) -> f64 {
                self as f64
            }
        })*
    };
}

long_number!(i64, u64);

fn is_equal<T: Number>(expected: T, found: T, tolerance: Tolerance) -> bool {
    let (e, f) = (expected.as_f64(), found.as_f64());
    match tolerance {
        _ if expected == found || e.is_nan() && f.is_nan() => true,
        Tolerance::Near { absolute, relative } => (e - f).abs() <= absolute + relative * e.abs(),
        Tolerance::Ulps(ulps) => ulps_between(e, f) <= ulps,
        Tolerance::Exact | Tolerance::Except(_) => false,
    }
}

fn ulps_between(expected: f64, found: f64) -> f64 {
    let unit = 2f64.powi((expected.abs().log2().floor() as i32).max(-126) - 23);
    (expected - found).abs() / unit
}

fn compare<T: Number>(
    expected: &[T],
    found: impl Iterator<Item = T>,
    tolerance: Tolerance,
) -> Result<(), String> {
    let found: Vec<T> = found.collect();
    if found.len() != expected.len() {
        return Err(format!("{} of {} elements", found.len(), expected.len()));
    }
    if let Tolerance::Ulps(bound) = tolerance {
        let errors = expected.iter().zip(&found);
        let largest = errors
            .map(|(e, f)| ulps_between(e.as_f64(), f.as_f64()))
            .fold(0.0, f64::max);
        println!("largest error {largest:.2} ulp, bound {bound}");
    }
    let pairs = expected.iter().zip(&found).enumerate();
    let wrong: Vec<String> = pairs
        .filter(|(_, (e, f))| !is_equal(**e, **f, tolerance))
        .map(|(i, (e, f))| format!("[{i}] is {f}, not {e}"))
        .collect();
    let n_allowed = match tolerance {
        Tolerance::Except(share) => (share * expected.len() as f64) as usize,
        _ => 0,
    };
    if wrong.len() <= n_allowed {
        return Ok(());
    }
    let first: Vec<&str> = wrong.iter().take(4).map(String::as_str).collect();
    Err(format!("{} wrong: {}", wrong.len(), first.join(", ")))
}

/// An argument of a kernel.
#[derive(Debug, Clone)]
pub enum Arg {
    /// A buffer with its bytes before the launch, and its contents after it if the kernel writes.
    Buffer {
        before: Vec<u8>,
        after: Option<(Data, Tolerance)>,
    },
    I32(i32),
    U32(u32),
    F32(f32),
    I64(i64),
    U64(u64),
    /// A struct or vector in CUDA's layout.
    Bytes(Vec<u8>),
}

/// A launch of a kernel.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: &'static str,
    pub source: &'static str,
    pub entry: &'static str,
    pub block: [u32; 3],
    pub grid: [u32; 3],
    pub shared_bytes: u32,
    pub defines: Vec<(&'static str, &'static str)>,
    pub narrow_f64: bool,
    pub args: Vec<Arg>,
}

/// Creates the case of `kernels/NAME.cu`.
macro_rules! kernel {
    ($name:literal) => {
        $crate::case::Case::new($name, include_str!(concat!("kernels/", $name, ".cu")))
    };
}
pub(crate) use kernel;

impl Case {
    /// Returns a launch of one block of 64 threads of the kernel `name`, without arguments.
    pub fn new(name: &'static str, source: &'static str) -> Self {
        Self {
            name,
            source,
            entry: name,
            block: [64, 1, 1],
            grid: [1, 1, 1],
            shared_bytes: 0,
            defines: Vec::new(),
            narrow_f64: false,
            args: Vec::new(),
        }
    }

    pub fn launch(self, grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            grid,
            block,
            ..self
        }
    }

    /// Launches as many blocks of `block` threads as `n` threads need.
    pub fn over(self, n: usize, block: u32) -> Self {
        self.launch([(n as u32).div_ceil(block), 1, 1], [block, 1, 1])
    }

    pub fn entry(self, entry: &'static str) -> Self {
        Self { entry, ..self }
    }

    pub fn shared(self, shared_bytes: u32) -> Self {
        Self {
            shared_bytes,
            ..self
        }
    }

    pub fn define(mut self, name: &'static str, value: &'static str) -> Self {
        self.defines.push((name, value));
        self
    }

    pub fn narrow_f64(self) -> Self {
        Self {
            narrow_f64: true,
            ..self
        }
    }

    /// Returns true if the kernel needs 16-bit floats of the device.
    pub fn needs_float16(&self) -> bool {
        self.source.contains("cuda_fp16.h")
    }

    /// Returns true if the kernel needs 64-bit integers of the device.
    pub fn needs_int64(&self) -> bool {
        self.name.starts_with("long_")
    }

    /// Returns true if a device has the numbers that the kernel needs.
    pub fn runs_on(&self, capabilities: &Capabilities) -> bool {
        (capabilities.float16 || !self.needs_float16())
            && (capabilities.int64 || !self.needs_int64())
    }

    fn arg(mut self, arg: Arg) -> Self {
        self.args.push(arg);
        self
    }

    pub fn i32(self, value: impl TryInto<i32>) -> Self {
        let value = value.try_into().ok().expect("fits in 32 bits");
        self.arg(Arg::I32(value))
    }

    pub fn u32(self, value: impl TryInto<u32>) -> Self {
        let value = value.try_into().ok().expect("fits in 32 bits");
        self.arg(Arg::U32(value))
    }

    pub fn f32(self, value: f32) -> Self {
        self.arg(Arg::F32(value))
    }

    pub fn i64(self, value: i64) -> Self {
        self.arg(Arg::I64(value))
    }

    pub fn u64(self, value: u64) -> Self {
        self.arg(Arg::U64(value))
    }

    /// A struct or vector by value, as its words in CUDA's layout.
    pub fn words(self, words: &[u32]) -> Self {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        self.arg(Arg::Bytes(bytes.collect()))
    }

    /// A buffer that the kernel only reads.
    pub fn input<T: Clone>(self, values: &[T]) -> Self
    where
        Vec<T>: Into<Data>,
    {
        let before = values.to_vec().into().bytes();
        self.arg(Arg::Buffer {
            before,
            after: None,
        })
    }

    /// A buffer of which the kernel must write every element: each byte is 0xff before.
    pub fn output(self, expected: impl Into<Data>) -> Self {
        self.output_within(expected, Tolerance::Exact)
    }

    pub fn output_within(self, expected: impl Into<Data>, tolerance: Tolerance) -> Self {
        let expected = expected.into();
        let before = vec![0xff; expected.bytes().len()];
        let after = Some((expected, tolerance));
        self.arg(Arg::Buffer { before, after })
    }

    /// A buffer that the kernel reads and writes.
    pub fn in_out<T: Clone>(self, before: &[T], expected: impl Into<Data>) -> Self
    where
        Vec<T>: Into<Data>,
    {
        self.in_out_within(before, expected, Tolerance::Exact)
    }

    pub fn in_out_within<T: Clone>(
        self,
        before: &[T],
        expected: impl Into<Data>,
        tolerance: Tolerance,
    ) -> Self
    where
        Vec<T>: Into<Data>,
    {
        let (before, expected) = (before.to_vec().into().bytes(), expected.into());
        assert_eq!(before.len(), expected.bytes().len(), "{}", self.name);
        let after = Some((expected, tolerance));
        self.arg(Arg::Buffer { before, after })
    }
}

/// A tolerance of absolute and relative size `size`.
pub fn near(size: f64) -> Tolerance {
    Tolerance::Near {
        absolute: size,
        relative: size,
    }
}
