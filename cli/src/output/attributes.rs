//! Copies owner, permissions and modification time of an input to its output.

use std::fs::{File, Metadata};

/// Sets the owner and group of `file` to those of the input, as far as this user may, then its permissions, then its
/// modification time.
///
/// Bits beyond the permissions (set-user-ID, set-group-ID, sticky) are never copied. If the group cannot be kept, its
/// members get no more access than everyone. A file system without owners, permissions or times is not an error: the
/// content is complete, and `file` stays as private as it was opened.
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

/// Sets the modification time of `file` to that of the input.
#[cfg(not(unix))]
pub fn copy(input: &Metadata, file: &File) {
    copy_time(input, file);
}

fn copy_time(input: &Metadata, file: &File) {
    let _ = input.modified().and_then(|time| file.set_modified(time));
}

/// Returns the permission bits for an output; `has_group` is true if it has the input's group.
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
