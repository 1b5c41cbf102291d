//! Helpers that several test targets use.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

pub mod command;
#[path = "../../../tests/common/lz4_command.rs"]
pub mod lz4_command;
#[path = "../../../tests/common/pages.rs"]
pub mod pages;
#[path = "../../../tests/common/records.rs"]
pub mod records;
