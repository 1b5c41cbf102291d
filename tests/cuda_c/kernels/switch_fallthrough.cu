// Cases that fall through, share a body, return, and a default in the middle.
__global__ void switch_fallthrough(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = 0;
    switch (in[i]) {
        case 0:
            r += 1;
        case 1:
            r += 10;
            break;
        case 2:
        case 3:
            r += 100;
            if (i & 1) break;
            r += 1000;
            // falls through
        default:
            r += 10000;
        case 5: {
            int twice = r * 2;
            r = twice + 1;
            break;
        }
        case -7:
            out[i] = -1;
            return;
    }
    out[i] = r;
}
