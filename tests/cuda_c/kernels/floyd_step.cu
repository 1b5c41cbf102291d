// One step of the shortest paths between all pairs.
__global__ void floyd_step(int *distance, int *via, const int n, const int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n || i == k || j == k) return;
    int through = distance[i * n + k] + distance[k * n + j];
    if (through < distance[i * n + j]) {
        distance[i * n + j] = through;
        via[i * n + j] = k;
    }
}
