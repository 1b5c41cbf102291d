//! Behaviour that all engines share, tested with small kernels.

use pagepress::Error;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{
    Backend, DeviceRequest, EngineChoice, GpuDevice, HostMemory, HostUse, KernelArg, KernelSource,
    Place, Recorder, Waitable,
};
use pagepress::kernels::Access;

/// Opens a GPU of an engine, which may be a software one.
pub fn open(engine: EngineChoice) -> GpuDevice {
    let request = DeviceRequest {
        engine,
        allow_software: true,
        ..DeviceRequest::default()
    };
    GpuDevice::open(&request).expect("needs a GPU, a software one will do")
}

pub const SQUARES: &str = "
    override FACTOR: u32 = 1u;
    struct Params { n: u32, add: u32, a: u32, b: u32 }
    @group(0) @binding(0) var<storage, read> input: array<u32>;
    @group(0) @binding(1) var<storage, read_write> output: array<u32>;
    @group(0) @binding(2) var<uniform> params: Params;
    var<workgroup> tile: array<u32, 64>;
    @compute @workgroup_size(64)
    fn squares(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {
        tile[i] = 0u;
        if (id.x < params.n) { tile[i] = input[id.x] * input[id.x] * FACTOR + params.add; }
        workgroupBarrier();
        let value = tile[63u - i];
        storageBarrier();
        if (id.x < params.n) { output[id.x] = value; }
    }";

pub const BINDINGS: &[Access] = &[Access::Read, Access::ReadWrite, Access::Uniform];

pub fn expected(n: u32, factor: u32, add: u32) -> Vec<u32> {
    let plain: Vec<u32> = (0..n)
        .map(|i| i.wrapping_mul(i).wrapping_mul(factor).wrapping_add(add))
        .collect();
    plain
        .chunks(64)
        .flat_map(|tile| tile.iter().rev().copied().collect::<Vec<_>>())
        .collect()
}

/// Returns the kernel, marked as unchecked if `self_checked`.
pub fn unchecked_if(self_checked: bool, source: KernelSource<'_>) -> KernelSource<'_> {
    match self_checked {
        // SAFETY: the kernels of this file, and of the tests that call this, compare their indices with the sizes of
        // their launch, or do not compile.
        true => unsafe { source.without_checks() },
        false => source,
    }
}

pub fn squares(device: &GpuDevice, n: u32, self_checked: bool) -> Result<Vec<u32>, Error> {
    let source = KernelSource::new(SQUARES, "squares", BINDINGS);
    let source = unchecked_if(self_checked, source).with_overrides(&[("FACTOR", 3.0)]);
    let words: Vec<u32> = (0..n).collect();
    run_on_words(device, &source, n.div_ceil(64), &words, Some(&[n, 7]))
}

/// Runs a kernel whose bindings are its input, its output and, if it has any, its parameters. Returns as many words as the input has.
pub fn run_on_words(
    device: &GpuDevice,
    source: &KernelSource<'_>,
    n_workgroups: u32,
    words: &[u32],
    params: Option<&[u32]>,
) -> Result<Vec<u32>, Error> {
    block_on(async {
        let kernel = device.compile_kernel(source).await?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let input = device.allocate_memory(bytes.len() as u64)?;
        let output = device.allocate_memory(bytes.len() as u64)?;
        device.upload_async(&input, 0, &bytes).await?;
        let mut args = vec![KernelArg::Buffer(&input), KernelArg::Buffer(&output)];
        args.extend(params.map(KernelArg::Params));
        let kernel_ns = device
            .launch_kernel(&kernel, [n_workgroups, 1, 1], &args)?
            .wait_async()
            .await?;
        assert!(kernel_ns.is_none() || device.capabilities().timestamps);
        let bytes = device
            .download_async(&output, 0..bytes.len() as u64)
            .await?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
            .collect())
    })
}

pub fn launches_see_the_writes_before_them_in_one_submission(device: &GpuDevice) {
    let found = block_on(async {
        let wgsl = "
            @group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64)
            fn double(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] * 2u + 1u; }";
        let kernel = device
            .compile_kernel(&KernelSource::new(wgsl, "double", &[Access::ReadWrite]))
            .await?;
        let data = device.allocate_memory(256)?;
        let copy = device.allocate_memory(256)?;
        let host = device.allocate_host(256, HostUse::Upload)?;
        host.write_async(0, &[0; 256]).await?;
        let mut stream = device.stream();
        stream.copy(Place::Device(&data, 0), Place::Host(&host, 0), 256)?;
        for _ in 0..5 {
            stream.launch(&kernel, [1, 1, 1], &[KernelArg::Buffer(&data)])?;
        }
        stream.copy(Place::Device(&copy, 0), Place::Device(&data, 0), 256)?;
        stream.launch(&kernel, [1, 1, 1], &[KernelArg::Buffer(&copy)])?;
        stream.submit()?.wait_async().await?;
        let sides = [
            device.download_async(&data, 0..4).await?,
            device.download_async(&copy, 0..4).await?,
        ];
        // The host memory can be written again.
        host.write_async(0, &[1; 8]).await?;
        Ok::<_, Error>(sides)
    });
    assert_eq!(
        found.unwrap(),
        [31u32.to_le_bytes().to_vec(), 63u32.to_le_bytes().to_vec()]
    );
}

