// Constants of the headers.
#include <cfloat>
#include <climits>
#include <math.h>

__global__ void limits(int *out, float *reals)
{
    if (threadIdx.x > 0) return;
    out[0] = INT_MAX;
    out[1] = INT_MIN;
    out[2] = UINT_MAX;
    out[3] = CHAR_BIT;
    out[4] = SHRT_MAX + UCHAR_MAX;
    reals[0] = FLT_MAX;
    reals[1] = -FLT_MAX;
    reals[2] = FLT_MIN;
    reals[3] = FLT_EPSILON;
    reals[4] = (float)M_PI;
    reals[5] = INFINITY;
}
