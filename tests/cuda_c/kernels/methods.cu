// Structs with member functions, constructors and call operators.
struct Complex {
    float re, im;
    __device__ Complex(float r, float i) : re(r), im(i) {}
    __device__ float norm() const { return re * re + im * im; }
    __device__ Complex operator*(const Complex &o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
    __device__ void conjugate() { im = -im; }
    __device__ void add(const Complex &o) { re += o.re; im += o.im; }
};

struct Largest {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

struct Sum {
    __device__ int operator()(int a, int b) const { return a + b; }
};

template <typename Operation>
__device__ int fold(const int *values, int count, int start, Operation operation)
{
    int result = start;
    for (int k = 0; k < count; k++) result = operation(result, values[k]);
    return result;
}

__global__ void methods(const int *in, int *out, float *norms, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    Complex z(in[4 * i], in[4 * i + 1]), w(in[4 * i + 2], in[4 * i + 3]);
    Complex product = z * w;
    product.conjugate();
    product.add({1.0f, z.re});
    norms[2 * i] = product.norm();
    norms[2 * i + 1] = product.im;
    out[i] = fold(in + 4 * i, 4, -1000, Largest()) * 1000 + fold(in + 4 * i, 4, 0, Sum());
}
