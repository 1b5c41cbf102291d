#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ int sum_of_block(cg::thread_block block, int *scratch, int value) {
    int rank = block.thread_rank();
    for (int step = block.size() / 2; step > 0; step /= 2) {
        scratch[rank] = value;
        cg::sync(block);
        if (rank < step) {
            value += scratch[rank + step];
        }
        block.sync();
    }
    return value;
}

__global__ void groups(const int *input, int *blocks, int *tiles, unsigned *votes) {
    namespace cg = cooperative_groups;
    __shared__ int scratch[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto part = cg::tiled_partition<8>(warp);
    int i = blockIdx.x * block.num_threads() + block.thread_rank();
    int value = input[i];
    int total = sum_of_block(block, scratch, value);
    if (block.thread_rank() == 0) {
        blocks[block.group_index().x] = total;
    }
    int tile = cg::reduce(part, value, cg::plus<int>());
    int largest = cg::reduce(warp, value, cg::greater<int>());
    int next = part.shfl_down(value, 1);
    tiles[i] = tile * 1000 + largest + next;
    unsigned odd = part.ballot(value % 2);
    int any = warp.any(value == 7);
    int all = part.all(value < 90);
    votes[i] = odd + 256 * any + 512 * all + 1024 * part.meta_group_rank() + 8192 * warp.meta_group_rank();
}
