//! The codec `numcodecs.lz4` of Zarr for the crate zarrs: the size of a chunk in four bytes, then one LZ4 block, as zarr in Python writes it (`zarr.codecs.numcodecs.LZ4`, and
//! `numcodecs.LZ4` in Zarr v2).
//!
//! A program that links this crate reads and writes such arrays: zarrs finds the codec by `inventory`. Its `use` keeps the linker from dropping it:
//! ```
//! use pagepress_zarrs as _;
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use pagepress::lz4::Level;
use pagepress::lz4::formats::{Format, compress, decompress};
use serde::{Deserialize, Serialize};
use zarrs::array::codec::api::{
    BytesToBytesCodecTraits, Codec, CodecError, CodecMetadataOptions, CodecOptions, CodecPluginV2,
    CodecPluginV3, CodecTraits, CodecTraitsV2, CodecTraitsV3, PartialDecoderCapability,
    PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs::array::{ArrayBytesRaw, BytesRepresentation};
use zarrs::metadata::v2::MetadataV2;
use zarrs::metadata::v3::MetadataV3;
use zarrs::metadata::{Configuration, ConfigurationSerialize};
use zarrs::plugin::{PluginCreateError, ZarrVersion};

zarrs::plugin::impl_extension_aliases!(PagepressLz4Codec, v3: "numcodecs.lz4", [], v2: "lz4", []);
inventory::submit! { CodecPluginV3::new::<PagepressLz4Codec>() }
inventory::submit! { CodecPluginV2::new::<PagepressLz4Codec>() }

/// Bytes of the size before a block.
const PREFIX_BYTES: u64 = 4;

/// The configuration in the metadata of an array. `acceleration` is kept for other readers and changes nothing here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lz4Configuration {
    /// The acceleration of C lz4.
    #[serde(default = "one")]
    pub acceleration: i32,
}

const fn one() -> i32 {
    1
}

impl ConfigurationSerialize for Lz4Configuration {}

/// LZ4 blocks after their size.
#[derive(Debug, Clone, Copy)]
pub struct PagepressLz4Codec {
    configuration: Lz4Configuration,
    level: Level,
}

impl PagepressLz4Codec {
    /// Creates a codec. The metadata of arrays does not keep the level; a codec from metadata has [`Level::Sequential`].
    #[must_use]
    pub const fn new(level: Level) -> Self {
        let configuration = Lz4Configuration {
            acceleration: one(),
        };
        Self {
            configuration,
            level,
        }
    }

    const fn with_configuration(configuration: Lz4Configuration) -> Self {
        let level = Level::Sequential;
        Self {
            configuration,
            level,
        }
    }
}

impl CodecTraitsV3 for PagepressLz4Codec {
    fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        let codec = Self::with_configuration(metadata.to_typed_configuration()?);
        Ok(Codec::BytesToBytes(Arc::new(codec)))
    }
}

impl CodecTraitsV2 for PagepressLz4Codec {
    fn create(metadata: &MetadataV2) -> Result<Codec, PluginCreateError> {
        let codec = Self::with_configuration(metadata.to_typed_configuration()?);
        Ok(Codec::BytesToBytes(Arc::new(codec)))
    }
}

impl CodecTraits for PagepressLz4Codec {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        Some(self.configuration.into())
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability {
            partial_read: false,
            partial_decode: false,
        }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability {
            partial_encode: false,
        }
    }
}

impl BytesToBytesCodecTraits for PagepressLz4Codec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(
        &self,
        _: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        // One block is the work of one core; zarrs encodes many chunks at a time.
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encode<'a>(
        &self,
        decoded: ArrayBytesRaw<'a>,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let encoded = compress(&decoded, Format::SizePrefixed, self.level);
        Ok(Cow::Owned(encoded.map_err(failed)?))
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        representation: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        // The size of a chunk is known, unless other codecs follow: a damaged chunk allocates no more.
        let decoded = decompress(&encoded, Format::SizePrefixed, representation.size());
        Ok(Cow::Owned(decoded.map_err(failed)?))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        decoded
            .size()
            .map_or(BytesRepresentation::UnboundedSize, |size| {
                let bound = size.saturating_add(size / 255 + 16 + PREFIX_BYTES);
                BytesRepresentation::BoundedSize(bound)
            })
    }
}

fn failed(error: pagepress::Error) -> CodecError {
    CodecError::from(Arc::new(std::io::Error::from(error)))
}
