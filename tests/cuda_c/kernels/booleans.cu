// bool is 0 or 1, whatever is assigned.
__global__ void booleans(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool set = x[i];
    bool odd = x[i] & 1;
    bool both = set && odd, either = set || odd, neither = !(set | odd);
    out[i] = both + 2 * either + 4 * neither + 8 * (set ^ odd) + 16 * !x[i] + 32 * (set == odd) + (x[i] > 3) * 64;
    if (x[i]) out[i] += 128;
}
