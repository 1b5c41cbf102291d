//! Validation of arguments, the same on every engine.

use std::ops::Range;

use super::host_use::HostUse;
use super::id::{DeviceId, Owned};
use crate::kernels::{Access, SLICE_ALIGNMENT};
use crate::{Error, Result};

/// Number of bytes beyond the end of every buffer that unchecked kernels may read (prefetch) but do not use.
pub(super) const SLACK_BYTES: u64 = 64;

/// Returns the size class of an allocation: at most a sixteenth more than requested (above 16 KiB), so that the pool can reuse
/// buffers of similar sizes.
pub(super) fn size_class(n_bytes: u64, max_bytes: u64) -> u64 {
    let needed = n_bytes + SLACK_BYTES;
    let step = (needed.next_power_of_two() / 32).max(256);
    needed.next_multiple_of(step).min(max_bytes)
}

/// Returns the error for an argument outside its domain.
pub(super) fn invalid(name: &'static str, value: String, expected: &'static str) -> Error {
    Error::InvalidArgument {
        name,
        value,
        expected,
    }
}

/// Checks the size of an allocation.
pub(super) fn size(n_bytes: u64, max_bytes: u64) -> Result<()> {
    if n_bytes > 0 && n_bytes.is_multiple_of(4) && n_bytes <= max_bytes {
        return Ok(());
    }
    Err(invalid(
        "n_bytes",
        n_bytes.to_string(),
        "a positive multiple of 4 within the largest buffer of the device",
    ))
}

/// Checks the number of arguments of a launch, and its grid.
pub(super) fn launch(
    entry: &str,
    n_bindings: usize,
    n_args: usize,
    grid: [u32; 3],
    max_grid: u32,
) -> Result<()> {
    if n_args != n_bindings {
        let value = format!("{n_args} for {entry}");
        return Err(invalid("args", value, "one argument for each binding"));
    }
    if grid.iter().any(|&n| n > max_grid) {
        return Err(invalid(
            "grid",
            format!("{grid:?}"),
            "workgroups within the device's limit in each dimension",
        ));
    }
    Ok(())
}

/// Returns the error for an argument of the wrong kind.
pub(super) fn wrong_kind(entry: &str, at: usize, access: Option<Access>) -> Error {
    let value = format!(
        "binding {at} of {entry} is {}",
        access.map_or("not there", Access::text)
    );
    invalid(
        "args",
        value,
        "a buffer for storage, parameters for uniform",
    )
}

/// Returns the error for a handle of another engine or device.
pub(super) fn foreign(what: &'static str) -> Error {
    invalid(
        what,
        "of another device".into(),
        "handles made by the device they are used on",
    )
}

/// Rejects a handle of another device.
pub(super) fn same_device(what: &'static str, device: DeviceId, handle: &impl Owned) -> Result<()> {
    if handle.device_id() == device {
        return Ok(());
    }
    Err(foreign(what))
}

/// Checks a range of a buffer that is an argument of a launch.
pub(super) fn slice(
    entry: &str,
    at: usize,
    range: &Range<u64>,
    buffer_bytes: u64,
    max_binding_bytes: u64,
) -> Result<()> {
    let n_bytes = range.end.saturating_sub(range.start);
    let aligned =
        range.start.is_multiple_of(SLICE_ALIGNMENT) && n_bytes.is_multiple_of(4) && n_bytes > 0;
    if aligned && range.end <= buffer_bytes && n_bytes <= max_binding_bytes {
        return Ok(());
    }
    let value = format!(
        "binding {at} of {entry}: bytes {} to {} of {buffer_bytes}",
        range.start, range.end
    );
    Err(invalid(
        "args",
        value,
        "an aligned range inside the buffer, within the device's largest binding",
    ))
}

/// Checks one end of a copy: its range must be inside the buffer, and multiples of 4.
pub(super) fn copy_end(offset: u64, n_bytes: u64, buffer_bytes: u64) -> Result<()> {
    let inside = offset
        .checked_add(n_bytes)
        .is_some_and(|to| to <= buffer_bytes);
    if inside && offset.is_multiple_of(4) && n_bytes.is_multiple_of(4) {
        return Ok(());
    }
    let value = format!("{n_bytes} bytes at {offset} of {buffer_bytes}");
    Err(invalid(
        "copy",
        value,
        "a range inside the buffer, in multiples of 4",
    ))
}

/// Checks that host memory has the use that a copy needs: the device reads upload buffers and writes download buffers.
pub(super) fn copy_direction(host_use: HostUse, needed: HostUse) -> Result<()> {
    if host_use == needed {
        return Ok(());
    }
    Err(invalid(
        "copy",
        host_use.text().into(),
        "host memory for this direction",
    ))
}

/// Returns the error for a copy whose ends are both host memory.
pub(super) fn host_to_host() -> Error {
    invalid(
        "copy",
        "host to host".into(),
        "at least one end in device memory",
    )
}

/// Checks an access by the host to memory that it shares with the device.
pub(super) fn host_access(
    wanted: HostUse,
    host_use: HostUse,
    offset: u64,
    n_bytes: u64,
    buffer_bytes: u64,
) -> Result<()> {
    let inside = offset
        .checked_add(n_bytes)
        .is_some_and(|end| end <= buffer_bytes);
    let aligned = offset.is_multiple_of(4) && n_bytes.is_multiple_of(4);
    if wanted == host_use && inside && aligned {
        return Ok(());
    }
    Err(invalid(
        "range",
        format!(
            "{} of {n_bytes} bytes at {offset}, {} of {buffer_bytes}",
            wanted.text(),
            host_use.text()
        ),
        "a range inside the buffer, in multiples of 4, in the direction the buffer is for",
    ))
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn size_classes_are_sufficient_and_tight() {
        for n_bytes in [
            4u64,
            252,
            256,
            260,
            4096,
            100_000,
            134_217_728,
            134_217_732,
            1 << 30,
        ] {
            let class = size_class(n_bytes, u64::MAX);
            assert!(
                class >= n_bytes && class.is_multiple_of(4),
                "{n_bytes} {class}"
            );
            assert!(
                n_bytes < 16_384 || class <= n_bytes + n_bytes / 16 + 64,
                "{n_bytes} {class}"
            );
        }
        assert_eq!(size_class(1000, 1001), 1001);
    }
}
