// Literals of every base and suffix, sizeof, enumerations.
enum Color { RED, GREEN = 5, BLUE };
enum class Mode : int { Off = -1, On = 1 };

__global__ void literals(int *out, float *reals)
{
    if (threadIdx.x != 0) return;
    int k = 0;
    out[k++] = 0x7F;
    out[k++] = 017;
    out[k++] = 0b1011;
    out[k++] = 'A';
    out[k++] = '\n';
    out[k++] = 4000000000u;
    out[k++] = 1'000'000;
    out[k++] = sizeof(int) + sizeof(float4) + sizeof(char);
    out[k++] = RED + GREEN * 10 + BLUE * 100;
    out[k++] = (int)Mode::Off + static_cast<int>(Mode::On) * 4;
    out[k++] = true + 2 * false;
    out[k++] = -2147483647 - 1;
    reals[0] = 1e3f;
    reals[1] = .5f;
    reals[2] = 2.f;
    reals[3] = 1.25e-2f;
    reals[4] = 0x1.8p1f;
    reals[5] = 3;
}
