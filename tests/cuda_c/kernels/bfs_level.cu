// One level of a breadth-first search over lists of neighbours.
struct Vertex { int first, degree; };

__global__ void bfs_level(const Vertex *vertices, const int *neighbours, int *active, int *reached, int *seen, int *depth, int *idle, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || !active[v]) return;
    active[v] = false;
    const Vertex own = vertices[v];
    const int *list = neighbours + own.first;
    for (int e = 0; e < own.degree; ++e) {
        const int other = list[e];
        if (seen[other]) continue;
        depth[other] = depth[v] + 1;
        reached[other] = true;
        *idle = 0;
    }
}
