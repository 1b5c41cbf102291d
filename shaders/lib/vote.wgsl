// Votes within the workgroup.
//
// Intrinsic: wgsl-ptx knows `vote` by its name and this text, and makes one warp vote of it, without workgroup memory. So
// only `vote` may name `sh_votes`, and only calls of `vote` may use its pointer.

// Number of yes votes so far; workgroup memory starts at zero.
var<workgroup> sh_votes: atomic<u32>;

// Returns true if any invocation of the workgroup votes yes. `votes` is the number of votes after the previous call, so
// that the counter needs no clearing between calls. Synchronises the workgroup.
fn vote(votes: ptr<function, u32>, yes: bool) -> bool {
    if yes {
        atomicAdd(&sh_votes, 1u);
    }
    let before = *votes;
    *votes = workgroupUniformLoad(&sh_votes);
    return *votes != before;
}
