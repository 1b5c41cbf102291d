// Places at which a pattern occurs in a text, and their number.
__constant__ char pattern[] = "abca";

__global__ void string_search(const char *text, int length, int *matches, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) return;
    const int size = sizeof(pattern) - 1;
    bool found = i + size <= length;
    for (int k = 0; found && k < size; k++)
        if (text[i + k] != pattern[k]) found = false;
    matches[i] = found ? 1 : 0;
    if (found) atomicAdd(count, 1);
}
