// The vote of shaders/lib, which PTX replaces, beside the same body under a name that it does not know.
// grid: 2 1 1
// output: 256
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> sh_votes: atomic<u32>;
var<workgroup> sh_votes_in_words: atomic<u32>;

fn vote(votes: ptr<function, u32>, yes: bool) -> bool {
    if yes {
        atomicAdd(&sh_votes, 1u);
    }
    let before = *votes;
    *votes = workgroupUniformLoad(&sh_votes);
    return *votes != before;
}

fn vote_in_words(votes: ptr<function, u32>, yes: bool) -> bool {
    if yes {
        atomicAdd(&sh_votes_in_words, 1u);
    }
    let before = *votes;
    *votes = workgroupUniformLoad(&sh_votes_in_words);
    return *votes != before;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let at = 4 * (32 * group.x + i);
    var votes = 0u;
    var votes_in_words = 0u;
    for (var k = 0u; k < 4; k++) {
        let yes = (k & 1) == group.x && i == (input[k] & 31);
        let is_any = vote(&votes, yes);
        let is_any_in_words = vote_in_words(&votes_in_words, yes);
        output[at + k] = select(0u, 1u, is_any) | select(0u, 2u, is_any_in_words);
    }
}
