//! Real files.

use std::path::PathBuf;

use pagepress::lz4::{self, Level};

use crate::pages::{assert_same, generated};
use crate::subject::Subject;

/// Returns the files of `PAGEPRESS_CORPUS`, or generated pages if it is not set.
fn corpora() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("PAGEPRESS_CORPUS") else {
        return vec![("generated".into(), generated(4096, 1 << 20, 1))];
    };
    let files = std::fs::read_dir(&folder).expect("PAGEPRESS_CORPUS is a folder of files");
    let mut paths: Vec<PathBuf> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "PAGEPRESS_CORPUS is empty");
    paths
        .into_iter()
        .map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
        .collect()
}

/// A page whose parse once diverged on an H100: barriers included only some invocations of its warp.
const DIVERGING_PAGE: &[u8] = include_bytes!("../vectors/diverging_page.txt");

fn a_page_that_diverged_equals_the_twin(subject: &mut Subject) {
    let expected = lz4::compress_pages(DIVERGING_PAGE, 4096, Level::Fast).unwrap();
    let found = subject
        .codec
        .compress_pages(DIVERGING_PAGE, 4096, Level::Fast);
    assert_same(&found.unwrap().0, &expected, "the page");
}

pub fn corpora_equal_the_twins(subject: &mut Subject) {
    a_page_that_diverged_equals_the_twin(subject);
    // Slices from all parts of a file, together as long as the generated pages.
    let n_bytes = subject.n_bytes.max(1 << 20);
    for (name, bytes) in corpora() {
        let step = (bytes.len() / n_bytes).max(1) * 65_536;
        let slices: Vec<u8> = bytes
            .chunks(65_536)
            .step_by(step / 65_536)
            .flatten()
            .copied()
            .collect();
        for (page_size, level) in [
            (4096, Level::Fast),
            (4096, Level::High),
            (65_536, Level::Fast),
        ] {
            let what = format!("{name} {page_size} {level:?}");
            let expected = lz4::compress_pages(&slices, page_size, level).unwrap();
            let (found, report) = subject
                .codec
                .compress_pages(&slices, page_size, level)
                .unwrap();
            assert_same(&found, &expected, &what);
            assert!(
                subject.codec.decompress_pages(&found).unwrap().0 == slices,
                "{what}: decompressed"
            );
            println!(
                "{what}: {} bytes, ratio {:.3}, {:?}",
                slices.len(),
                found.ratio(),
                report.timings
            );
        }
    }
}
