#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pagepress_fuzz_targets::counted(
    pagepress_fuzz_targets::gguf,
    data
));
