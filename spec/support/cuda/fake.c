/*
 * A CUDA driver that runs nothing: it keeps memory, reads of PTX what is declared, writes down what it is asked for, and minds the
 * order of calls. What a launch comes to is what the spec says beforehand.
 *
 * Source: NVIDIA, CUDA Driver API: prototypes, results, and what a context that has failed answers.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_PTX = 218,
       INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, ASSERT = 710, LAUNCH_FAILED = 719 };

/* What the spec sets. */
static struct {
  int devices, initResult, launchResult, runResult, hangs, attributeResult, maxThreads, stays, queryResult, failsAt, hasMarks;
  long long memory;
  char refusal[512], remark[512], out[512], err[512];
} plan = {.devices = 1, .maxThreads = 1024, .hasMarks = 1, .memory = 1 << 20};

static char record[1 << 16], violations[1 << 12];
static size_t recorded, violated;
enum { DEVICES = 8, NONE = -1 };
/* How often each device's context is retained, and the device whose context is current. */
static int isReady, retained[DEVICES], sticky, current = NONE;
/* What a launch on its way came to, which the host has not noticed. */
static int unnoticed;

enum kind { CONTEXT = 1, MODULE, FUNCTION, STREAM, EVENT, ARRAY, MIPMAP, TEXTURE, SURFACE };
struct object { enum kind kind; int device; int isDead, isRecorded; char *text; char name[64]; struct object *module; int allowed; char *texels; size_t width, height, depth; };
static struct object contexts[DEVICES];
static struct object *objects[4096];
static int objectCount;
static struct block { char *start; size_t size; int isFree, device; } blocks[4096];
static int blockCount;
/* The surface that was made last: a kernel adds one to each of its bytes. */
static struct object *shown;

static void append(char *to, size_t *at, size_t room, const char *format, va_list args) {
  *at += (size_t)vsnprintf(to + *at, room - *at, format, args);
  if (*at >= room) *at = room - 1;
}
static void note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(record, &recorded, sizeof record, format, args);
  va_end(args);
}
static void broken(const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(violations, &violated, sizeof violations, format, args);
  va_end(args);
}

void fake_reset(void) {
  memset(&plan, 0, sizeof plan);
  plan.devices = 1;
  plan.maxThreads = 1024;
  plan.hasMarks = 1;
  plan.memory = 1 << 20;
  unnoticed = 0;
  recorded = violated = 0;
  record[0] = violations[0] = 0;
  isReady = sticky = 0;
  current = NONE;
  memset(retained, 0, sizeof retained);
  objectCount = blockCount = 0;
  shown = NULL;
}
const char *fake_record(void) { return record; }
const char *fake_violations(void) { return violations; }
/* What is held and was not given back. */
int fake_live(void) {
  int count = 0;
  for (int i = 0; i < DEVICES; i++) count += retained[i];
  for (int i = 0; i < objectCount; i++) count += !objects[i]->isDead && objects[i]->kind != FUNCTION;
  for (int i = 0; i < blockCount; i++) count += !blocks[i].isFree;
  return count;
}
void fake_set(const char *name, long long value) {
  struct { const char *name; int *to; } rows[] = {{"devices", &plan.devices}, {"init", &plan.initResult}, {"launch", &plan.launchResult},
    {"run", &plan.runResult}, {"hangs", &plan.hangs}, {"attribute", &plan.attributeResult}, {"maxThreads", &plan.maxThreads}, {"stays", &plan.stays}, {"query", &plan.queryResult}, {"failsAt", &plan.failsAt}, {"marks", &plan.hasMarks}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) if (!strcmp(name, rows[i].name)) *rows[i].to = (int)value;
  if (!strcmp(name, "memory")) plan.memory = value;
}
void fake_say(const char *name, const char *text) {
  char *to = !strcmp(name, "refusal") ? plan.refusal : !strcmp(name, "remark") ? plan.remark : !strcmp(name, "out") ? plan.out : plan.err;
  snprintf(to, sizeof plan.out, "%s", text);
}