pub fn wrong_kernels_are_typed_errors(device: &GpuDevice) {
    block_on(async {
        let broken = "@compute @workgroup_size(1)\nfn broken() { let x: u32 = 1.5; }";
        for self_checked in [false, true] {
            let source = unchecked_if(self_checked, KernelSource::new(broken, "broken", &[]));
            let error = device.compile_kernel(&source).await.unwrap_err();
            assert_eq!(error.code(), "KERNEL_COMPILE");
            assert!(error.to_string().contains("2:"), "{error}");
            let missing = KernelSource::new(SQUARES, "no_such_entry", BINDINGS);
            let missing = unchecked_if(self_checked, missing);
            assert_eq!(
                device.compile_kernel(&missing).await.unwrap_err().code(),
                "KERNEL_COMPILE"
            );
            let unbound = KernelSource::new(SQUARES, "squares", &BINDINGS[..1]);
            let unbound = unchecked_if(self_checked, unbound);
            assert_eq!(
                device.compile_kernel(&unbound).await.unwrap_err().code(),
                "KERNEL_COMPILE"
            );
        }
    });
}

/// Sources with one mistake each, at the marked position.
const MISTAKES: [&str; 7] = [
    "@compute @workgroup_size(1)\nfn broken() { let «x: u32 = 1.5; }",
    "// Größe\n@compute @workgroup_size(1)\nfn broken() {\n    let x = «nowhere + 1u;\n}",
    "@compute @workgroup_size(1)\nfn broken() {\n    let x = 1u «let y = 2u;\n}",
    "@group(0) @binding(0) var<storage, read> a: array<u32>;\n@compute @workgroup_size(1)\nfn broken() { «a[0] = 1u; }",
    "fn half(x: f32) -> f32 { return x * 0.5; }\n\n@compute @workgroup_size(1)\nfn broken() { let y = «half(1u); }",
    "@compute @workgroup_size(1)\nfn broken() {\n    let é = «1u; return é;\n}",
    "struct A { x: «Missing }\n@compute @workgroup_size(1)\nfn broken() {}",
];

pub fn errors_of_kernels_say_where(device: &GpuDevice) {
    for marked in MISTAKES {
        let (before, behind) = marked.split_once('«').unwrap();
        let wgsl = format!("{before}{behind}");
        let line = before.lines().count();
        let column = before.lines().last().unwrap().chars().count() + 1;
        let bindings: &[Access] = match wgsl.contains("@group") {
            true => &[Access::Read],
            false => &[],
        };
        for self_checked in [false, true] {
            let source = KernelSource::new(&wgsl, "broken", bindings);
            let source = unchecked_if(self_checked, source);
            let error = block_on(device.compile_kernel(&source)).unwrap_err();
            let Error::KernelCompile { message, .. } = &error else {
                panic!("{error}");
            };
            let place = format!("{line}:{column}: ");
            assert!(message.starts_with(&place), "not {place}{message}");
            // The message ends with the line and a mark below the position.
            let mark = message.lines().last().unwrap();
            assert_eq!(mark.chars().count(), column, "{message}");
        }
    }
}

