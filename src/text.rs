//! The texts of errors, put together without `core::fmt`, which would be a quarter of the CPU's wasm module.

/// What stands in a template for the next name, and for the next number in decimal, in hexadecimal, and in hexadecimal
/// with all eight digits of a word.
const NAME: u8 = b'$';
const DECIMAL: u8 = b'#';
const HEX: u8 = b'%';
const WORD: u8 = b'&';

/// The template with all names and numbers in their places.
pub(crate) fn fill(template: &str, names: &[&str], numbers: &[u64]) -> String {
    let (mut names, mut numbers) = (names.iter(), numbers.iter());
    let mut text = String::new();
    for mark in template.bytes() {
        if mark == NAME {
            text.push_str(names.next().copied().unwrap_or_default());
        } else if let DECIMAL | HEX | WORD = mark {
            let number = numbers.next().copied().unwrap_or_default();
            match mark {
                DECIMAL => push_decimal(&mut text, number),
                HEX => push_digits(&mut text, number, 16, 1),
                _ => push_digits(&mut text, number, 16, 8),
            }
        } else {
            text.push(mark.into());
        }
    }
    text
}

/// Numbers in brackets.
pub(crate) fn list(numbers: &[usize]) -> String {
    let mut text = String::from("[");
    for (i, &number) in numbers.iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        push_decimal(&mut text, number as u64);
    }
    text.push(']');
    text
}

/// Appends a number in decimal.
pub(crate) fn push_decimal(text: &mut String, number: u64) {
    push_digits(text, number, 10, 1);
}

/// Appends at least `n_digits` digits to the base `base`.
fn push_digits(text: &mut String, mut number: u64, base: u64, n_digits: usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = [0; 20];
    let mut n = 0;
    for place in &mut digits {
        if number == 0 && n >= n_digits {
            break;
        }
        *place = DIGITS[(number % base) as usize & 15];
        number /= base;
        n += 1;
    }
    if base == 16 {
        text.push_str("0x");
    }
    text.extend(digits[..n].iter().rev().map(|&digit| char::from(digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_fmt() {
        let powers = (0..64).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits]);
        for value in powers.chain([9, 10, 10_u64.pow(19), u64::MAX]) {
            let word = value as u32;
            assert_eq!(
                fill("$: #, %; &", &["a"], &[value, value, word.into()]),
                format!("a: {value}, {value:#x}; {word:#010x}")
            );
        }
    }
}
