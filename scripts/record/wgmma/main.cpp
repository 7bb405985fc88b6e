// Runs every trial of trials/list.txt and writes the registers of d to OUT/NAME.bin, and a line per trial to OUT/log.txt.
#include <cuda.h>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>
static std::vector<char> read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
#define CHECK(call) do { CUresult r = (call); if (r != CUDA_SUCCESS) { const char *n; cuGetErrorName(r, &n); fprintf(log, "%s: %s: %s\n", name.c_str(), #call, n); failed = true; } } while (0)
int main(int argc, char **argv) {
  std::string in = argv[1], out = argv[2];
  FILE *log = fopen((out + "/log.txt").c_str(), "w");
  cuInit(0);
  CUdevice device; cuDeviceGet(&device, 0);
  CUcontext context; cuDevicePrimaryCtxRetain(&context, device); cuCtxSetCurrent(context);
  char gpu[256]; cuDeviceGetName(gpu, 256, device); fprintf(log, "%s\n", gpu);
  std::ifstream list(in + "/list.txt");
  std::string line;
  FILE *all = fopen((out + "/results.bin").c_str(), "wb");
  while (std::getline(list, line)) {
    std::istringstream words(line);
    std::string name, kind, image; size_t bytes; words >> name >> kind >> image >> bytes;
    bool failed = false;
    auto text = read(in + "/" + name + ".ptx"); text.push_back(0);
    CUmodule module; CHECK(cuModuleLoadData(&module, text.data()));
    std::vector<char> result(bytes, (char)0xee);
    if (!failed) {
      CUfunction f; CHECK(cuModuleGetFunction(&f, module, "k"));
      auto w = read(in + "/" + name + ".words.bin");
      CUdeviceptr pw, pd, pi = 0; cuMemAlloc(&pw, w.size()); cuMemcpyHtoD(pw, w.data(), w.size()); cuMemAlloc(&pd, bytes);
      if (kind == "wgmma") {
        auto before = read(in + "/" + name + ".before.bin"); cuMemcpyHtoD(pd, before.data(), bytes);
        auto img = read(in + "/" + image); cuMemAlloc(&pi, img.size()); cuMemcpyHtoD(pi, img.data(), img.size());
        CHECK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536 + 1024));
        void *args[] = {&pi, &pw, &pd};
        CHECK(cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 65536 + 1024, 0, args, 0));
      } else {
        void *args[] = {&pw, &pd};
        CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
      }
      CHECK(cuCtxSynchronize());
      CHECK(cuMemcpyDtoH(result.data(), pd, bytes));
      cuMemFree(pw); cuMemFree(pd); if (pi) cuMemFree(pi);
      cuModuleUnload(module);
    }
    fprintf(log, "%s %s at %ld of %zu\n", name.c_str(), failed ? "FAILED" : "ok", ftell(all), bytes);
    fwrite(result.data(), 1, bytes, all);
  }
  fclose(all); fclose(log);
  return 0;
}