static int ready(const char *call) {
  if (!isReady) { broken("%s before cuInit\n", call); return NOT_INITIALIZED; }
  if (current == NONE) { broken("%s without a context\n", call); return INVALID_CONTEXT; }
  return sticky;
}
#define READY(call) do { int result = ready(call); if (result) return result; } while (0)

static struct object *make(enum kind kind, void **out) {
  struct object *made = calloc(1, sizeof *made);
  made->kind = kind;
  made->device = current;
  objects[objectCount++] = made;
  *out = made;
  return made;
}
static struct object *live(void *handle, enum kind kind, const char *call) {
  for (int i = 0; i < objectCount; i++)
    if (objects[i] == handle && objects[i]->kind == kind && !objects[i]->isDead && objects[i]->device == current) return handle;
  broken("%s with a handle that is none\n", call);
  return NULL;
}

static const struct { int result; const char *name, *text; } results[] = {
  {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}, {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
  {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}, {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
  {ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"}, {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}};
static int words(int result, const char **out, int isName) {
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i].result == result) { *out = isName ? results[i].name : results[i].text; return SUCCESS; }
  *out = NULL;
  return INVALID_VALUE;
}
int cuGetErrorName(int result, const char **out) { return words(result, out, 1); }
int cuGetErrorString(int result, const char **out) { return words(result, out, 0); }

int cuInit(unsigned flags) { note("cuInit %u\n", flags); isReady = plan.initResult == 0; return plan.initResult; }
int cuDriverGetVersion(int *out) { *out = 13020; return SUCCESS; }
int cuDeviceGetCount(int *out) { *out = plan.devices; return SUCCESS; }
int cuDeviceGet(int *out, int ordinal) { *out = ordinal; return SUCCESS; }
int cuDeviceGetName(char *out, int room, int device) { snprintf(out, (size_t)room, "Fake GPU %d", device); return SUCCESS; }
int cuDeviceTotalMem_v2(size_t *out, int device) { (void)device; *out = (size_t)1 << 33; return SUCCESS; }
int cuDeviceGetAttribute(int *out, int attribute, int device) {
  (void)device;
  static const int known[][2] = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {8, 49152}, {10, 32}, {16, 132}, {83, 1}, {89, 1}, {95, 1}, {120, 1},
                                 {75, 9}, {76, 0}, {97, 232448}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i][0] == attribute) { *out = known[i][1]; return SUCCESS; }
  return INVALID_VALUE;
}
int cuDevicePrimaryCtxRetain(void **out, int device) {
  if (device >= plan.devices) return INVALID_DEVICE;
  note("retain %d\n", device);
  retained[device]++;
  *out = &contexts[device];
  return SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  note("release %d\n", device);
  if (retained[device]-- <= 0) { retained[device] = 0; broken("released once too often\n"); }
  if (retained[device] == 0 && current == device) current = NONE;
  return SUCCESS;
}
int cuDevicePrimaryCtxReset_v2(int device) {
  note("reset %d\n", device);
  retained[device] = 0;
  if (current == device) current = NONE;
  if (!plan.stays) sticky = 0;
  for (int i = 0; i < objectCount; i++) objects[i]->isDead |= objects[i]->device == device;
  for (int i = 0; i < blockCount; i++) blocks[i].isFree |= blocks[i].device == device;
  return SUCCESS;
}
int cuCtxSetCurrent(void *of) {
  int device = (int)((struct object *)of - contexts);
  current = device >= 0 && device < DEVICES && retained[device] > 0 ? device : NONE;
  return current == NONE ? INVALID_CONTEXT : SUCCESS;
}

