//! [`GgmlType`]: types of the elements of tensors in files.

use std::fmt;

use crate::tensor::{DType, Quantization};

/// Number, name, and elements and bytes of a block, of each type that ggml has.
const TYPES: [(u32, &str, u64, u64); 34] = [
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (9, "Q8_1", 32, 40),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (15, "Q8_K", 256, 292),
    (16, "IQ2_XXS", 256, 66),
    (17, "IQ2_XS", 256, 74),
    (18, "IQ3_XXS", 256, 98),
    (19, "IQ1_S", 256, 50),
    (20, "IQ4_NL", 32, 18),
    (21, "IQ3_S", 256, 110),
    (22, "IQ2_S", 256, 82),
    (23, "IQ4_XS", 256, 136),
    (24, "I8", 1, 1),
    (25, "I16", 1, 2),
    (26, "I32", 1, 4),
    (27, "I64", 1, 8),
    (28, "F64", 1, 8),
    (29, "IQ1_M", 256, 56),
    (30, "BF16", 1, 2),
    (34, "TQ1_0", 256, 54),
    (35, "TQ2_0", 256, 66),
    (39, "MXFP4", 32, 17),
    (40, "NVFP4", 64, 36),
    (41, "Q1_0", 128, 18),
];

/// Type of the elements of a tensor, by the number that ggml gives it. A file may have types that this version does not know.
///
/// ```
/// use pagepress::tensor::gguf::GgmlType;
/// assert_eq!(GgmlType::new(12).to_string(), "Q4_K (type 12)");
/// assert_eq!(GgmlType::new(12).block(), Some([256, 144]));
/// assert_eq!(GgmlType::new(99).name(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GgmlType {
    number: u32,
}

impl GgmlType {
    /// Returns the type with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self { number }
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Returns the name, for example `"Q4_K"`, or `None` for a number that is not known.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        self.entry().map(|(_, name, ..)| name)
    }

    /// Returns the numbers of elements and of bytes of a block. Rows are whole blocks. `None` for a number that is not known.
    #[must_use]
    pub fn block(self) -> Option<[u64; 2]> {
        self.entry().map(|(.., n, n_bytes)| [n, n_bytes])
    }

    /// Returns the format of packed weights of this type. [`F16`](Quantization::F16) is one for rows of a multiple of four.
    #[must_use]
    pub const fn quantization(self) -> Option<Quantization> {
        Some(match self.number {
            1 => Quantization::F16,
            8 => Quantization::Q8_0,
            12 => Quantization::Q4K,
            13 => Quantization::Q5K,
            14 => Quantization::Q6K,
            _ => return None,
        })
    }

    /// Returns the type of the elements of a tensor that is not packed.
    #[must_use]
    pub const fn dtype(self) -> Option<DType> {
        Some(match self.number {
            0 => DType::F32,
            1 => DType::F16,
            30 => DType::BF16,
            _ => return None,
        })
    }

    fn entry(self) -> Option<(u32, &'static str, u64, u64)> {
        let found = TYPES.binary_search_by_key(&self.number, |entry| entry.0);
        found.ok().map(|at| TYPES[at])
    }
}

impl fmt::Display for GgmlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} (type {})", self.number),
            None => write!(f, "unknown (type {})", self.number),
        }
    }
}
