// Edit distances of many words to one, a row of the table in local memory for each thread.
#define MAX_LENGTH 16
__global__ void levenshtein(const char *words, const int *lengths, const char *target, int target_length, int *distances, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const char *word = words + i * MAX_LENGTH;
    int row[MAX_LENGTH + 1];
    for (int c = 0; c <= target_length; c++) row[c] = c;
    for (int r = 1; r <= lengths[i]; r++) {
        int diagonal = row[0];
        row[0] = r;
        for (int c = 1; c <= target_length; c++) {
            int cost = word[r - 1] == target[c - 1] ? 0 : 1;
            int best = min(min(row[c] + 1, row[c - 1] + 1), diagonal + cost);
            diagonal = row[c];
            row[c] = best;
        }
    }
    distances[i] = row[target_length];
}
