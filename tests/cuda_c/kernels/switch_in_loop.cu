// break leaves the switch, continue the iteration of the loop around it.
__global__ void switch_in_loop(const unsigned *programs, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned code = programs[i];
    int accumulator = 0, steps = 0;
    while (true) {
        if (steps == 8) break;
        unsigned op = code & 15u;
        code >>= 4;
        steps++;
        switch (op) {
            case 0: continue;
            case 1: accumulator++; break;
            case 2: accumulator--; break;
            case 3: accumulator *= 2; break;
            case 4: accumulator = -accumulator; continue;
            case 5:
                for (int k = 0; k < 3; ++k) {
                    if (k == 1) continue;
                    accumulator += k;
                }
                break;
            default:
                if (op > 12) { steps += 2; break; }
                accumulator += op;
        }
        accumulator += 100;
    }
    out[i] = accumulator;
}
