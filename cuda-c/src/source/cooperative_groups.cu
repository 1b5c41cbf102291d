struct thread_block {
    __device__ void sync() const { __syncthreads(); }
    __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ unsigned num_threads() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ unsigned thread_rank() const {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ dim3 group_index() const { return blockIdx; }
    __device__ dim3 thread_index() const { return threadIdx; }
    __device__ dim3 group_dim() const { return blockDim; }
    __device__ dim3 dim_threads() const { return blockDim; }
};

struct grid_group {
    __device__ void sync() const { __cuda_c_grid_sync(); }
    __device__ bool is_valid() const { return false; }
    __device__ unsigned size() const {
        return gridDim.x * gridDim.y * gridDim.z * (blockDim.x * blockDim.y * blockDim.z);
    }
    __device__ unsigned num_threads() const {
        return gridDim.x * gridDim.y * gridDim.z * (blockDim.x * blockDim.y * blockDim.z);
    }
    __device__ unsigned num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
    __device__ unsigned block_rank() const {
        return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ unsigned thread_rank() const {
        return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x)
                * (blockDim.x * blockDim.y * blockDim.z)
            + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ dim3 group_dim() const { return gridDim; }
    __device__ dim3 dim_blocks() const { return gridDim; }
    __device__ dim3 block_index() const { return blockIdx; }
};

template<unsigned N, typename Parent = void>
struct thread_block_tile {
    unsigned parent_size;
    __device__ void sync() const { __syncwarp(); }
    __device__ unsigned size() const { return N; }
    __device__ unsigned num_threads() const { return N; }
    __device__ unsigned thread_rank() const {
        return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % N;
    }
    __device__ unsigned meta_group_rank() const {
        return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % parent_size / N;
    }
    __device__ unsigned meta_group_size() const { return (parent_size + N - 1) / N; }
    __device__ int shfl(int value, int lane) const { return __shfl_sync(~0u, value, lane, N); }
    __device__ unsigned shfl(unsigned value, int lane) const { return __shfl_sync(~0u, value, lane, N); }
    __device__ float shfl(float value, int lane) const { return __shfl_sync(~0u, value, lane, N); }
    __device__ int shfl_up(int value, unsigned by) const { return __shfl_up_sync(~0u, value, by, N); }
    __device__ unsigned shfl_up(unsigned value, unsigned by) const { return __shfl_up_sync(~0u, value, by, N); }
    __device__ float shfl_up(float value, unsigned by) const { return __shfl_up_sync(~0u, value, by, N); }
    __device__ int shfl_down(int value, unsigned by) const { return __shfl_down_sync(~0u, value, by, N); }
    __device__ unsigned shfl_down(unsigned value, unsigned by) const { return __shfl_down_sync(~0u, value, by, N); }
    __device__ float shfl_down(float value, unsigned by) const { return __shfl_down_sync(~0u, value, by, N); }
    __device__ int shfl_xor(int value, unsigned mask) const { return __shfl_xor_sync(~0u, value, mask, N); }
    __device__ unsigned shfl_xor(unsigned value, unsigned mask) const { return __shfl_xor_sync(~0u, value, mask, N); }
    __device__ float shfl_xor(float value, unsigned mask) const { return __shfl_xor_sync(~0u, value, mask, N); }
    __device__ unsigned ballot(int test) const {
        unsigned lane = ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32u;
        unsigned bits = __ballot_sync(~0u, test) >> (lane - lane % N);
        return N < 32u ? bits & ((1u << (N % 32u)) - 1u) : bits;
    }
    __device__ int any(int test) const { return ballot(test) != 0u; }
    __device__ int all(int test) const { return ballot(!test) == 0u; }
};

__device__ thread_block this_thread_block() {
    thread_block group;
    return group;
}

__device__ grid_group this_grid() {
    grid_group group;
    return group;
}

template<unsigned N, typename G>
__device__ thread_block_tile<N> tiled_partition(const G &parent) {
    thread_block_tile<N> tile;
    tile.parent_size = parent.size();
    return tile;
}

template<typename G>
__device__ void sync(const G &group) {
    group.sync();
}
