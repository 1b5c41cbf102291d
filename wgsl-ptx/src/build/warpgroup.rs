//! Products of warpgroups: four warps multiply matrices that lie in shared memory (`wgmma`). Only compute capability 9.0 has them.
//!
//! They run asynchronously: between [`begin_products`](PtxKernel::begin_products) and
//! [`await_products`](PtxKernel::await_products), a kernel changes neither the matrices nor the registers of the sums.

use super::kernel::{PtxKernel, Space};
use super::memory::Address;
use super::types::{Operand, PtxType, Register};

/// Type of the factors of a warpgroup's product. Sums are of single precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupProduct {
    /// Halves, 16 terms.
    Half,
    /// Numbers of type bfloat16, 16 terms.
    Bfloat16,
    /// Numbers of type TF32, 8 terms. Lines of both factors are along the terms.
    Tf32,
}

impl GroupProduct {
    /// Returns the number of terms and the type, as instructions name them.
    const fn suffix(self) -> (u32, &'static str) {
        match self {
            Self::Half => (16, "f16"),
            Self::Bfloat16 => (16, "bf16"),
            Self::Tf32 => (8, "tf32"),
        }
    }
}

/// A factor of a warpgroup's product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedMatrix {
    descriptor: Register,
    is_along_terms: bool,
}

impl SharedMatrix {
    /// Returns the operand that tells instructions the matrix's order.
    fn order(self) -> String {
        format!(", {}", u32::from(!self.is_along_terms))
    }
}

/// Rows of the left factor of a warpgroup's product.
const ROWS: u32 = 64;
/// Threads of two warpgroups.
const PAIR: u32 = 256;
/// Code of the layout in which the unit of a line is exchanged with others.
const SWIZZLE_128: u32 = 1 << 30;
/// Descriptors have addresses and distances in multiples of 16 bytes, of 14 bits.
const UNIT: u32 = 16;
const MAX_UNITS: u32 = (1 << 14) - 1;

impl PtxKernel {
    /// Describes a matrix in shared memory, made of blocks of eight lines of 128 bytes that begin at multiples of 1024. Lines are
    /// along the terms of the product (k), or else along rows of the left or columns of the right factor. The unit `u` of 16 bytes
    /// of line `r` of a block is the unit `u ^ (r % 8)` there.
    ///
    /// `next_lines` is the distance in bytes from a block to the one with the next eight lines. `next_units`, the distance from a block to
    /// the one that continues its lines, counts for lines along rows or columns alone.
    pub fn shared_matrix(
        &mut self,
        start: &Address,
        is_along_terms: bool,
        next_lines: u32,
        next_units: u32,
    ) -> SharedMatrix {
        if start.space() != Space::Shared {
            self.fail("a factor of a warpgroup outside of shared memory".to_owned());
        }
        for distance in [next_lines, next_units] {
            if !distance.is_multiple_of(UNIT) || distance / UNIT > MAX_UNITS {
                self.fail(format!("a distance of {distance} bytes between blocks"));
            }
        }
        // Addresses in shared memory have no more than 18 bits.
        let address = self.address_of(start);
        let unit = self.shr(address, UNIT.trailing_zeros());
        let low = self.or(unit, (next_units / UNIT) << 16);
        let descriptor = self.join_words(low, SWIZZLE_128 | (next_lines / UNIT));
        SharedMatrix {
            descriptor,
            is_along_terms,
        }
    }

    /// Returns the matrix `n_bytes` further on in shared memory: a multiple of 1024, or of 32 to move along lines of terms.
    pub fn matrix_plus(&mut self, matrix: SharedMatrix, n_bytes: u32) -> SharedMatrix {
        if !n_bytes.is_multiple_of(UNIT) {
            self.fail(format!(
                "a factor of a warpgroup {n_bytes} bytes further on"
            ));
        }
        let plus = Operand::integer(PtxType::U64, i64::from(n_bytes / UNIT));
        SharedMatrix {
            descriptor: self.add(matrix.descriptor, plus),
            ..matrix
        }
    }

    /// Makes the warpgroup's writes to shared memory visible to its products. It follows the writes and precedes the barrier after which
    /// warps multiply.
    pub fn fence_products(&mut self) {
        self.push("fence.proxy.async.shared::cta;".to_owned());
    }

    /// Begins a group of products, after the registers of its sums were written.
    pub fn begin_products(&mut self) {
        self.is_specific = true;
        self.push("wgmma.fence.sync.aligned;".to_owned());
    }

