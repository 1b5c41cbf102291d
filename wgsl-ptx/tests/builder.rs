//! Kernels built by hand: their text, and the errors of misuse.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "common/ptxas.rs"]
mod ptxas;

use wgsl_ptx::{
    Address, AtomicOperation, Comparison, Error, GroupProduct, MatrixProduct, Operand, Ordering,
    PairOperation, PtxKernel, PtxModule, PtxType, Register, Rounding, Shuffle, Space, Special,
    WarpReduction,
};

fn emit(kernel: PtxKernel) -> wgsl_ptx::Result<String> {
    let mut module = PtxModule::new(80);
    module.kernel(kernel);
    module.emit()
}

#[test]
fn a_module_says_version_and_target() {
    let head = |sm| PtxModule::new(sm).emit().unwrap();
    assert_eq!(head(75), ".version 7.0\n.target sm_75\n.address_size 64\n");
    assert_eq!(head(90), ".version 7.8\n.target sm_90\n.address_size 64\n");
    assert_eq!(
        PtxModule::new(88).sm(),
        87,
        "an unknown one is taken for the known one before it"
    );
    assert_eq!(PtxModule::new(30).sm(), 70);
}

#[test]
fn a_short_kernel_reads_as_written() {
    let mut kernel = PtxKernel::new("increment");
    kernel.workgroup_size([64, 1, 1]);
    let data = kernel.param(PtxType::U64, "data");
    let n = kernel.param(PtxType::U32, "n");
    let index = kernel.special(Special::Thread(0));
    let inside = kernel.compare(Comparison::Lt, index, n);
    kernel.if_then(inside, |kernel| {
        let element = kernel.indexed(&Address::new(Space::Global, data), index, 4);
        let value = kernel.load(PtxType::U32, Ordering::Weak, &element.plus(8));
        let sum = kernel.add(value, 1u32);
        kernel.store(PtxType::U32, Ordering::Weak, &element.plus(-4), sum);
    });
    kernel.ret();
    let expected = ".version 7.0
.target sm_80
.address_size 64

.visible .entry increment(
    .param .u64 data,
    .param .u32 n
)
.reqntid 64, 1, 1
{
    .reg .pred %p<1>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [data];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p0, %r1, %r0;
    mul.wide.u32 %rd1, %r1, 4;
    add.u64 %rd2, %rd0, %rd1;
    @%p0 ld.global.b32 %r2, [%rd2+8];
    add.u32 %r3, %r2, 1;
    @%p0 st.global.b32 [%rd2+-4], %r3;
    ret;
}
";
    assert_eq!(emit(kernel).unwrap(), expected);
}

/// Builds a kernel with one instruction of every kind.
fn everything() -> PtxKernel {
    let mut k = PtxKernel::new("everything");
    k.workgroup_size([64, 1, 1]);
    let data = k.param(PtxType::U64, "data");
    let block = Address::from(&k.param_bytes(32, "block"));
    let shared = Address::from(&k.shared("tile", 512, 16));
    let local = Address::from(&k.local("stack", 64, 8));
    let global = Address::new(Space::Global, k.to_global(data));
    let lane = k.special(Special::Lane);
    let total = k.copy(0u32);
    k.for_range(0u32, 4u32, 1u32, |k, i| {
        let sum = k.add(total, i);
        k.assign(total, sum);
    });
    let own = k.indexed(&shared, lane, 16);
    k.store_vector(
        PtxType::U32,
        &own,
        &[total.into(), Operand::from(1u32), lane.into(), total.into()],
    );
    k.barrier();
    let loaded = k.load_vector(PtxType::F32, 4, &own);
    let root = k.sqrt(loaded[0]);
    let fused = k.mad(root, loaded[1], 2.5f32);
    let whole = k.convert(PtxType::S32, Rounding::Zero, fused);
    let element = k.indexed(&block, lane, 4);
    let parameter = k.load(PtxType::U32, Ordering::Weak, &element);
    let high = k.mul_hi(parameter, total);
    let shifted = k.funnel_right(high, total, lane);
    let other = k.shuffle(Shuffle::Xor, shifted, 1u32, u32::MAX);
    let reduced = k.reduce_warp(WarpReduction::Max, other, u32::MAX);
    let is_large = k.compare(Comparison::Gt, reduced, 100u32);
    let ballot = k.ballot(is_large, u32::MAX);
    let count = k.popc(ballot);
    k.store(PtxType::U8, Ordering::Weak, &local.plus(3), count);
    k.if_else(
        is_large,
        |k| k.reduce(AtomicOperation::Max, &shared, reduced),
        |k| {
            let old = k.atomic(AtomicOperation::Add, &global, count);
            k.compare_exchange(&global.plus(4), old, 7u32);
        },
    );
    k.warp_barrier(u32::MAX);
    multiply_everything(&mut k, &shared);
    let chosen = k.select(is_large, whole, -5i32);
    k.store(PtxType::S32, Ordering::Relaxed, &global.plus(8), chosen);
    k.ret();
    k
}

