// Fields of an array of structures, one at a time.
#include <cstdio>
#include <cstdlib>

typedef struct {
    double px, py, pz;
    double charge;
    double weight;
} Body;

__global__ void kick(Body *bodies, double *energy, double field, int count)
{
    int id = threadIdx.x + blockDim.x * blockIdx.x;
    if (id >= count)
        return;
    bodies[id].px += field * bodies[id].charge;
    bodies[id].py += field * bodies[id].charge * 0.5;
    bodies[id].pz *= 0.99;
    energy[id] = bodies[id].weight * (bodies[id].px * bodies[id].px + bodies[id].py * bodies[id].py
                 + bodies[id].pz * bodies[id].pz);
}

int main()
{
    int count = 500000;
    Body *h = (Body *)malloc(count * sizeof(Body)), *d;
    double *e, *he = (double *)malloc(count * sizeof(double));
    for (int i = 0; i < count; i++) {
        h[i].px = i % 5; h[i].py = i % 4; h[i].pz = i % 3; h[i].charge = 1 + i % 2; h[i].weight = 0.5;
    }
    cudaMalloc((void **)&d, count * sizeof(Body));
    cudaMalloc((void **)&e, count * sizeof(double));
    cudaMemcpy(d, h, count * sizeof(Body), cudaMemcpyHostToDevice);
    kick<<<(count + 127) / 128, 128>>>(d, e, 0.25, count);
    cudaMemcpy(he, e, count * sizeof(double), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += he[i];
    printf("%.1f\n", sum);
    return 0;
}
