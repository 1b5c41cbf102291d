// The right side of && and || is evaluated only if needed.
__device__ bool bump(int *counter, bool result)
{
    *counter += 1;
    return result;
}

__global__ void short_circuit(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int calls = 0, v = in[i];
    bool a = v > 10 && bump(&calls, true);
    bool b = v > 10 || bump(&calls, false);
    bool c = (v & 1) && bump(&calls, v & 2) && bump(&calls, true) || bump(&calls, v & 4);
    int hits = 0;
    if (v != 0 && 100 / v > 9 && ++hits) hits += 2;
    while (hits < 7 && bump(&calls, hits != 5)) hits++;
    out[i] = a + 2 * b + 4 * c + 8 * calls + 1000 * hits;
}
