// Structs as values: nested, initialised by braces, passed to functions and returned.
struct Point { int x, y; };
struct Box { Point low; Point high; int weights[2]; };

__device__ Point plus(Point a, const Point &b)
{
    Point r;
    r.x = a.x + b.x;
    r.y = a.y + b.y;
    return r;
}

__device__ void grow(Box *box, int by)
{
    box->low.x -= by;
    box->high = plus(box->high, Point{by, by});
}

__global__ void struct_local(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Box box = {{in[i], 1}, {in[i] + 10, 20}, {3}};
    Box copy = box;
    grow(&copy, 4);
    Point corners[2] = {copy.low, copy.high};
    corners[i & 1].y *= 5;
    box.weights[i & 1] += 2;
    out[i] = corners[0].x + 10 * corners[0].y + 100 * corners[1].x + 1000 * corners[1].y + box.low.x
             + 7 * box.weights[0] + 11 * box.weights[1];
}