int cuModuleLoadDataEx(void **out, const char *image, unsigned count, int *options, void **values) {
  READY("cuModuleLoadDataEx");
  note("module %zu\n", strlen(image));
  for (unsigned i = 0; i + 1 < count; i += 2) {
    /* Logs are a buffer and its size; the size becomes what was written. */
    const char *log = options[i] == 3 ? plan.remark : options[i] == 5 ? plan.refusal : NULL;
    if (!log || options[i + 1] != options[i] + 1) { broken("options of the log\n"); continue; }
    snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "%s", log);
    values[i + 1] = (void *)(uintptr_t)strlen(log);
  }
  if (plan.refusal[0]) return INVALID_PTX;
  make(MODULE, out)->text = strdup(image);
  return SUCCESS;
}
int cuModuleUnload(void *module) {
  READY("cuModuleUnload");
  struct object *found = live(module, MODULE, "cuModuleUnload");
  if (!found) return INVALID_HANDLE;
  found->isDead = 1;
  return SUCCESS;
}

/* The size of what is declared at a place: `.align 4 .b8 name[12]`, `.u64 name`. */
static size_t sizeAt(const char *at, const char *end) {
  size_t size = 0;
  const char *type = at;
  for (const char *p = at; p < end; p++)
    if (p[0] == '.' && strchr("busf", p[1]) && p[2] >= '0' && p[2] <= '9') type = p;
  size = (size_t)atoi(type + 2) / 8;
  const char *bracket = memchr(type, '[', (size_t)(end - type));
  return bracket ? size * (size_t)atoi(bracket + 1) : size;
}
static const char *wordIn(const char *text, const char *before, const char *name) {
  size_t length = strlen(name);
  for (const char *p = strstr(text, name); p; p = strstr(p + 1, name)) {
    char next = p[length], last = p > text ? p[-1] : ' ';
    if (last != ' ' || (next != '(' && next != '[' && next != ';' && next != ' ' && next != '\n')) continue;
    const char *line = p;
    while (line > text && line[-1] != '\n' && line[-1] != ';') line--;
    const char *found = strstr(line, before);
    if (found && found < p) return p;
  }
  return NULL;
}
int cuModuleGetFunction(void **out, void *module, const char *name) {
  READY("cuModuleGetFunction");
  struct object *of = live(module, MODULE, "cuModuleGetFunction");
  if (!of) return INVALID_HANDLE;
  if (!wordIn(of->text, ".entry", name)) return NOT_FOUND;
  struct object *made = make(FUNCTION, out);
  made->module = of;
  snprintf(made->name, sizeof made->name, "%s", name);
  return SUCCESS;
}
static int takeBlock(address *out, size_t size) {
  blocks[blockCount] = (struct block){aligned_alloc(256, (size + 255) / 256 * 256), size, 0, current};
  memset(blocks[blockCount].start, 0xcd, size);
  *out = (address)(uintptr_t)blocks[blockCount++].start;
  return SUCCESS;
}
int cuModuleGetGlobal_v2(address *out, size_t *size, void *module, const char *name) {
  READY("cuModuleGetGlobal");
  struct object *of = live(module, MODULE, "cuModuleGetGlobal");
  if (!of) return INVALID_HANDLE;
  const char *at = wordIn(of->text, ".global", name);
  if (!at) at = wordIn(of->text, ".const", name);
  if (!at) return NOT_FOUND;
  const char *line = at;
  while (line > of->text && line[-1] != '\n' && line[-1] != ';') line--;
  *size = sizeAt(line, strpbrk(at, ";="));
  takeBlock(out, *size);
  blocks[blockCount - 1].isFree = 1;
  memset(blocks[blockCount - 1].start, 0, *size);
  return SUCCESS;
}
int cuFuncGetAttribute(int *out, int attribute, void *function) {
  READY("cuFuncGetAttribute");
  if (!live(function, FUNCTION, "cuFuncGetAttribute")) return INVALID_HANDLE;
  *out = attribute == 0 ? plan.maxThreads : attribute == 1 ? 128 : 16;
  return SUCCESS;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  READY("cuFuncSetAttribute");
  struct object *of = live(function, FUNCTION, "cuFuncSetAttribute");
  note("attribute %d = %d\n", attribute, value);
  if (plan.attributeResult) return plan.attributeResult;
  if (attribute == 8) of->allowed = value;
  return SUCCESS;
}

