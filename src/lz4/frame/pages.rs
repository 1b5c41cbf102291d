//! Frames as batches of pages, for a GPU to decompress.

use super::layout::ReadAt;
use super::{BlockSize, FrameHeader, FrameLayout, WORD_BYTES, checksum};
use crate::lz4::batch::check_page_size;
use crate::lz4::decode::decode_with;
use crate::lz4::{Dictionary, MAX_PAGE_SIZE, PageEntry, PageKind};
use crate::{Result, memory};

/// A frame whose blocks are pages of one size.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FramePages {
    /// Bytes of content in a block; the last one may hold less.
    pub page_size: u32,
    /// Bytes of content of all blocks.
    pub n_bytes: u64,
    /// The blocks, by their place in the frame: unlike those of a batch they start at any byte.
    pub table: Vec<PageEntry>,
    /// The checksum of the content, if the frame has one.
    pub content_checksum: Option<u32>,
}

impl FramePages {
    /// Returns the pages of a frame of `n_bytes`, from which `read` copies bytes that start at an offset. `dictionary` is the one of the
    /// frame, if it has one.
    ///
    /// `None` unless the bytes are one whole frame of independent blocks of at most 64 KiB of content, of which the first
    /// holds as much as a page, and the last as much or less. Blocks are compared with their checksums, but only the first
    /// and the last are decoded: if one between them is no page, its decompression fails.
    ///
    /// # Errors
    /// Those of `read`, and [`OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn read(
        n_bytes: usize,
        read: ReadAt<'_>,
        dictionary: Option<&Dictionary>,
    ) -> Result<Option<Self>> {
        let may_hold_pages =
            |header: &FrameHeader| !header.linked && header.block_max_size == MAX_PAGE_SIZE;
        let mut table = Vec::new();
        let layout = FrameLayout::read(
            n_bytes,
            read,
            dictionary,
            may_hold_pages,
            &mut |at, size| {
                memory::reserve(&mut table, 1)?;
                table.push(entry_of(at, size));
                Ok(())
            },
        )?;
        let Some(FrameLayout {
            header,
            content_checksum,
            ..
        }) = layout
        else {
            return Ok(None);
        };
        if header.block_checksums {
            for entry in &table {
                if !is_sound(read, entry)? {
                    return Ok(None);
                }
            }
        }
        let (Some(first), Some(last)) = (table.first(), table.last()) else {
            return Ok(None);
        };
        let n_last = u64::from(content_bytes(read, last, dictionary)?);
        let page_size = match table.len() {
            1 => MAX_PAGE_SIZE,
            _ => content_bytes(read, first, dictionary)?,
        };
        let n_bytes = (table.len() as u64 - 1) * u64::from(page_size) + n_last;
        let is_paged = check_page_size(page_size).is_ok()
            && (1..=u64::from(page_size)).contains(&n_last)
            && header.content_size.is_none_or(|size| size == n_bytes);
        Ok(is_paged.then_some(Self {
            page_size,
            n_bytes,
            table,
            content_checksum,
        }))
    }
}

/// Returns the entry of a block whose size field is at byte `at`.
fn entry_of(at: usize, size: BlockSize) -> PageEntry {
    PageEntry {
        offset: (at + WORD_BYTES) as u64,
        length: size.n_bytes() as u32,
        kind: match size.is_compressed() {
            true => PageKind::Lz4,
            false => PageKind::Stored,
        },
    }
}

/// Returns true if a block agrees with the checksum after it.
fn is_sound(read: ReadAt<'_>, entry: &PageEntry) -> Result<bool> {
    let mut stored = [0; WORD_BYTES];
    read(entry.offset as usize + entry.length as usize, &mut stored)?;
    Ok(u32::from_le_bytes(stored) == checksum(&block(read, entry)?))
}

fn block(read: ReadAt<'_>, entry: &PageEntry) -> Result<Vec<u8>> {
    let mut block = memory::zeros(entry.length as usize)?;
    read(entry.offset as usize, &mut block)?;
    Ok(block)
}

