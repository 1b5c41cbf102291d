// A shared array of structs.
struct Entry { float key; int index; };

__global__ void shared_struct(const float *in, int *out, int n)
{
    __shared__ Entry entries[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    entries[t].key = i < n ? in[i] : 1e30f;
    entries[t].index = i;
    __syncthreads();
    int rank = 0;
    Entry own = entries[t];
    for (int k = 0; k < 64; k++) {
        const Entry &other = entries[k];
        if (other.key < own.key || (other.key == own.key && other.index < own.index)) rank++;
    }
    if (i < n) out[blockIdx.x * 64 + rank] = own.index;
}
