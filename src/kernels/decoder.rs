//! Launch configuration of the kernels that decompress: invocations of each page, by the number of pages and their size.

use super::{KernelInfo, Registers};

/// Largest of the small pages.
const SMALL: u32 = 8 << 10;
/// Number of pages from which on one invocation reads the sequences of each: so many hide the latency of their chains of tokens.
const MANY_PAGES: u32 = 0x10000;
/// Invocations that write pages from which on more of them for each page no longer help: as many as run at once on the largest devices.
const ENOUGH_INVOCATIONS: u32 = 0x20000;
/// Numbers of pages from which on jobs of [`Registers::Many`] have other forms of the kernels than with fewer pages.
#[cfg(any(test, cuda_engine))]
pub(crate) const FORMS: [u32; 4] = [
    1,
    ENOUGH_INVOCATIONS / 16,
    ENOUGH_INVOCATIONS / 8,
    MANY_PAGES,
];

/// Launch configuration of the kernel that reads the sequences of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reader {
    /// Invocations of each page.
    lanes: u32,
    registers: Registers,
}

impl Reader {
    /// Returns the reader of `n_pages`. Several invocations read a page two more times, which costs less than the latency of a chain that one
    /// follows, unless there are many pages. Devices of the fewest registers are small: there they read large pages only.
    pub(super) fn new(n_pages: u32, page_size: u32, registers: Registers) -> Self {
        let is_small = page_size <= SMALL;
        let lanes = if n_pages >= MANY_PAGES || (is_small && registers == Registers::Fewest) {
            1
        } else if is_small {
            16
        } else {
            32
        };
        Self { lanes, registers }
    }

    /// Returns one of two kernels: that for one invocation of each page, or that for many.
    pub(super) fn kernel(
        self,
        one: &'static KernelInfo,
        many: &'static KernelInfo,
    ) -> &'static KernelInfo {
        if self.lanes == 1 { one } else { many }
    }

    /// Returns the number of pages that a workgroup of `width` invocations reads.
    pub(super) fn pages(self, width: u32) -> u32 {
        width / self.lanes
    }

    /// Returns the overrides of the kernel.
    pub(super) fn overrides(self, page_size: u32, width: u32) -> Vec<(&'static str, u32)> {
        let mut overrides = vec![("PAGE_SIZE", page_size), ("WIDTH", width)];
        if self.lanes > 1 {
            overrides.push(("PAGES", self.pages(width)));
            if self.registers == Registers::Fewest {
                overrides.push(self.registers.ahead());
            }
        }
        overrides
    }
}

/// Returns the number of invocations that write a page together, which is that of words in a row of `lz4_copy`. In a longer row, more
/// matches have their source in the row itself, and wait; large pages have fewer sequences in it. Few pages take longer rows, so that they
/// fill the device, unless that is one of the fewest registers, which is small.
pub(super) fn copy_lanes(n_pages: u32, page_size: u32, registers: Registers) -> u32 {
    let least = if page_size > SMALL { 16 } else { 8 };
    let is_enough = |lanes: &u32| {
        registers == Registers::Fewest || n_pages.saturating_mul(*lanes) >= ENOUGH_INVOCATIONS
    };
    let lanes = [least, 16].into_iter().find(is_enough);
    lanes.unwrap_or(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::MAX_GRID;
    use crate::kernels::lz4::MAX_PAGES_PER_JOB;

    #[test]
    fn every_page_is_read_by_a_workgroup() {
        let counts = [1, 0xfffe, 0xffff, 0x10000, 0x20000, MAX_PAGES_PER_JOB];
        for (n_pages, shift) in counts
            .into_iter()
            .flat_map(|n| (12..=16).map(move |s| (n, s)))
        {
            // A job has less than 4 GiB.
            if u64::from(n_pages) << shift >= 1 << 32 {
                continue;
            }
            for (width, registers) in [(32, Registers::Many), (64, Registers::Fewest)] {
                let reader = Reader::new(n_pages, 1 << shift, registers);
                let n_workgroups = n_pages.div_ceil(reader.pages(width));
                assert!(n_workgroups <= MAX_GRID, "{n_pages} of {shift} bits");
            }
        }
    }

    #[test]
    fn forms_change_at_the_numbers_that_say_so() {
        for page_size in [4096, 8192, 16_384, 32_768, 65_536] {
            let form = |n| {
                let reader = Reader::new(n, page_size, Registers::Many);
                (reader, copy_lanes(n, page_size, Registers::Many))
            };
            for n in 1..=MAX_PAGES_PER_JOB {
                let of = FORMS.into_iter().rfind(|&first| first <= n).unwrap();
                assert_eq!(form(n), form(of), "{n} pages of {page_size}");
            }
        }
    }

    #[test]
    fn few_or_large_pages_have_more_invocations() {
        let lanes = |n, size| Reader::new(n, size, Registers::Many).lanes;
        assert_eq!([lanes(0xffff, 4096), lanes(0x10000, 4096)], [16, 1]);
        assert_eq!([lanes(0xffff, 16_384), lanes(0x10000, 16_384)], [32, 1]);
        let copy = |n, size| copy_lanes(n, size, Registers::Many);
        assert_eq!(
            [copy(4096, 4096), copy(8192, 4096), copy(0x4000, 4096)],
            [32, 16, 8]
        );
        assert_eq!([copy(4096, 65_536), copy(8192, 65_536)], [32, 16]);
    }
}