    /// Multiplies 64 rows and `2 * sums.len()` columns, a multiple of 8 up to 256; the products are added to the sums or, unless `adds`,
    /// take their place. Thread `t` of the warpgroup has the elements `4 * i` and `4 * i + 1` in row `t / 32 * 16 + t % 32 / 4` and columns
    /// `8 * i + 2 * (t % 4)` and the next, and the elements `4 * i + 2` and `4 * i + 3` eight rows further down. All threads of the
    /// warpgroup take part.
    pub fn multiply_shared(
        &mut self,
        product: GroupProduct,
        a: SharedMatrix,
        b: SharedMatrix,
        sums: &[Register],
        adds: bool,
    ) {
        let orders = match product {
            GroupProduct::Tf32 if a.is_along_terms && b.is_along_terms => String::new(),
            GroupProduct::Tf32 => {
                self.fail("a factor of TF32 whose lines are not along the terms".to_owned());
                String::new()
            }
            _ => [a, b].map(SharedMatrix::order).concat(),
        };
        self.multiply_in_group(
            product,
            &a.descriptor.to_string(),
            b.descriptor,
            sums,
            adds,
            &orders,
        );
    }

    /// Does the same with a left factor of 16-bit elements in registers. A thread's words have two elements of neighbouring terms each: the
    /// terms from `2 * (t % 4)` on of its two rows, then those eight terms further on.
    pub fn multiply_registers(
        &mut self,
        product: GroupProduct,
        a: [Operand; 4],
        b: SharedMatrix,
        sums: &[Register],
        adds: bool,
    ) {
        if product == GroupProduct::Tf32 {
            self.fail("a left factor of TF32 in registers".to_owned());
        }
        for word in a {
            self.require("multiply_registers", word.ty(), |ty| ty == PtxType::U32);
        }
        let words = a.map(|word| word.to_string()).join(", ");
        self.multiply_in_group(
            product,
            &format!("{{{words}}}"),
            b.descriptor,
            sums,
            adds,
            &b.order(),
        );
    }

    fn multiply_in_group(
        &mut self,
        product: GroupProduct,
        a: &str,
        b: Register,
        sums: &[Register],
        adds: bool,
        orders: &str,
    ) {
        let n = 2 * sums.len();
        if !(8..=256).contains(&n) || !n.is_multiple_of(8) {
            self.fail(format!("a warpgroup's product of {n} columns"));
        }
        for sum in sums {
            self.require("a warpgroup's product", sum.ty(), |ty| ty == PtxType::F32);
        }
        let (terms, ty) = product.suffix();
        let names: Vec<String> = sums.iter().map(Register::to_string).collect();
        let adds = u32::from(adds);
        self.is_specific = true;
        self.push(format!(
            "wgmma.mma_async.sync.aligned.m{ROWS}n{n}k{terms}.f32.{ty}.{ty} {{{}}}, {a}, {b}, {adds}, 1, 1{orders};",
            names.join(", ")
        ));
    }

    /// Ends the warpgroup's group of products.
    pub fn commit_products(&mut self) {
        self.is_specific = true;
        self.push("wgmma.commit_group.sync.aligned;".to_owned());
    }

    /// Waits until at most `n_pending` of the groups of products that were ended last are incomplete.
    pub fn await_products(&mut self, n_pending: u32) {
        self.is_specific = true;
        self.push(format!("wgmma.wait_group.sync.aligned {n_pending};"));
    }

    /// Waits, where the predicate `waits` is true, for another warpgroup at barrier `number`, from 1 to 15, of the workgroup's. The other one
    /// [signals](Self::signal_group) it. All threads of a warp have the same arguments.
    pub fn await_group(&mut self, number: impl Into<Operand>, waits: Register) {
        self.pair_barrier("bar.sync", number.into(), waits);
    }

    /// Lets another warpgroup pass barrier `number` without waiting for it. See [`await_group`](Self::await_group).
    pub fn signal_group(&mut self, number: impl Into<Operand>, signals: Register) {
        self.pair_barrier("bar.arrive", number.into(), signals);
    }

    fn pair_barrier(&mut self, instruction: &str, number: Operand, predicate: Register) {
        self.require(instruction, number.ty(), |ty| ty == PtxType::U32);
        self.require(instruction, predicate.ty(), |ty| ty == PtxType::Pred);
        self.push(format!("@{predicate} {instruction} {number}, {PAIR};"));
    }
}
