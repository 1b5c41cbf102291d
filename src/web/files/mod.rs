//! Files and pages on the CPU. Calls are synchronous.

mod blocks;
mod frames;
mod layout;
mod pages;

use super::bytes::{append, copied};
