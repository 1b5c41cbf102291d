//! Owner, permissions and time of an output, which are those of its input.

use std::fs::{File, Metadata};

/// Gives `file` the owner and group of the input as far as this user may, then its permissions, then its time of
/// modification.
///
/// Bits beyond the permissions (set-user-ID, set-group-ID, sticky) are never copied. Where the group cannot be kept,
/// the group's members get no more than everybody. A file system without owners, permissions or times is no failure:
/// the content is safe, and `file` then stays as private as it was opened.
#[cfg(unix)]
pub fn copy(input: &Metadata, file: &File) {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let Ok(current) = file.metadata() else { return };
    if current.uid() != input.uid() {
        let _ = fchown(file, Some(input.uid()), None);
    }
    let has_group = current.gid() == input.gid() || fchown(file, None, Some(input.gid())).is_ok();
    let mode = permission_bits(input.mode(), has_group);
    let _ = file.set_permissions(Permissions::from_mode(mode));
    copy_time(input, file);
}

/// Gives `file` the time of modification of the input.
#[cfg(not(unix))]
pub fn copy(input: &Metadata, file: &File) {
    copy_time(input, file);
}

fn copy_time(input: &Metadata, file: &File) {
    let _ = input.modified().and_then(|time| file.set_modified(time));
}

/// The bits of `mode` that an output gets; `has_group` says that its group is the input's.
#[cfg(unix)]
const fn permission_bits(mode: u32, has_group: bool) -> u32 {
    let (owner, group, others) = (mode & 0o700, mode & 0o070, mode & 0o007);
    if has_group {
        return owner | group | others;
    }
    let shared = others & (group >> 3);
    owner | shared << 3 | shared
}

#[cfg(all(test, unix))]
mod tests {
    use super::permission_bits;

    #[test]
    fn no_special_bit_is_copied_and_a_strange_group_gains_nothing() {
        for (mode, with_group, without_group) in [
            (0o4755, 0o755, 0o755),
            (0o7777, 0o777, 0o777),
            (0o100_640, 0o640, 0o600),
            (0o664, 0o664, 0o644),
            (0o604, 0o604, 0o600),
            (0o000, 0o000, 0o000),
        ] {
            assert_eq!(permission_bits(mode, true), with_group, "{mode:o}");
            assert_eq!(permission_bits(mode, false), without_group, "{mode:o}");
        }
    }
}
