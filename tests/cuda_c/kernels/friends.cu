// Friends of a class template, and explicit constructors.
#define BOTH __host__ __device__

template <class T>
class Complex {
  private:
    T re, im;

  public:
    BOTH explicit Complex(const T &r, const T &i) { re = r; im = i; }
    BOTH Complex(const Complex &other) { re = other.re; im = other.im; }
    BOTH friend inline Complex<T> operator*(const Complex<T> &a, const Complex<T> &b)
    {
        Complex<T> product(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
        return product;
    }
    BOTH friend inline Complex<T> operator*(const T &s, const Complex<T> &a)
    {
        Complex<T> product(s * a.re, s * a.im);
        return product;
    }
    friend __device__ T norm(const Complex<T> &a) { return a.re * a.re + a.im * a.im; }
    friend void print(const Complex<T> &a) { printf("%f %f\n", a.re, a.im); }
};

__global__ void friends(const int *in, int *out)
{
    int i = threadIdx.x;
    Complex<int> a(in[2 * i], in[2 * i + 1]), b(i, -3);
    out[i] = norm(2 * (a * b));
}
