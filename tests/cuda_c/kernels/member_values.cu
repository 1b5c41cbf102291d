struct Settings {
    int first = 3;
    float scale = 0.5f;
    int table[2] = {7, 9};
    static constexpr int limit = 40;
    static const int step = limit / 8;
    __device__ int clipped(int value) const { return value < limit ? value : limit; }
};

class Counter {
    int count = 5;
    const int by = Settings::step;

public:
    __device__ Counter(int start) { count += start; }
    __device__ int next() { return count += by; }
};

__global__ void member_values(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    Settings all;
    Settings some{i};
    Counter counter(i);
    counter.next();
    out[4 * i] = all.first + all.table[i % 2];
    out[4 * i + 1] = all.clipped(some.first) + some.table[1];
    out[4 * i + 2] = counter.next();
    out[4 * i + 3] = (int)(some.scale * i) + Settings::limit;
}
