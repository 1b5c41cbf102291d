// Index of the nearest centroid for each point. Coordinates of points are stored one dimension after the other.
__global__ void kmeans_assign(const float *points, const float *centroids, int *nearest, int n, int k, int dimensions)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    int best = 0;
    float least = INFINITY;
    const float *centroid = centroids;
    for (int c = 0; c < k; c++, centroid += dimensions) {
        float squared = 0.0f;
        for (int d = 0; d < dimensions; d++) {
            float by = points[d * n + p] - centroid[d];
            squared += by * by;
        }
        if (squared >= least) continue;
        least = squared;
        best = c;
    }
    nearest[p] = best;
}
