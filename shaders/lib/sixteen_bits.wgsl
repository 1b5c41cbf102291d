// The type of the 16-bit floats that a kernel reads and writes. Its stores round to it by lib/rounded.

// The type, as `DType::code` numbers it: 1 is f16, 2 is bf16.
override TO: u32 = 1u;

/// Returns true if the type is bf16.
fn is_of_bfloat16() -> bool {
    return TO == 2u;
}