static struct block *blockOf(int device, address at, size_t size, const char *call) {
  for (int i = 0; i < blockCount; i++) {
    address start = (address)(uintptr_t)blocks[i].start;
    if (blocks[i].device == device && at >= start && at + size <= start + (blocks[i].size + 255) / 256 * 256) return &blocks[i];
  }
  broken("%s outside of memory\n", call);
  return NULL;
}
static struct block *blockAt(address at, size_t size, const char *call) { return blockOf(current, at, size, call); }
int cuMemAlloc_v2(address *out, size_t size) {
  READY("cuMemAlloc");
  if (size == 0) return INVALID_VALUE;
  if ((long long)size > plan.memory) return OUT_OF_MEMORY;
  note("alloc %zu\n", size);
  return takeBlock(out, size);
}
int cuMemAllocManaged(address *out, size_t size, unsigned flags) {
  READY("cuMemAllocManaged");
  if (size == 0 || flags != 1) return INVALID_VALUE;
  if ((long long)size > plan.memory) return OUT_OF_MEMORY;
  note("managed %zu\n", size);
  return takeBlock(out, size);
}
int cuMemFree_v2(address at) {
  READY("cuMemFree");
  struct block *found = blockAt(at, 1, "cuMemFree");
  if (!found || found->isFree || (address)(uintptr_t)found->start != at) { broken("freed what is not there\n"); return INVALID_VALUE; }
  note("free %zu\n", found->size);
  found->isFree = 1;
  return SUCCESS;
}
int cuMemHostAlloc(address *out, size_t size, unsigned flags) {
  READY("cuMemHostAlloc");
  if (size == 0 || flags != 3) return INVALID_VALUE;
  note("host %zu\n", size);
  return takeBlock(out, size);
}
int cuMemFreeHost(void *at) { return cuMemFree_v2((address)(uintptr_t)at); }
int cuMemsetD8_v2(address at, unsigned char value, size_t size) {
  READY("cuMemsetD8");
  if (!blockAt(at, size, "cuMemsetD8")) return INVALID_VALUE;
  note("set %02x %zu\n", value, size);
  memset((void *)(uintptr_t)at, value, size);
  return SUCCESS;
}
int cuMemcpyHtoD_v2(address to, const void *from, size_t size) {
  READY("cuMemcpyHtoD");
  if (!blockAt(to, size, "cuMemcpyHtoD")) return INVALID_VALUE;
  memcpy((void *)(uintptr_t)to, from, size);
  return SUCCESS;
}
int cuMemcpyDtoH_v2(void *to, address from, size_t size) {
  READY("cuMemcpyDtoH");
  if (!blockAt(from, size, "cuMemcpyDtoH")) return INVALID_VALUE;
  memcpy(to, (void *)(uintptr_t)from, size);
  return SUCCESS;
}
int cuMemcpyDtoD_v2(address to, address from, size_t size) {
  READY("cuMemcpyDtoD");
  if (!blockAt(to, size, "cuMemcpyDtoD") || !blockAt(from, size, "cuMemcpyDtoD")) return INVALID_VALUE;
  memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, size);
  return SUCCESS;
}
int cuMemcpyPeer(address to, void *toContext, address from, void *fromContext, size_t size) {
  READY("cuMemcpyPeer");
  int toDevice = (int)((struct object *)toContext - contexts), fromDevice = (int)((struct object *)fromContext - contexts);
  if (!blockOf(toDevice, to, size, "cuMemcpyPeer") || !blockOf(fromDevice, from, size, "cuMemcpyPeer")) return INVALID_VALUE;
  note("peer %d to %d: %zu\n", fromDevice, toDevice, size);
  memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, size);
  return SUCCESS;
}

