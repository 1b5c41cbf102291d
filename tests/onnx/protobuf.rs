//! A reader of protocol buffers for ONNX's files: fields of a message in order.

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    pub fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Bytes(_) => panic!("a number was expected"),
        }
    }

    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(_) => panic!("bytes were expected"),
        }
    }

    pub fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }

    /// Returns the numbers of a repeated field: a single number or packed ones.
    pub fn varints(self) -> Vec<u64> {
        match self {
            Self::Number(number) => vec![number],
            Self::Bytes(mut bytes) => {
                std::iter::from_fn(|| (!bytes.is_empty()).then(|| varint(&mut bytes))).collect()
            }
        }
    }

    /// Returns the floats of a repeated field: a single float or packed ones.
    pub fn floats(self) -> Vec<f32> {
        match self {
            Self::Number(bits) => vec![f32::from_bits(bits as u32)],
            Self::Bytes(bytes) => f32s(bytes),
        }
    }
}

/// Decodes little-endian floats.
pub fn f32s(bytes: &[u8]) -> Vec<f32> {
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// Returns the fields of a message, each with its number.
pub fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut message)),
            1 => Field::Number(fixed::<8>(&mut message)),
            2 => {
                let n_bytes = varint(&mut message) as usize;
                let (bytes, rest) = message.split_at(n_bytes);
                message = rest;
                Field::Bytes(bytes)
            }
            5 => Field::Number(fixed::<4>(&mut message)),
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, field));
    }
    found
}

fn fixed<const N: usize>(message: &mut &[u8]) -> u64 {
    let (bytes, rest) = message.split_at(N);
    *message = rest;
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn varint(message: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first().unwrap();
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}