/// Returns the bytes of content of a block; 0 if it is corrupt.
fn content_bytes(
    read: ReadAt<'_>,
    entry: &PageEntry,
    dictionary: Option<&Dictionary>,
) -> Result<u32> {
    if entry.kind == PageKind::Stored {
        return Ok(entry.length);
    }
    let mut content = memory::zeros(MAX_PAGE_SIZE as usize)?;
    let decoded = decode_with(&block(read, entry)?, &mut content, 0, dictionary);
    Ok(decoded.map_or(0, |n_bytes| n_bytes as u32))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::*;
    use crate::lz4::decompress_block;
    use crate::lz4::frame::{FrameOptions, compress};

    fn pages_with(bytes: &[u8], dictionary: Option<&Dictionary>) -> Option<FramePages> {
        let read = |at: usize, to: &mut [u8]| {
            to.copy_from_slice(&bytes[at..at + to.len()]);
            Ok(())
        };
        FramePages::read(bytes.len(), &read, dictionary).expect("memory for a test")
    }

    fn pages_of(bytes: &[u8]) -> Option<FramePages> {
        pages_with(bytes, None)
    }

    fn content(n_bytes: u32) -> Vec<u8> {
        (0..n_bytes)
            .map(|i| (i.wrapping_mul(i) >> 9) as u8)
            .collect()
    }

    #[test]
    fn blocks_of_a_page_each_are_found() {
        let content = content(4 * 4096 + 100);
        for block_checksums in [false, true] {
            for content_checksum in [false, true] {
                let options = FrameOptions {
                    block_size: 4096,
                    block_checksums,
                    content_checksum,
                    content_size: Some(content.len() as u64),
                    ..FrameOptions::default()
                };
                let frame = compress(&content, &options).expect("in range");
                let pages = pages_of(&frame).expect("pages");
                assert_eq!((pages.page_size, pages.n_bytes), (4096, 16_484));
                let sum = content_checksum.then(|| checksum(&content));
                assert_eq!(pages.content_checksum, sum);
                for (entry, page) in pages.table.iter().zip(content.chunks(4096)) {
                    let block = &frame[entry.offset as usize..][..entry.length as usize];
                    let mut decoded = vec![0; page.len()];
                    match entry.kind {
                        PageKind::Stored => decoded.copy_from_slice(block),
                        _ => assert_eq!(decompress_block(block, &mut decoded), Ok(())),
                    }
                    assert_eq!(decoded, page);
                }
            }
        }
    }

    #[test]
    fn a_frame_with_a_dictionary_needs_it() {
        let content = content(3 * 4096);
        for id in [7, 0] {
            let dictionary = Dictionary::with_id(&content[4000..8000], id);
            let options = FrameOptions {
                block_size: 4096,
                dictionary: Some(dictionary.clone()),
                ..FrameOptions::default()
            };
            let frame = compress(&content, &options).expect("in range");
            let pages = pages_with(&frame, Some(&dictionary)).expect("pages");
            assert_eq!((pages.page_size, pages.n_bytes), (4096, 12_288));
            assert_eq!(pages_of(&frame), None);
        }
    }

    #[test]
    fn one_block_of_any_length_is_a_page() {
        let frame = compress(&content(99), &FrameOptions::default()).expect("in range");
        let pages = pages_of(&frame).expect("pages");
        assert_eq!((pages.page_size, pages.n_bytes), (MAX_PAGE_SIZE, 99));
    }

    #[test]
    fn other_bytes_are_no_pages() {
        let content = content(50_000);
        let framed = |options: FrameOptions| compress(&content, &options).expect("in range");
        let sound = FrameOptions {
            block_size: 8192,
            block_checksums: true,
            ..FrameOptions::default()
        };
        let frame = framed(sound.clone());
        assert!(pages_of(&frame).is_some());
        for n_bytes in 0..frame.len() {
            assert_eq!(pages_of(&frame[..n_bytes]), None, "{n_bytes} bytes");
        }
        assert_eq!(pages_of(&[&frame[..], &[0]].concat()), None);
        let mut corrupt = frame.clone();
        corrupt[frame.len() / 2] ^= 4;
        assert_eq!(pages_of(&corrupt), None);
        let others = [
            FrameOptions {
                block_size: 12_288,
                ..sound.clone()
            },
            FrameOptions {
                block_size: 1 << 20,
                ..sound.clone()
            },
            FrameOptions {
                index: true,
                ..sound.clone()
            },
        ];
        for options in others {
            assert_eq!(pages_of(&framed(options.clone())), None, "{options:?}");
        }
        let empty = compress(&[], &sound).expect("in range");
        assert_eq!(pages_of(&empty), None);
    }
}