/// Multiplies matrices of all types, and stores the sums.
fn multiply_everything(k: &mut PtxKernel, shared: &Address) {
    let lane = k.special(Special::Lane);
    let row = k.indexed(shared, lane, 16);
    let a = operands(&k.load_matrices(4, false, &row));
    let b = operands(&k.load_matrices(2, true, &row));
    let one = operands(&k.load_matrices(1, false, &row));
    let singles = [Operand::from(0.5f32); 4];
    let pairs = [Operand::from(0x3c00_3c00u32); 2];
    for (product, a, b, c) in [
        (MatrixProduct::HalfDepth8, &a[..2], &one[..], &singles[..]),
        (
            MatrixProduct::HalfDepth8ToHalf,
            &a[..2],
            &one[..],
            &pairs[..],
        ),
        (MatrixProduct::Half, &a[..], &b[..], &singles[..]),
        (MatrixProduct::HalfToHalf, &a[..], &b[..], &pairs[..]),
        (MatrixProduct::Bfloat16, &a[..], &b[..], &singles[..]),
        (MatrixProduct::Tf32, &a[..], &b[..], &singles[..]),
    ] {
        for sum in k.multiply_matrices(product, a, b, c) {
            k.store(sum.ty(), Ordering::Weak, shared, sum);
        }
    }
    let sum = k.on_pairs(PairOperation::Add, a[0], a[1]);
    let difference = k.on_pairs(PairOperation::Sub, sum, b[0]);
    let product = k.on_pairs(PairOperation::Mul, difference, pairs[0]);
    let [low, high] = k.unpack(PtxType::F16, product);
    let swapped = k.pack(high, low);
    k.store(PtxType::U32, Ordering::Weak, shared, swapped);
}

fn operands(registers: &[Register]) -> Vec<Operand> {
    registers.iter().copied().map(Operand::from).collect()
}

#[test]
fn one_of_everything_assembles() {
    let text = emit(everything()).unwrap();
    if let Some(ptxas) = ptxas::ptxas() {
        ptxas::assemble(&ptxas, "everything", &text).unwrap();
    }
}

/// Builds a kernel of one warpgroup with a product of each type.
fn group_products() -> PtxKernel {
    let mut k = PtxKernel::new("group_products");
    k.workgroup_size([128, 1, 1]);
    let shared = Address::from(&k.shared("factors", 32 << 10, 1024));
    let lines = k.shared_matrix(&shared, true, 1024, 8192);
    let columns = k.shared_matrix(&shared.plus(16 << 10), false, 1024, 8192);
    let sums: Vec<Register> = (0..32).map(|_| k.copy(0.0f32)).collect();
    k.fence_products();
    k.barrier();
    k.begin_products();
    k.multiply_shared(GroupProduct::Half, lines, columns, &sums, false);
    let next = k.matrix_plus(lines, 32);
    k.multiply_shared(GroupProduct::Bfloat16, next, columns, &sums, true);
    k.multiply_shared(GroupProduct::Tf32, next, lines, &sums, true);
    let words = [0x3c00_3c00u32, 1, 2, 3].map(Operand::from);
    let words = words.map(|word| k.copy(word).into());
    for product in [GroupProduct::Half, GroupProduct::Bfloat16] {
        k.multiply_registers(product, words, columns, &sums, true);
    }
    k.commit_products();
    k.await_products(0);
    let data = k.param(PtxType::U64, "data");
    let global = Address::new(Space::Global, data);
    for sum in sums {
        k.store(PtxType::F32, Ordering::Weak, &global, sum);
    }
    k.ret();
    k
}

