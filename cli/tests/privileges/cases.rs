//! The test cases.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::Mode;
use rustix::process::umask;

use crate::common::command::{Folder, Run, copy_command, wait_for};
use crate::common::lz4_command::lz4_ok;
use crate::common::pages;

/// Name of a case, true if only the superuser can set it up, and the test.
type Case = (&'static str, bool, fn());

pub fn all() -> [Case; 6] {
    [
        (
            "a_user_keeps_the_permissions",
            false,
            a_user_keeps_the_permissions,
        ),
        (
            "the_superuser_keeps_owner_and_permissions",
            true,
            the_superuser_keeps_owner_and_permissions,
        ),
        (
            "another_user_gains_no_access",
            true,
            another_user_gains_no_access,
        ),
        (
            "the_set_user_id_bit_is_not_copied",
            true,
            the_set_user_id_bit_is_not_copied,
        ),
        (
            "a_full_disk_leaves_no_file",
            true,
            a_full_disk_leaves_no_file,
        ),
        (
            "without_proc_a_temporary_file_is_private_and_removed",
            true,
            without_proc_a_temporary_file_is_private_and_removed,
        ),
    ]
}

const USER: u32 = 65_534;
const OTHER: u32 = 1234;
const MODES: [u32; 12] = [
    0o400, 0o600, 0o640, 0o644, 0o664, 0o666, 0o604, 0o755, 0o1777, 0o2755, 0o4755, 0o6777,
];
const MASKS: [u32; 3] = [0o000, 0o022, 0o077];

/// Returns a folder that every user can access, with a copy of the command.
fn place() -> Folder {
    let folder = Folder::new();
    copy_command(&folder.path("pagepress"));
    fs::create_dir(folder.path("work")).expect("makes a folder");
    for (name, mode) in [("", 0o755), ("pagepress", 0o755), ("work", 0o777)] {
        fs::set_permissions(folder.path(name), Permissions::from_mode(mode)).expect("sets");
    }
    folder
}

/// Writes a file with an owner, a group and a mode.
fn write(path: &Path, content: &[u8], owner: Option<(u32, u32)>, mode: u32) {
    let _ = fs::remove_file(path);
    fs::write(path, content).expect("writes");
    if let Some((user, group)) = owner {
        chown(path, Some(user), Some(group)).expect("gives away");
    }
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("sets");
}

/// Runs the command in `place/work` with a umask, as another user if one is given.
fn run(place: &Folder, arguments: &[&str], mask: u32, user: Option<u32>) -> Run {
    let mut command = Command::new(place.path("pagepress"));
    command
        .args(arguments)
        .current_dir(place.path("work"))
        .stdin(Stdio::null());
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let set = move || {
        umask(Mode::from_raw_mode(mask));
        Ok(())
    };
    // SAFETY: between fork and exec this makes one system call and takes no lock.
    unsafe { command.pre_exec(set) };
    command.output().expect("starts").into()
}

/// Compresses and decompresses a file of `owner` and `mode`, to new files and over old ones, and compares owner and
/// mode of the outputs.
fn round_trip(
    owner: Option<(u32, u32)>,
    mode: u32,
    mask: u32,
    user: Option<u32>,
    expected: (u32, u32, u32),
) {
    let place = place();
    let path = |name: &str| place.path("work").join(name);
    let content = pages::text(5000, 1);
    write(&path("file"), &content, owner, mode);
    write(&path("packed.lz4"), &lz4_ok(&["-c"], &content), owner, mode);
    let old_owner = owner.map(|_| (0, 0));
    for (arguments, output) in [
        (["compress", "-q", "file", "-o", "a"], "a"),
        (["decompress", "-q", "packed.lz4", "-o", "b"], "b"),
        (["compress", "-qf", "file", "-o", "old"], "old"),
        (["decompress", "-qf", "packed.lz4", "-o", "old"], "old"),
    ] {
        if output == "old" {
            write(&path("old"), b"old", old_owner, 0o4777);
        }
        run(&place, &arguments, mask, user).succeeds();
        let metadata = path(output).metadata().expect("exists");
        let got = (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777);
        assert_eq!(
            got, expected,
            "{arguments:?} of {owner:?} {mode:o}, umask {mask:o}, by {user:?}; mode {:o}",
            got.2
        );
    }
    assert_eq!(place.path("work").read_dir().expect("lists").count(), 5);
}

fn a_user_keeps_the_permissions() {
    let metadata = fs::metadata("/proc/self").expect("is there");
    for mode in MODES {
        for mask in MASKS {
            round_trip(
                None,
                mode,
                mask,
                None,
                (metadata.uid(), metadata.gid(), mode & 0o777),
            );
        }
    }
}

fn the_superuser_keeps_owner_and_permissions() {
    for mode in MODES.into_iter().chain([0o000, 0o040]) {
        for (i, mask) in MASKS.into_iter().enumerate() {
            let owner = [(USER, USER), (OTHER, 0), (0, USER)][i];
            round_trip(
                Some(owner),
                mode,
                mask,
                None,
                (owner.0, owner.1, mode & 0o777),
            );
        }
    }
}

/// A user who decompresses the file of another user owns the output; if the group cannot be kept, the new group gains
/// no access.
fn another_user_gains_no_access() {
    for (owner, mode, expected) in [
        ((OTHER, OTHER), 0o644, 0o644),
        ((OTHER, OTHER), 0o664, 0o644),
        ((OTHER, OTHER), 0o4755, 0o755),
        ((OTHER, OTHER), 0o2775, 0o755),
        ((OTHER, OTHER), 0o646, 0o644),
        ((OTHER, USER), 0o640, 0o640),
        ((OTHER, USER), 0o6770, 0o770),
        ((USER, OTHER), 0o660, 0o600),
        ((USER, USER), 0o4750, 0o750),
    ] {
        for mask in MASKS {
            round_trip(Some(owner), mode, mask, Some(USER), (USER, USER, expected));
        }
    }
}

/// A user packs a shell and sets the set-user-ID bit of the packed file; the superuser unpacks it.
fn the_set_user_id_bit_is_not_copied() {
    let place = place();
    let path = |name: &str| place.path("work").join(name);
    let program = fs::read("/bin/sh").expect("a shell");
    write(
        &path("sh.lz4"),
        &lz4_ok(&["-c"], &program),
        Some((USER, USER)),
        0o6755,
    );
    run(&place, &["d", "-q", "sh.lz4"], 0o022, None).succeeds();
    let metadata = path("sh").metadata().expect("exists");
    assert_eq!((metadata.uid(), metadata.mode() & 0o7777), (USER, 0o755));
}

/// Runs the command by a shell `script` in a mount namespace of its own; `"$@"` is the command.
fn in_namespace(script: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-ec", script, "sh"])
        .arg(env!("CARGO_BIN_EXE_pagepress"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn a_full_disk_leaves_no_file() {
    let folder = Folder::new();
    let content = pages::random(1_000_000, 1);
    folder.write("file", &content);
    folder.write("file.lz4", &lz4_ok(&["-c"], &content));
    fs::create_dir(folder.path("disk")).expect("makes a folder");
    for i in 1..=100 {
        let arguments = match i % 2 {
            0 => ["compress", "-q", "file", "-o", "disk/out"],
            _ => ["decompress", "-q", "file.lz4", "-o", "disk/out"],
        };
        // The disk disappears with the namespace, so its files are listed inside.
        let n_bytes = i * 9000;
        let script = format!(
            "mount -t tmpfs -o size={n_bytes} none disk; \"$@\" || code=$?; ls -A disk; exit $code"
        );
        let output = in_namespace(&script, folder.root(), &arguments).output();
        let run = Run::from(output.expect("starts")).fails(1);
        assert!(
            run.errors.contains("writing disk/out: No space left"),
            "{i}: {}",
            run.errors
        );
        assert_eq!(run.text(), "", "{i}");
    }
}

/// An unnamed file is named through /proc. Without /proc the file has a temporary name from the start.
fn without_proc_a_temporary_file_is_private_and_removed() {
    let folder = Folder::new();
    let content = pages::random(20_000_000, 1);
    let frame = lz4_ok(&["-c"], &content);
    write(&folder.path("file.lz4"), &frame, None, 0o644);
    let without_proc = "mount -t tmpfs none /proc; exec \"$@\"";
    let temporary = || {
        let names = folder.names();
        names
            .into_iter()
            .find(|name| name.starts_with(".pagepress-"))
    };
    let arguments = ["decompress", "-q", "-", "-o", "out"];
    let mut child = in_namespace(without_proc, folder.root(), &arguments)
        .spawn()
        .expect("starts");
    let mut stdin = child.stdin.take().expect("is piped");
    std::io::Write::write_all(&mut stdin, &frame[..15_000_000]).expect("writes");
    wait_for("temporary file", || temporary().is_some());
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.expect("kills").success());
    assert_eq!(child.wait().expect("ends").signal(), Some(15));
    assert_eq!(folder.names(), ["file.lz4"]);
    // Only the owner can access a file until it is complete; then it has the mode of its input.
    let arguments = ["decompress", "-qf", "file.lz4", "-o", "out"];
    for old in [None, Some(b"old")] {
        let _ = fs::remove_file(folder.path("out"));
        if let Some(old) = old {
            folder.write("out", old);
        }
        let mut child = in_namespace(without_proc, folder.root(), &arguments)
            .spawn()
            .expect("starts");
        let mut seen = Vec::new();
        let status = loop {
            let metadata = temporary().and_then(|name| folder.path(&name).metadata().ok());
            seen.extend(metadata.map(|metadata| metadata.mode() & 0o7777));
            if let Some(status) = child.try_wait().expect("waits") {
                break status;
            }
        };
        assert!(status.success());
        assert!(
            seen.contains(&0o600) && seen.iter().all(|mode| [0o600, 0o644].contains(mode)),
            "{seen:?}"
        );
        assert_eq!(
            folder.path("out").metadata().expect("exists").mode() & 0o7777,
            0o644
        );
        assert!(folder.read("out") == content);
        assert_eq!(folder.names(), ["file.lz4", "out"]);
    }
    // A damaged file leaves no output.
    folder.write("file.lz4", &frame[..15_000_000]);
    let output = in_namespace(without_proc, folder.root(), &arguments).output();
    Run::from(output.expect("starts")).fails(1);
    assert!(folder.read("out") == content);
    assert_eq!(folder.names(), ["file.lz4", "out"]);
}