int cuStreamCreate(void **out, unsigned flags) { READY("cuStreamCreate"); (void)flags; make(STREAM, out); return SUCCESS; }
static int end(void *handle, enum kind kind, const char *call) {
  READY(call);
  struct object *found = live(handle, kind, call);
  if (!found) return INVALID_HANDLE;
  found->isDead = 1;
  return SUCCESS;
}
int cuStreamDestroy_v2(void *stream) { return end(stream, STREAM, "cuStreamDestroy"); }
/* What the kernel printed comes out here, and what became of it is told. */
int cuStreamSynchronize(void *stream) {
  READY("cuStreamSynchronize");
  if (!live(stream, STREAM, "cuStreamSynchronize")) return INVALID_HANDLE;
  if (plan.hangs) { broken("waits for what never ends\n"); return SUCCESS; }
  note("synchronize\n");
  fputs(plan.out, stdout);
  fputs(plan.err, stderr);
  plan.out[0] = plan.err[0] = 0;
  int result = unnoticed ? unnoticed : plan.runResult;
  plan.runResult = 0;
  if (result >= 700 && result != 701) sticky = result;
  return result;
}
/* A stream that has failed, or whose kernel runs, writes nothing. */
int cuStreamWriteValue32_v2(void *stream, address to, unsigned value, unsigned flags) {
  READY("cuStreamWriteValue32");
  if (!plan.hasMarks) return 801;
  if (flags || !live(stream, STREAM, "cuStreamWriteValue32") || !blockAt(to, 4, "cuStreamWriteValue32")) return INVALID_VALUE;
  note("mark %u\n", value);
  if (!unnoticed && !plan.hangs) memcpy((void *)(uintptr_t)to, &value, sizeof value);
  return SUCCESS;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  READY("cuStreamWaitEvent");
  (void)flags;
  return live(stream, STREAM, "cuStreamWaitEvent") && live(event, EVENT, "cuStreamWaitEvent") ? SUCCESS : INVALID_HANDLE;
}
int cuEventCreate(void **out, unsigned flags) { READY("cuEventCreate"); (void)flags; make(EVENT, out); return SUCCESS; }
int cuEventDestroy_v2(void *event) { return end(event, EVENT, "cuEventDestroy"); }
int cuEventRecord(void *event, void *stream) {
  READY("cuEventRecord");
  struct object *found = live(event, EVENT, "cuEventRecord");
  if (!found || !live(stream, STREAM, "cuEventRecord")) return INVALID_HANDLE;
  found->isRecorded = 1;
  note("record\n");
  return SUCCESS;
}
int cuEventQuery(void *event) {
  READY("cuEventQuery");
  if (!live(event, EVENT, "cuEventQuery")) return INVALID_HANDLE;
  if (unnoticed) return sticky = unnoticed;
  if (plan.queryResult) { plan.runResult = plan.queryResult; plan.queryResult = 0; return plan.runResult; }
  return plan.hangs ? NOT_READY : SUCCESS;
}
int cuEventSynchronize(void *event) { return live(event, EVENT, "cuEventSynchronize") ? SUCCESS : INVALID_HANDLE; }
int cuEventElapsedTime(float *out, void *from, void *to) {
  READY("cuEventElapsedTime");
  struct object *a = live(from, EVENT, "cuEventElapsedTime"), *b = live(to, EVENT, "cuEventElapsedTime");
  if (!a || !b || !a->isRecorded || !b->isRecorded) return INVALID_HANDLE;
  *out = 1.25f;
  return SUCCESS;
}

