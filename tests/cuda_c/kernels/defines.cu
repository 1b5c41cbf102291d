// Constants that the caller defines.
__global__ void defines(int *out)
{
#if TILE > 4
    out[threadIdx.x] = TILE * threadIdx.x + OFFSET;
#else
    out[threadIdx.x] = -1;
#endif
}
