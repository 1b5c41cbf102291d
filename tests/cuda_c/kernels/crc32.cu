// CRC-32 of records of bytes, by a table in shared memory that the block fills.
__global__ void crc32(const unsigned char *records, int record_bytes, unsigned int *out, int n)
{
    __shared__ unsigned int table[256];
    for (unsigned int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned int c = i;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    const unsigned char *p = records + r * record_bytes;
    unsigned int crc = 0xFFFFFFFF;
    for (int k = record_bytes; k > 0; --k) crc = table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
    out[r] = ~crc;
}
