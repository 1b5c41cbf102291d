// Prices of European options. The normal distribution is formula 26.2.17 of Abramowitz and Stegun.
__device__ inline float normal(float d)
{
    const float c[5] = {0.31938153f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d)), polynomial = 0.0f;
    for (int i = 4; i >= 0; --i) polynomial = k * (c[i] + polynomial);
    float tail = 0.3989422804014327f * __expf(-0.5f * d * d) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

__device__ void value(float spot, float strike, float years, float rate, float sigma, float &call, float &put)
{
    float deviation = sigma * sqrtf(years);
    float upper = (logf(spot / strike) + (rate + sigma * sigma / 2) * years) / deviation;
    float today = strike * expf(-rate * years);
    float up = normal(upper), low = normal(upper - deviation);
    call = spot * up - today * low;
    put = today * (1.0f - low) - spot * (1.0f - up);
}

__global__ void black_scholes(float *calls, float *puts, const float *spots, const float *strikes, const float *years, float rate, float sigma, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) value(spots[i], strikes[i], years[i], rate, sigma, calls[i], puts[i]);
}
