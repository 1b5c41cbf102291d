// Loops with unrolling hints, empty parts, empty bodies and several counters.
__global__ void loop_forms(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0, k = 0;
#pragma unroll 4
    for (int j = 0; j < 8; ++j) sum += in[(i + j) % n];
    for (; k < 5;) k += 2;
    for (int j = 10; j--;) sum -= j;
    for (int a = 0, b = 9; a != b; ++a) { --b; if (a == b) break; sum += a * b; }
    while (k-- > 0);
    ;
    for (unsigned u = 3; u > 0; u--) { {} sum ^= u; }
    out[i] = sum + k;
}