#[test]
fn products_of_warpgroups_are_for_one_architecture() {
    let emit = |sm| {
        let mut module = PtxModule::new(sm);
        module.kernel(group_products());
        module.emit()
    };
    let text = emit(90).unwrap();
    assert!(text.starts_with(".version 8.0\n.target sm_90a\n"));
    for expected in [
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {",
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {",
        "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {",
        "1, 1, 1, 0, 1;",
        "1, 1, 1;",
    ] {
        assert!(text.contains(expected), "{expected}");
    }
    if let Some(ptxas) = ptxas::ptxas() {
        ptxas::assemble(&ptxas, "group_products", &text).unwrap();
    }
    for sm in [80, 89, 100] {
        let error = emit(sm).unwrap_err().to_string();
        assert!(error.contains("only sm_90 has them"), "{error}");
    }
}

#[track_caller]
fn misuse(build: impl FnOnce(&mut PtxKernel), expected: &str) {
    let mut kernel = PtxKernel::new("wrong");
    build(&mut kernel);
    let Err(Error::KernelCompile { kernel, message }) = emit(kernel) else {
        panic!("emitted");
    };
    assert_eq!(kernel, "wrong");
    assert!(message.contains(expected), "{message}");
}

#[test]
fn misuse_is_reported_at_the_end_and_never_panics() {
    misuse(
        |k| {
            k.add(1u32, 2.0f32);
        },
        "add of u32 and f32",
    );
    misuse(
        |k| {
            k.and(1.0f32, 2.0f32);
        },
        "and takes no f32",
    );
    misuse(
        |k| {
            k.select(1u32, 2u32, 3u32);
        },
        "select takes no u32",
    );
    misuse(
        |k| {
            k.param(PtxType::U32, "two words");
        },
        "two words",
    );
    misuse(
        |k| {
            k.shared("tile", 4, 3);
        },
        "3 is no power of two",
    );
    let zero = Operand::from(0u32);
    misuse(
        |k| {
            k.multiply_matrices(MatrixProduct::Half, &[zero; 2], &[zero; 2], &[zero; 4]);
        },
        "Half of 2 and 2 and 4 registers",
    );
    misuse(
        |k| {
            let data = k.param(PtxType::U64, "data");
            k.load_matrices(4, false, &Address::new(Space::Global, data));
        },
        "other than shared memory",
    );
    misuse(
        |k| {
            k.pack(1u32, 2u32);
        },
        "pack takes no u32",
    );
    misuse(
        |k| {
            let data = k.param(PtxType::U64, "data");
            k.shared_matrix(&Address::new(Space::Global, data), true, 1024, 0);
        },
        "outside of shared memory",
    );
    misuse(
        |k| {
            let tile = Address::from(&k.shared("tile", 1024, 1024));
            k.shared_matrix(&tile, true, 1000, 0);
        },
        "a distance of 1000 bytes",
    );
    misuse(
        |k| {
            let tile = Address::from(&k.shared("tile", 1024, 1024));
            let matrix = k.shared_matrix(&tile, false, 1024, 1024);
            let sums = [k.copy(0.0f32); 4];
            k.multiply_shared(GroupProduct::Tf32, matrix, matrix, &sums, true);
        },
        "not along the terms",
    );
    misuse(
        |k| {
            let tile = Address::from(&k.shared("tile", 1024, 1024));
            let matrix = k.shared_matrix(&tile, true, 1024, 0);
            k.multiply_shared(GroupProduct::Half, matrix, matrix, &[], true);
        },
        "0 columns",
    );
    misuse(
        |k| {
            let tile = Address::from(&k.shared("tile", 1024, 1024));
            let matrix = k.shared_matrix(&tile, true, 1024, 0);
            let sums = [k.copy(0.0f32); 4];
            let words = [k.copy(0u32).into(); 4];
            k.multiply_registers(GroupProduct::Tf32, words, matrix, &sums, true);
        },
        "TF32 in registers",
    );
    let foreign = PtxKernel::new("other").label();
    misuse(|k| k.branch(foreign), "another kernel");
    misuse(
        |k| {
            k.add(1u32, 2u64);
            k.add(1u32, 2.0f32);
        },
        "add of u32 and u64",
    );
}
