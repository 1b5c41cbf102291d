// Override constants with their own values.
// grid: 1 1 1
// output: 128
override WIDTH: u32 = 32;
override SCALE: f32 = 2.5;
override FANCY: bool = true;
override TWICE: u32 = WIDTH * 2;

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> words: array<u32, TWICE>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) i: u32) {
    words[i + WIDTH] = input[i];
    workgroupBarrier();
    output[4 * i] = words[TWICE - 1 - i];
    output[4 * i + 1] = u32(SCALE * f32(i));
    if FANCY {
        output[4 * i + 2] = TWICE;
    } else {
        output[4 * i + 2] = 1u;
    }
    output[4 * i + 3] = i / WIDTH;
}
