template <typename T, int N>
struct Stack {
    T items[N];
    int used;
    __device__ Stack() : used(0) {}
    __device__ bool push(T item) { if (full()) return false; items[used++] = item; return true; }
    __device__ T pop() { return this->items[--used]; }
    __device__ bool full() const { return used == N; }
};

struct Complex {
    float re, im;
    __device__ Complex(float r, float i) : re(r), im{i} {}
    __device__ Complex operator*(const Complex &o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
    __device__ Complex &operator+=(const Complex &o) { re += o.re; im += o.im; return *this; }
    __device__ float norm() const { return re * re + im * im; }
};

struct Add { __device__ int operator()(int a, int b) const { return a + b; } };

template <typename Operation>
__device__ int fold(const int *values, int n, Operation operation)
{
    int result = 0;
    for (int i = 0; i < n; i++) result = operation(result, values[i]);
    return result;
}

__global__ void methods(const int *in, float *out, int n)
{
    struct { int low, high; } range = {0, 4};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Stack<int, 8> stack;
    for (int k = range.low; k < range.high; k++) stack.push(in[4 * i + k]);
    Complex z(stack.pop(), stack.pop());
    Complex w = z * Complex(1.0f, -1.0f);
    w += z;
    out[i] = w.norm() + fold(in + 4 * i, 4, Add());
}
