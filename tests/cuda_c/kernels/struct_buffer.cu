// A buffer of structs: members, copies, pointers to elements.
struct Particle {
    float x, y;
    int id;
    float history[2];
};

__device__ void step(Particle *p, float dt)
{
    p->history[1] = p->history[0];
    p->history[0] = p->x;
    p->x += dt * p->y;
}

__global__ void struct_buffer(struct Particle *particles, const Particle *sources, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = sources[i];
    p.id = p.id * 2 + 1;
    particles[i] = p;
    step(&particles[i], dt);
    Particle *same = particles + i;
    (*same).y = -same->y;
}
