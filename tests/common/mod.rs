//! What several tests share.
#![allow(dead_code, reason = "each test uses a part")]

pub mod naive;
pub mod pages;
