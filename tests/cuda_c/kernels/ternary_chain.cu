// Chains of ?:, also with side effects and as an operand.
__global__ void ternary_chain(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], calls = 0;
    int grade = v < 10 ? 1 : v < 20 ? 2 : v < 30 ? 3 : 4;
    int picked = v % 2 ? (calls += 1, v) : (calls += 10, -v);
    int element = v < n ? in[v] : -5;
    out[i] = grade + 10 * (picked > 0 ? picked : 3 - picked) + 10000 * calls + element * (v > 20 ? 1 : 0);
}