static int launch(const char *how, void *function, const unsigned *grid, unsigned shared, void *stream, void **params) {
  READY(how);
  struct object *of = live(function, FUNCTION, how);
  if (!of || !live(stream, STREAM, how) || of->module->isDead) return INVALID_HANDLE;
  if (shared + 128 > 49152 && (int)shared > of->allowed) return INVALID_VALUE;
  note("%s %s %u,%u,%u %u,%u,%u %u", how, of->name, grid[0], grid[1], grid[2], grid[3], grid[4], grid[5], shared);
  const char *at = wordIn(of->module->text, ".entry", of->name), *close = at ? strchr(at, ')') : NULL;
  int i = 0;
  for (const char *p = at ? strstr(at, ".param") : NULL; p && p < close; i++) {
    const char *next = strstr(p + 1, ".param"), *until = next && next < close ? next : close;
    note(" ");
    for (size_t b = 0; b < sizeAt(p, until); b++) note("%02x", ((unsigned char *)params[i])[b]);
    p = next;
  }
  note("\n");
  if (plan.failsAt && --plan.failsAt == 0) unnoticed = ILLEGAL_ADDRESS;
  if (shown) for (size_t b = 0; b < shown->width * shown->height * shown->depth; b++) shown->texels[b]++;
  return plan.launchResult;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                   void **params, void **extra) {
  if (extra) return INVALID_VALUE;
  return launch("launch", function, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, stream, params);
}
int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                              void *stream, void **params) {
  return launch("together", function, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, stream, params);
}
/* Source: cuda.h, CUlaunchConfig and CUlaunchAttribute. */
struct config { unsigned grid[6], shared; void *stream; struct { unsigned id; char pad[4]; unsigned value[16]; } *attributes; unsigned count; };
int cuLaunchKernelEx(const struct config *config, void *function, void **params, void **extra) {
  if (extra) return INVALID_VALUE;
  for (unsigned i = 0; i < config->count; i++)
    note("with %u = %u,%u,%u\n", config->attributes[i].id, config->attributes[i].value[0], config->attributes[i].value[1], config->attributes[i].value[2]);
  return launch("launch", function, config->grid, config->shared, config->stream, params);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, void *function, int threads, size_t shared) {
  READY("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  if (!live(function, FUNCTION, "cuOccupancyMaxActiveBlocksPerMultiprocessor")) return INVALID_HANDLE;
  *out = shared > 100000 ? 1 : 2048 / threads / 2;
  return SUCCESS;
}

/* Arrays have their texels in rows without gaps. Source: cuda.h, CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC. */
struct shape { size_t width, height, depth; unsigned format, channels, flags; };
static size_t atLeastOne(size_t n) { return n ? n : 1; }
static size_t texelBytes(const struct shape *shape) {
  unsigned bytes = shape->format == 1 || shape->format == 8 ? 1 : shape->format == 2 || shape->format == 9 || shape->format == 16 ? 2 : 4;
  return bytes * shape->channels;
}
static struct object *makeArray(const struct shape *shape, int level) {
  void *out;
  struct object *made = make(ARRAY, &out);
  made->width = atLeastOne(shape->width >> level) * texelBytes(shape);
  made->height = atLeastOne(shape->height >> level);
  made->depth = atLeastOne(shape->depth);
  made->texels = calloc(made->width * made->height, made->depth);
  return made;
}
int cuArray3DCreate_v2(void **out, const struct shape *shape) {
  READY("cuArray3DCreate");
  if (!shape->width || !shape->format || !shape->channels) return INVALID_VALUE;
  note("array %zux%zux%zu format %u x %u flags %u\n", shape->width, shape->height, shape->depth, shape->format, shape->channels, shape->flags);
  *out = makeArray(shape, 0);
  return SUCCESS;
}
int cuArrayDestroy(void *array) { return end(array, ARRAY, "cuArrayDestroy"); }
int cuMipmappedArrayCreate(void **out, const struct shape *shape, unsigned levels) {
  READY("cuMipmappedArrayCreate");
  struct object *made = make(MIPMAP, out);
  note("levels %u\n", levels);
  made->module = calloc(levels, sizeof(struct object));
  for (unsigned i = 0; i < levels; i++) {
    struct object *level = makeArray(shape, (int)i);
    ((struct object **)(void *)made->module)[i] = level;
  }
  made->allowed = (int)levels;
  return SUCCESS;
}
int cuMipmappedArrayGetLevel(void **out, void *mipmap, unsigned level) {
  READY("cuMipmappedArrayGetLevel");
  struct object *of = live(mipmap, MIPMAP, "cuMipmappedArrayGetLevel");
  if (!of || (int)level >= of->allowed) return INVALID_VALUE;
  *out = ((struct object **)(void *)of->module)[level];
  return SUCCESS;
}
int cuMipmappedArrayDestroy(void *mipmap) {
  struct object *of = mipmap;
  for (int i = 0; i < of->allowed; i++) ((struct object **)(void *)of->module)[i]->isDead = 1;
  return end(mipmap, MIPMAP, "cuMipmappedArrayDestroy");
}
struct side { size_t x, y, z, level; unsigned type; void *host; address device; void *array, *reserved; size_t pitch, rows; };
struct copy { struct side from, to; size_t width, height, depth; };
static char *rowAt(const struct side *side, const struct copy *copy, size_t y, size_t z) {
  if (side->type == 2) {
    address at = side->device + (z * side->rows + y) * side->pitch;
    return blockAt(at, copy->width, "cuMemcpy3D") ? (char *)(uintptr_t)at : NULL;
  }
  struct object *of = side->type == 3 ? live(side->array, ARRAY, "cuMemcpy3D") : NULL;
  if (!of || copy->width > of->width || copy->height > of->height || copy->depth > of->depth) return NULL;
  return of->texels + (z * of->height + y) * of->width;
}
int cuMemcpy3D_v2(const struct copy *copy) {
  READY("cuMemcpy3D");
  for (size_t z = 0; z < copy->depth; z++)
    for (size_t y = 0; y < copy->height; y++) {
      char *to = rowAt(&copy->to, copy, y, z), *from = rowAt(&copy->from, copy, y, z);
      if (!to || !from) return INVALID_VALUE;
      memcpy(to, from, copy->width);
    }
  note("copy %s array\n", copy->to.type == 3 ? "to" : "from");
  return SUCCESS;
}
struct resource { unsigned type; char pad[4]; union { void *array; struct { address at; unsigned format, channels; size_t sizes[3]; } memory; char room[128]; } of; unsigned flags; };
struct sampler { unsigned modes[3], filter, flags, anisotropy, mipFilter; float bias, min, max, border[4]; int reserved[12]; };
static int isResource(const struct resource *resource) {
  if (resource->type == 0) return live(resource->of.array, ARRAY, "a resource") != NULL;
  if (resource->type == 1) return live(resource->of.array, MIPMAP, "a resource") != NULL;
  return blockAt(resource->of.memory.at, 1, "a resource") != NULL;
}
int cuTexObjectCreate(address *out, const struct resource *resource, const struct sampler *sampler, const void *view) {
  READY("cuTexObjectCreate");
  void *made;
  if (!isResource(resource) || view) return INVALID_VALUE;
  note("texture of %u", resource->type);
  if (resource->type > 1) note(" format %u x %u, %zu,%zu,%zu", resource->of.memory.format, resource->of.memory.channels, resource->of.memory.sizes[0], resource->of.memory.sizes[1], resource->of.memory.sizes[2]);
  note(" modes %u,%u,%u filter %u flags %u levels %g..%g border %g\n", sampler->modes[0], sampler->modes[1], sampler->modes[2], sampler->filter, sampler->flags, sampler->min, sampler->max, sampler->border[0]);
  make(TEXTURE, &made);
  *out = (address)(uintptr_t)made;
  return SUCCESS;
}
int cuTexObjectDestroy(address texture) { return end((void *)(uintptr_t)texture, TEXTURE, "cuTexObjectDestroy"); }
int cuSurfObjectCreate(address *out, const struct resource *resource) {
  READY("cuSurfObjectCreate");
  void *made;
  if (resource->type != 0 || !isResource(resource)) return INVALID_VALUE;
  note("surface\n");
  make(SURFACE, &made);
  shown = resource->of.array;
  *out = (address)(uintptr_t)made;
  return SUCCESS;
}
int cuSurfObjectDestroy(address surface) { shown = NULL; return end((void *)(uintptr_t)surface, SURFACE, "cuSurfObjectDestroy"); }