pub fn wrong_calls_are_typed_errors(device: &GpuDevice) {
    block_on(async {
        let kernel = device
            .compile_kernel(&KernelSource::new(SQUARES, "squares", BINDINGS))
            .await
            .unwrap();
        let buffer = device.allocate_memory(64).unwrap();
        let few = device
            .launch_kernel(&kernel, [1, 1, 1], &[KernelArg::Buffer(&buffer)])
            .unwrap_err();
        assert_eq!(few.code(), "INVALID_ARGUMENT");
        let swapped = [
            KernelArg::Buffer(&buffer),
            KernelArg::Params(&[1]),
            KernelArg::Buffer(&buffer),
        ];
        assert_eq!(
            device
                .launch_kernel(&kernel, [1, 1, 1], &swapped)
                .unwrap_err()
                .code(),
            "INVALID_ARGUMENT"
        );
        let args = [
            KernelArg::Buffer(&buffer),
            KernelArg::Buffer(&buffer),
            KernelArg::Params(&[1]),
        ];
        assert_eq!(
            device
                .launch_kernel(&kernel, [1 << 20, 1, 1], &args)
                .unwrap_err()
                .code(),
            "INVALID_ARGUMENT"
        );
        // WebGPU rejects the same buffer for reading and writing; that must be an error, not a panic.
        assert_eq!(
            device
                .launch_kernel(&kernel, [1, 1, 1], &args)
                .unwrap_err()
                .code(),
            "ENGINE"
        );
        for n_bytes in [0, 3, u64::MAX - 3] {
            assert_eq!(
                device.allocate_memory(n_bytes).unwrap_err().code(),
                "INVALID_ARGUMENT"
            );
        }
        let outside = device.download_async(&buffer, 32..128).await.unwrap_err();
        assert_eq!(outside.code(), "INVALID_ARGUMENT");
        let host = device.allocate_host(64, HostUse::Upload).unwrap();
        assert_eq!(
            host.read_async(0..4, <[u8]>::to_vec)
                .await
                .unwrap_err()
                .code(),
            "INVALID_ARGUMENT"
        );
        assert_eq!(
            host.write_async(64, &[0; 4]).await.unwrap_err().code(),
            "INVALID_ARGUMENT"
        );
    });
    // The device still works.
    assert_eq!(squares(device, 64, false).unwrap(), expected(64, 3, 7));
}

pub fn a_lost_device_says_so_and_can_be_opened_anew(device: &GpuDevice) {
    assert!(device.check().is_ok());
    device.destroy();
    assert_eq!(device.check().unwrap_err().code(), "DEVICE_LOST");
    assert_eq!(
        squares(device, 64, false).unwrap_err().code(),
        "DEVICE_LOST"
    );
    assert_eq!(
        block_on(device.synchronize_async()).unwrap_err().code(),
        "DEVICE_LOST"
    );
    let again = block_on(device.reopen_async()).unwrap();
    assert_eq!(squares(&again, 64, false).unwrap(), expected(64, 3, 7));
}

pub fn work_in_flight_when_the_device_is_lost_ends_in_an_error(device: &GpuDevice) {
    block_on(async {
        let buffer = device.allocate_memory(1 << 20).unwrap();
        let host = device.allocate_host(1 << 20, HostUse::Download).unwrap();
        let mut stream = device.stream();
        stream
            .copy(Place::Host(&host, 0), Place::Device(&buffer, 0), 1 << 20)
            .unwrap();
        let submission = stream.submit().unwrap();
        device.destroy();
        assert_eq!(
            host.read_async(0..4, <[u8]>::to_vec)
                .await
                .unwrap_err()
                .code(),
            "DEVICE_LOST"
        );
        assert_eq!(
            submission.wait_async().await.unwrap_err().code(),
            "DEVICE_LOST"
        );
    });
}
