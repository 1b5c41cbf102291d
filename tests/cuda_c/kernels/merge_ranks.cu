// Merges two sorted lists: each thread finds its element's place by binary search.
__device__ int lower_bound(const int *list, int n, int key)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (list[mid] < key) lo = mid + 1; else hi = mid;
    }
    return lo;
}

__device__ int upper_bound(const int *list, int n, int key)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (!(key < list[mid])) lo = mid + 1; else hi = mid;
    }
    return lo;
}

__global__ void merge_ranks(const int *a, int n_a, const int *b, int n_b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n_a) out[i + lower_bound(b, n_b, a[i])] = a[i];
    else if (i < n_a + n_b) out[i - n_a + upper_bound(a, n_a, b[i - n_a])] = b[i - n_a];
}
