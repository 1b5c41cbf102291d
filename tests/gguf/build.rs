//! Builds files by hand, whose rules can be broken.

/// Number of the type of a metadata value.
pub const U8: u32 = 0;
pub const U32: u32 = 4;
pub const BOOL: u32 = 7;
pub const STRING: u32 = 8;
pub const ARRAY: u32 = 9;

/// A file: counts as given, keys and tensors as bytes, and data.
#[derive(Debug, Clone)]
pub struct File {
    pub version: u32,
    pub n_tensors: u64,
    pub n_keys: u64,
    pub keys: Vec<u8>,
    pub tensors: Vec<u8>,
    pub data: Vec<u8>,
    pub alignment: usize,
}

impl Default for File {
    fn default() -> Self {
        Self {
            version: 3,
            n_tensors: 0,
            n_keys: 0,
            keys: Vec::new(),
            tensors: Vec::new(),
            data: Vec::new(),
            alignment: 32,
        }
    }
}

impl File {
    /// Adds a key, the number of its type, and the bytes of its value.
    pub fn key(mut self, name: &str, kind: u32, value: &[u8]) -> Self {
        self.keys.extend(string(name.as_bytes()));
        self.keys.extend(kind.to_le_bytes());
        self.keys.extend(value);
        self.n_keys += 1;
        self
    }

    /// Adds a tensor; `dims` are in the order of the file, innermost first.
    pub fn tensor(mut self, name: &str, dims: &[u64], kind: u32, offset: u64) -> Self {
        self.tensors.extend(string(name.as_bytes()));
        self.tensors.extend((dims.len() as u32).to_le_bytes());
        dims.iter()
            .for_each(|dim| self.tensors.extend(dim.to_le_bytes()));
        self.tensors.extend(kind.to_le_bytes());
        self.tensors.extend(offset.to_le_bytes());
        self.n_tensors += 1;
        self
    }

    /// Sets the data.
    pub fn data(mut self, data: &[u8]) -> Self {
        self.data = data.to_vec();
        self
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.n_tensors.to_le_bytes());
        bytes.extend(self.n_keys.to_le_bytes());
        bytes.extend(&self.keys);
        bytes.extend(&self.tensors);
        bytes.resize(bytes.len().next_multiple_of(self.alignment), 0);
        bytes.extend(&self.data);
        bytes
    }
}

/// Returns a length and bytes.
pub fn string(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
}

/// Returns the bytes of an array: the number of its type, its length, and its values.
pub fn array(kind: u32, n: u64, values: &[u8]) -> Vec<u8> {
    [
        kind.to_le_bytes().as_slice(),
        n.to_le_bytes().as_slice(),
        values,
    ]
    .concat()
}
