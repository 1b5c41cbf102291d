__device__ __half __float2half(float a) { return __half(a); }
__device__ __half __float2half_rn(float a) { return __half(a); }
__device__ __half __double2half(float a) { return __half(a); }
__device__ float __half2float(__half a) { return float(a); }
__device__ __half __int2half_rn(int a) { return __half(a); }
__device__ __half __uint2half_rn(unsigned a) { return __half(a); }
__device__ __half __short2half_rn(short a) { return __half(int(a)); }
__device__ __half __ushort2half_rn(unsigned short a) { return __half(unsigned(a)); }
__device__ int __half2int_rn(__half a) { return __float2int_rn(float(a)); }
__device__ int __half2int_rz(__half a) { return __float2int_rz(float(a)); }
__device__ int __half2int_rd(__half a) { return __float2int_rd(float(a)); }
__device__ int __half2int_ru(__half a) { return __float2int_ru(float(a)); }
__device__ unsigned __half2uint_rn(__half a) { return __float2uint_rn(float(a)); }
__device__ unsigned __half2uint_rz(__half a) { return __float2uint_rz(float(a)); }

__device__ __half __hadd(__half a, __half b) { return a + b; }
__device__ int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
__device__ __half __hsub(__half a, __half b) { return a - b; }
__device__ __half __hmul(__half a, __half b) { return a * b; }
__device__ __half __hdiv(__half a, __half b) { return a / b; }
__device__ __half __hadd_rn(__half a, __half b) { return a + b; }
__device__ __half __hsub_rn(__half a, __half b) { return a - b; }
__device__ __half __hmul_rn(__half a, __half b) { return a * b; }
__device__ __half __hfma(__half a, __half b, __half c) { return __float2half(fmaf(float(a), float(b), float(c))); }
__device__ __half __hneg(__half a) { return -a; }
__device__ __half __habs(__half a) { return __float2half(fabsf(float(a))); }
__device__ __half __hmax(__half a, __half b) { return __float2half(fmaxf(float(a), float(b))); }
__device__ __half __hmin(__half a, __half b) { return __float2half(fminf(float(a), float(b))); }
__device__ __half __hmax_nan(__half a, __half b) { return a != a ? a : b != b ? b : __hmax(a, b); }
__device__ __half __hmin_nan(__half a, __half b) { return a != a ? a : b != b ? b : __hmin(a, b); }
__device__ bool __heq(__half a, __half b) { return a == b; }
__device__ bool __hne(__half a, __half b) { return a != b; }
__device__ bool __hlt(__half a, __half b) { return a < b; }
__device__ bool __hle(__half a, __half b) { return a <= b; }
__device__ bool __hgt(__half a, __half b) { return a > b; }
__device__ bool __hge(__half a, __half b) { return a >= b; }
__device__ bool __hisnan(__half a) { return isnan(float(a)); }
__device__ int __hisinf(__half a) { return isinf(float(a)); }

__device__ __half hsqrt(__half a) { return __float2half(sqrtf(float(a))); }
__device__ __half hrsqrt(__half a) { return __float2half(rsqrtf(float(a))); }
__device__ __half hrcp(__half a) { return __float2half(1.0f / float(a)); }
__device__ __half hexp(__half a) { return __float2half(expf(float(a))); }
__device__ __half hexp2(__half a) { return __float2half(exp2f(float(a))); }
__device__ __half hexp10(__half a) { return __float2half(exp10f(float(a))); }
__device__ __half hlog(__half a) { return __float2half(logf(float(a))); }
__device__ __half hlog2(__half a) { return __float2half(log2f(float(a))); }
__device__ __half hlog10(__half a) { return __float2half(log10f(float(a))); }
__device__ __half hsin(__half a) { return __float2half(sinf(float(a))); }
__device__ __half hcos(__half a) { return __float2half(cosf(float(a))); }
__device__ __half htanh(__half a) { return __float2half(tanhf(float(a))); }
__device__ __half hfloor(__half a) { return __float2half(floorf(float(a))); }
__device__ __half hceil(__half a) { return __float2half(ceilf(float(a))); }
__device__ __half htrunc(__half a) { return __float2half(truncf(float(a))); }
__device__ __half hrint(__half a) { return __float2half(rintf(float(a))); }

__device__ __half2 __halves2half2(__half a, __half b) { return make_half2(a, b); }
__device__ __half2 __half2half2(__half a) { return make_half2(a, a); }
__device__ __half2 __float2half2_rn(float a) { return make_half2(__half(a), __half(a)); }
__device__ __half2 __floats2half2_rn(float a, float b) { return make_half2(__half(a), __half(b)); }
__device__ __half2 __float22half2_rn(float2 a) { return make_half2(__half(a.x), __half(a.y)); }
__device__ float2 __half22float2(__half2 a) { return make_float2(float(a.x), float(a.y)); }
__device__ float __low2float(__half2 a) { return float(a.x); }
__device__ float __high2float(__half2 a) { return float(a.y); }
__device__ __half __low2half(__half2 a) { return a.x; }
__device__ __half __high2half(__half2 a) { return a.y; }
__device__ __half2 __low2half2(__half2 a) { return make_half2(a.x, a.x); }
__device__ __half2 __high2half2(__half2 a) { return make_half2(a.y, a.y); }
__device__ __half2 __lowhigh2highlow(__half2 a) { return make_half2(a.y, a.x); }
__device__ __half2 __lows2half2(__half2 a, __half2 b) { return make_half2(a.x, b.x); }
__device__ __half2 __highs2half2(__half2 a, __half2 b) { return make_half2(a.y, b.y); }
__device__ __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
__device__ __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
__device__ __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
__device__ __half2 __h2div(__half2 a, __half2 b) { return a / b; }
__device__ __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return make_half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
__device__ __half2 __hneg2(__half2 a) { return make_half2(-a.x, -a.y); }
__device__ __half2 __habs2(__half2 a) { return make_half2(__habs(a.x), __habs(a.y)); }
__device__ __half2 __hmax2(__half2 a, __half2 b) { return make_half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
__device__ __half2 __hmin2(__half2 a, __half2 b) { return make_half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
__device__ __half2 h2sqrt(__half2 a) { return make_half2(hsqrt(a.x), hsqrt(a.y)); }
__device__ __half2 h2rsqrt(__half2 a) { return make_half2(hrsqrt(a.x), hrsqrt(a.y)); }
__device__ __half2 h2exp(__half2 a) { return make_half2(hexp(a.x), hexp(a.y)); }
__device__ __half2 h2log(__half2 a) { return make_half2(hlog(a.x), hlog(a.y)); }
