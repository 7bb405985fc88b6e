// Prints the names and texts of CUDA’s errors, of which fixtures/cuda/errors.json is made: nvcc -o errors errors.cu && ./errors
#include <cuda_runtime.h>
#include <cstdio>
int main(){ for(int i=0;i<1000;i++){ const char*n=cudaGetErrorName((cudaError_t)i); if(n&&n[0]=='c') printf("%d\t%s\t%s\n",i,n,cudaGetErrorString((cudaError_t)i)); } printf("12345\t%s\t%s\n",cudaGetErrorName((cudaError_t)12345),cudaGetErrorString((cudaError_t)12345)); }
