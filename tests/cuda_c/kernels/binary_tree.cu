// Walks of a tree that is stored as an array of nodes.
struct TreeNode
{
    int key;
    int left, right;
    float value;
};

__global__ void binary_tree(const TreeNode *__restrict__ nodes, const int *queries, float *answers, int *depths, int n)
{
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < n; q += gridDim.x * blockDim.x) {
        int at = 0, depth = 0;
        answers[q] = -1.0f;
        while (at >= 0) {
            const TreeNode node = nodes[at];
            if (node.key == queries[q]) {
                answers[q] = node.value;
                break;
            }
            at = queries[q] < node.key ? node.left : node.right;
            depth++;
        }
        depths[q] = depth;
    }
}
