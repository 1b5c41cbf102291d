//! The texts of errors, put together without `core::fmt`, which would be an eighth of the CPU's wasm module.

/// A part of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    /// As it is.
    Text(&'a str),
    /// In decimal.
    Number(u64),
    /// In hexadecimal, after `0x`.
    Hex(u64),
    /// The same with all eight digits.
    Word(u32),
}

/// The parts one after the other.
pub(crate) fn text(parts: &[Part<'_>]) -> String {
    let mut text = String::new();
    for part in parts {
        match *part {
            Part::Text(part) => text.push_str(part),
            Part::Number(number) => push_digits(&mut text, number, 10, 1),
            Part::Hex(number) => push_hex(&mut text, number, 1),
            Part::Word(word) => push_hex(&mut text, word.into(), 8),
        }
    }
    text
}

/// A number in decimal.
pub(crate) fn number(number: u64) -> String {
    text(&[Part::Number(number)])
}

fn push_hex(text: &mut String, number: u64, n_digits: u32) {
    text.push_str("0x");
    push_digits(text, number, 16, n_digits);
}

/// Appends at least `n_digits` digits to the base `base`.
fn push_digits(text: &mut String, number: u64, base: u64, n_digits: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    if number >= base || n_digits > 1 {
        push_digits(text, number / base, base, n_digits.saturating_sub(1));
    }
    text.push(DIGITS[(number % base) as usize & 15].into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_fmt() {
        for value in [
            0,
            1,
            9,
            10,
            15,
            16,
            255,
            1 << 31,
            u64::from(u32::MAX),
            10_u64.pow(19),
            u64::MAX,
        ] {
            assert_eq!(number(value), format!("{value}"));
            assert_eq!(text(&[Part::Hex(value)]), format!("{value:#x}"));
            let word = value as u32;
            assert_eq!(text(&[Part::Word(word)]), format!("{word:#010x}"));
        }
    }
}
