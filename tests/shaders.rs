//! Every shader validates and translates to every target, with every set of override constants that a job uses, and its
//! bindings and parameters agree with the kernel table.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "common/launches.rs"]
mod launches;
#[path = "common/modules.rs"]
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use launches::{LARGE, USUAL, launches, launches_on};
use modules::{has_matrices, parse, specialized};
use naga::back::{hlsl, msl, spv};
use pagepress::internals::Limits;
use pagepress::kernels::{Access, Arg, Launch};

/// Returns the launches of kernels that every engine runs. Others are for matrix units, and only CUDA runs them.
fn portable_launches() -> BTreeMap<String, Launch> {
    let mut launches = launches();
    launches.retain(|_, launch| !has_matrices(launch.kernel));
    launches
}

/// Returns the files of `shaders/` and of its folders with their texts, by name without `.wgsl`, such as `lib/bits`.
fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut folders = vec![root.clone()];
    let mut files = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).unwrap().with_extension("");
            let name = name.to_str().unwrap().replace('\\', "/");
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    assert!(!files.is_empty(), "no shader found");
    files
}

/// Returns the declarations of a file at module scope, except bindings, as pairs of keyword and name: `("fn",
/// "funnel")`.
fn declarations(wgsl: &str) -> Vec<(&str, &str)> {
    const KEYWORDS: [&str; 6] = ["fn", "var", "const", "override", "struct", "alias"];
    let lines = wgsl.lines().filter_map(|line| {
        let (head, rest) = line.split_once(' ')?;
        let keyword = head.split('<').next()?;
        let name = rest.split(|c| !is_word(c)).next()?;
        KEYWORDS.contains(&keyword).then_some((keyword, name))
    });
    lines.collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the names of the files that a file imports, parsed as in `build.rs`.
fn imports(wgsl: &str) -> Vec<&str> {
    let lines = wgsl.lines();
    let lists = lines.filter_map(|line| line.strip_prefix("// import: "));
    lists.flat_map(|list| list.split(", ")).collect()
}

/// Folders of parts that take each other's place in second texts of kernels, as `build.rs` has them, and the number of these.
const SECOND_TEXTS: [([&str; 2], usize); 4] = [
    (["lib/pages/", "lib/chunks/"], 5),
    (["lib/narrow/", "lib/wide/"], 1),
    (["lib/plain/", "lib/fused/"], 5),
    (["lib/singles/", "lib/halves/"], 4),
];

/// Returns true for parts of second texts.
fn is_of_second(file: &str) -> bool {
    let mut folders = SECOND_TEXTS.iter().map(|([_, folder], _)| folder);
    folders.any(|folder| file.starts_with(folder))
}

#[test]
fn every_shader_file_is_in_the_kernel_table() {
    let files = files();
    let launches = launches();
    let texts = launches.values().map(|launch| launch.kernel.wgsl);
    let is_second = |source: &&str| {
        let mut parts = files.iter().filter(|(name, _)| is_of_second(name));
        parts.any(|(_, text)| source.contains(text))
    };
    let (second, sources): (BTreeSet<&str>, BTreeSet<&str>) = texts.partition(is_second);
    let n_second: usize = SECOND_TEXTS.iter().map(|(_, n)| n).sum();
    assert_eq!(second.len(), n_second);
    let kernels: Vec<_> = files
        .iter()
        .filter(|(name, _)| !name.contains('/'))
        .collect();
    for (name, text) in &kernels {
        let joined = sources.iter().find(|source| source.starts_with(*text));
        let joined = joined.unwrap_or_else(|| panic!("{name} is in no job"));
        for import in imports(text) {
            assert_eq!(
                joined.matches(&files[import]).count(),
                1,
                "{import}, of {name}"
            );
        }
    }
    assert_eq!(sources.len(), kernels.len());
    for part in files.keys().filter(|name| name.contains('/')) {
        // Some take the place of others.
        let place = |part: String, ([from, to], _): &([&str; 2], usize)| part.replace(to, from);
        let part = &SECOND_TEXTS.iter().fold(part.clone(), place);
        let is_imported = files
            .values()
            .any(|text| imports(text).contains(&part.as_str()));
        assert!(is_imported, "nothing imports {part}");
    }
}

#[test]
fn functions_are_defined_once() {
    let files = files();
    let mut found = BTreeMap::new();
    // Those of second texts have the names of those whose place they take.
    for (file, text) in files.iter().filter(|(file, _)| !is_of_second(file)) {
        for (_, name) in declarations(text)
            .into_iter()
            .filter(|(keyword, _)| *keyword == "fn")
        {
            if let Some(other) = found.insert(name, file) {
                panic!("{name} is in {other} and in {file}: move it to shaders/lib, or rename one");
            }
        }
    }
    assert_eq!(found["funnel"], "lib/bits");
    assert_eq!(found["lz4_emit"], "lz4_emit");
}

#[test]
fn workgroup_variables_carry_their_prefix() {
    let mut n_variables = 0;
    for (file, text) in files() {
        for (at, _) in text.match_indices("var<workgroup>") {
            let name = text[at..].trim_start_matches("var<workgroup>").trim_start();
            assert!(
                name.starts_with("sh_"),
                "{file}: {}",
                name.lines().next().unwrap()
            );
            n_variables += 1;
        }
    }
    assert!(n_variables > 10);
}

/// Finds superfluous imports. A missing import is an unknown name, which naga reports.
#[test]
fn every_import_is_needed() {
    let files = files();
    for (file, text) in &files {
        let code: String = text
            .lines()
            .flat_map(|line| [line.split("//").next().unwrap(), "\n"])
            .collect();
        let words: BTreeSet<&str> = code.split(|c| !is_word(c)).collect();
        for import in imports(text) {
            let declared = declarations(&files[import]);
            assert!(
                declared.iter().any(|(_, name)| words.contains(name)),
                "{file} uses nothing of {import}"
            );
        }
    }
}

#[test]
fn every_launch_translates_to_spirv_msl_and_hlsl() {
    let mut failures = Vec::new();
    let launches = portable_launches();
    assert!(!launches.is_empty(), "no launch found");
    for (name, launch) in &launches {
        for (target, result) in translate(launch) {
            if let Err(error) = result {
                failures.push(format!("{name} to {target}: {error}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{} launches", launches.len());
}

#[test]
fn launches_of_vulkan_on_matrix_units_translate_to_spirv() {
    let mut launches = launches();
    launches.retain(|_, launch| launch.kernel.name == "tensor_matmul_half_ahead");
    assert!(!launches.is_empty(), "no launch found");
    for (name, launch) in &launches {
        let (module, info) = parse(launch.kernel);
        let (module, info) = specialized(&module, &info, launch);
        // Drivers with cooperative matrices have Vulkan 1.3, which takes this version.
        let options = spv::Options {
            lang_version: (1, 6),
            ..spv::Options::default()
        };
        let written = write_spirv(&module, &info, launch, &options);
        assert!(written.is_ok(), "{name}: {written:?}");
    }
}

fn write_spirv(
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    launch: &Launch,
    options: &spv::Options<'_>,
) -> Result<(), String> {
    let pipeline = spv::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: launch.kernel.name.to_owned(),
    };
    let written = spv::write_vec(module, info, options, Some(&pipeline));
    written.map(drop).map_err(|error| error.to_string())
}

fn translate(launch: &Launch) -> [(&'static str, Result<(), String>); 3] {
    let (module, info) = parse(launch.kernel);
    let (module, info) = specialized(&module, &info, launch);
    let stage = naga::ShaderStage::Compute;
    let spirv = write_spirv(&module, &info, launch, &spv::Options::default());
    let metal = {
        let options = msl::Options {
            fake_missing_bindings: true,
            lang_version: (2, 4),
            ..msl::Options::default()
        };
        let pipeline = msl::PipelineOptions {
            entry_point: Some((stage, launch.kernel.name.to_owned())),
            ..msl::PipelineOptions::default()
        };
        msl::write_string(&module, &info, &options, &pipeline)
    };
    let direct3d = {
        let options = hlsl::Options {
            fake_missing_bindings: true,
            ..hlsl::Options::default()
        };
        let pipeline = hlsl::PipelineOptions {
            entry_point: Some((stage, launch.kernel.name.to_owned())),
        };
        let mut text = String::new();
        hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(&module, &info, None)
            .map(drop)
    };
    [
        ("SPIR-V", spirv),
        ("MSL", metal.map(drop).map_err(|error| error.to_string())),
        ("HLSL", direct3d.map_err(|error| error.to_string())),
    ]
}

#[test]
fn bindings_and_parameters_are_those_of_the_kernel_table() {
    for launch in launches().into_values() {
        let kernel = launch.kernel;
        let (module, _) = parse(kernel);
        assert!(
            module
                .entry_points
                .iter()
                .any(|entry| entry.name == kernel.name),
            "{}: entry point",
            kernel.name
        );
        let mut found = BTreeMap::new();
        for (_, variable) in module.global_variables.iter() {
            let Some(binding) = &variable.binding else {
                continue;
            };
            assert_eq!(binding.group, 0, "{}", kernel.name);
            let access = match variable.space {
                naga::AddressSpace::Uniform => Access::Uniform,
                naga::AddressSpace::Storage { access }
                    if access.contains(naga::StorageAccess::STORE) =>
                {
                    Access::ReadWrite
                }
                naga::AddressSpace::Storage { .. } => Access::Read,
                other => panic!("{}: {other:?}", kernel.name),
            };
            let n_bytes = module.types[variable.ty].inner.size(module.to_ctx());
            assert!(
                found.insert(binding.binding, (access, n_bytes)).is_none(),
                "{}: binding twice",
                kernel.name
            );
        }
        let bindings: Vec<Access> = found.values().map(|&(access, _)| access).collect();
        assert_eq!(bindings, kernel.bindings, "{}", kernel.name);
        assert!(
            found.keys().copied().eq(0..found.len() as u32),
            "{}: gaps in the bindings",
            kernel.name
        );
        assert_eq!(launch.args.len(), kernel.bindings.len(), "{}", kernel.name);
        for (arg, (access, n_bytes)) in launch.args.iter().zip(found.values()) {
            match arg {
                Arg::Buffer(slot) | Arg::Slice(slot, _) => {
                    assert_ne!(*access, Access::Uniform, "{} {slot:?}", kernel.name)
                }
                Arg::Params(words) => {
                    assert_eq!(*access, Access::Uniform, "{}", kernel.name);
                    assert_eq!(
                        4 * words.len() as u32,
                        *n_bytes,
                        "{}: size of Params",
                        kernel.name
                    );
                    assert_eq!(words.len() % 4, 0, "{}", kernel.name);
                }
            }
        }
        let names: BTreeSet<&str> = module
            .overrides
            .iter()
            .filter_map(|(_, o)| o.name.as_deref())
            .collect();
        for (name, _) in &launch.overrides {
            assert!(names.contains(name), "{}: override {name}", kernel.name);
        }
    }
}

#[test]
fn jobs_stay_within_the_limits_of_their_device() {
    let least = Limits {
        binding_bytes: LARGE,
        ..Limits::LEAST
    };
    for limits in [USUAL, least] {
        for launch in launches_on(&[limits]).into_values() {
            stays_within(&launch, limits);
        }
    }
}

fn stays_within(launch: &Launch, limits: Limits) {
    let kernel = launch.kernel;
    assert!(
        launch.grid.iter().all(|&n| (1..=65_535).contains(&n)),
        "{}: grid {:?}",
        kernel.name,
        launch.grid
    );
    let n_storage = kernel
        .bindings
        .iter()
        .filter(|access| **access != Access::Uniform)
        .count();
    assert!(
        n_storage <= 6,
        "{}: {n_storage} storage buffers",
        kernel.name
    );
    let (module, info) = parse(kernel);
    let (module, info) = specialized(&module, &info, launch);
    let at = module
        .entry_points
        .iter()
        .position(|entry| entry.name == kernel.name)
        .unwrap();
    let invocations: u32 = module.entry_points[at].workgroup_size.iter().product();
    assert!(
        invocations <= limits.invocations,
        "{}: {invocations} invocations",
        kernel.name
    );
    let used = info.get_entry_point(at);
    let workgroup_bytes: u32 = module
        .global_variables
        .iter()
        .filter(|&(handle, variable)| {
            variable.space == naga::AddressSpace::WorkGroup && !used[handle].is_empty()
        })
        .map(|(_, variable)| {
            module.types[variable.ty]
                .inner
                .size(module.to_ctx())
                .next_multiple_of(16)
        })
        .sum();
    assert!(
        workgroup_bytes <= limits.workgroup_bytes,
        "{}: {workgroup_bytes} bytes of workgroup memory",
        kernel.name
    );
}
