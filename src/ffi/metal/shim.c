/*
 * Metal behind flat C functions, so that a runtime with nothing but a foreign-function call can use it.
 *
 * No header is included: what is needed of Objective-C, Metal and the C library is declared here, so one source builds with any C
 * compiler and no SDK. Three builds: a Mach-O library for macOS on arm64, made on Linux by scripts/metal/build.ts; a shared
 * object against the fake Metal of spec/support/metal; and bun:ffi's `cc` on a machine where the library does not load, which
 * defines CM_TABLE and hands over every outside function by `cm_bind`.
 *
 * Conventions: a handle that is given is owned by the caller until `cm_release`; 0 is failure, and `cm_error_*` then say why.
 * Every function has an autorelease pool of its own, so nothing waits for a pool of the caller. Nothing here is called by
 * another thread but `on_complete`, which only stores a word.
 *
 * Source: Clang's Block ABI (Block-ABI-Apple) and AAPCS64 as Apple's arm64 has it; selectors and their types as the public
 * headers of Metal have them (spec/support/metal/headers.ts).
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef u8 BOOL;
typedef struct objc_object *id;
typedef struct objc_selector *SEL;
typedef struct {
  NSUInteger width, height, depth;
} MTLSize;
typedef struct {
  NSUInteger location, length;
} NSRange;
typedef void (*function)(void);

#define EXPORT __attribute__((visibility("default")))

/* --- what is outside --- */

#ifdef CM_TABLE
static void *table[14];
#define objc_msgSend ((function)table[0])
#define objc_msgSend_stret ((function)table[1])
#define objc_getClass ((id(*)(const char *))table[2])
#define sel_registerName ((SEL(*)(const char *))table[3])
#define objc_autoreleasePoolPush ((void *(*)(void))table[4])
#define objc_autoreleasePoolPop ((void (*)(void *))table[5])
#define MTLCreateSystemDefaultDevice ((id(*)(void))table[6])
#define MTLCopyAllDevices ((id(*)(void))table[7])
#define dispatch_data_create ((id(*)(const void *, unsigned long, id, void *))table[8])
#define memcpy ((void *(*)(void *, const void *, unsigned long))table[9])
#define strlen ((unsigned long (*)(const char *))table[10])
#define usleep ((int (*)(u32))table[11])
#define _NSConcreteStackBlock ((void **)table[12])
/* In the order of the table above; 0 for one that is not there. */
EXPORT void cm_bind(void **outside) {
  for (int i = 0; i < 13; i++) table[i] = outside[i];
}
/* TinyCC copies structs by memmove, and is told to link nothing. */
void *memmove(void *to, const void *from, unsigned long count) {
  char *a = to;
  const char *b = from;
  if (a < b) {
    for (unsigned long i = 0; i < count; i++) a[i] = b[i];
  } else {
    while (count--) a[count] = b[count];
  }
  return to;
}
#else
extern void objc_msgSend(void);
#if defined(__x86_64__)
extern void objc_msgSend_stret(void);
#endif
extern id objc_getClass(const char *);
extern SEL sel_registerName(const char *);
extern void *objc_autoreleasePoolPush(void);
extern void objc_autoreleasePoolPop(void *);
extern id MTLCreateSystemDefaultDevice(void);
extern id MTLCopyAllDevices(void);
extern id dispatch_data_create(const void *, unsigned long, id queue, void *destructor);
extern void *memcpy(void *, const void *, unsigned long);
extern unsigned long strlen(const char *);
extern int usleep(u32);
extern void *_NSConcreteStackBlock[];
#endif

#ifdef __TINYC__
#define STORE_RELEASE(place, value) (*(place) = (value))
#else
#define STORE_RELEASE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#endif

/*
 * objc_msgSend is only called through a cast to the very type of the method: Apple's arm64 passes variadic arguments in another
 * way. It comes out of a function because GCC plants a trap where a declared function is called through a cast directly.
 */
static inline function sender(void) { return (function)objc_msgSend; }
#if defined(__x86_64__)
/* Structs above 16 bytes come back by another entry there. */
static inline function struct_sender(void) { return (function)objc_msgSend_stret; }
#else
static inline function struct_sender(void) { return (function)objc_msgSend; }
#endif
#define MSG(result, ...) ((result(*)(id, SEL, ##__VA_ARGS__))sender())
#define MSG_STRUCT(result, ...) ((result(*)(id, SEL, ##__VA_ARGS__))struct_sender())
/* A selector, looked up once for each place that names it. */
#define S(name)                                      \
  ({                                                 \
    static SEL selector;                             \
    if (!selector) selector = sel_registerName(name); \
    selector;                                        \
  })
#define POOL(...)                         \
  void *pool = objc_autoreleasePoolPush(); \
  __VA_ARGS__;                            \
  objc_autoreleasePoolPop(pool)

/* --- errors --- */

static struct {
  i64 code;
  char domain[128], text[2048];
} last;

static void copy_text(char *to, unsigned long room, const char *from) {
  unsigned long length = from ? strlen(from) : 0;
  if (length > room - 1) length = room - 1;
  if (length) memcpy(to, from, length);
  to[length] = 0;
}

static void set_error(const char *domain, i64 code, const char *text) {
  last.code = code;
  copy_text(last.domain, sizeof last.domain, domain);
  copy_text(last.text, sizeof last.text, text);
}

static const char *utf8(id string) { return string ? MSG(const char *)(string, S("UTF8String")) : 0; }

static id string_of(const char *text) {
  return MSG(id, const char *)(objc_getClass("NSString"), S("stringWithUTF8String:"), text);
}

static void take_error(id error, const char *otherwise) {
  if (!error) {
    set_error("cumetal", 0, otherwise);
    return;
  }
  const char *text = utf8(MSG(id)(error, S("localizedDescription")));
  set_error(utf8(MSG(id)(error, S("domain"))), MSG(NSInteger)(error, S("code")), text ? text : otherwise);
}

/* Grows with every change of a function; the caller compares it with what it was written for. */
EXPORT u32 cm_abi(void) { return 2; }
EXPORT i64 cm_error_code(void) { return last.code; }
EXPORT const char *cm_error_domain(void) { return last.domain; }
EXPORT const char *cm_error_text(void) { return last.text; }

/* --- any object --- */

EXPORT void cm_release(id object) { POOL(if (object) MSG(void)(object, S("release"))); }
/* Of a queue, library, function, buffer, command buffer, encoder or event: what tools and reports show. */
EXPORT void cm_set_label(id object, const char *text) { POOL(MSG(void, id)(object, S("setLabel:"), string_of(text))); }
EXPORT void cm_pause(u32 microseconds) { usleep(microseconds); }

/* --- the device --- */

/* The default device, else the first of all: a process without a session of its own has no default one. */
EXPORT id cm_device(void) {
  id device;
  POOL({
    device = MTLCreateSystemDefaultDevice();
    id all = device ? 0 : MTLCopyAllDevices();
    if (all) {
      if (MSG(NSUInteger)(all, S("count"))) {
        device = MSG(id, NSUInteger)(all, S("objectAtIndex:"), 0);
        MSG(id)(device, S("retain"));
      }
      MSG(void)(all, S("release"));
    }
  });
  if (!device) set_error("cumetal", 0, "the system has no Metal device");
  return device;
}

/* The name, cut to what there is room for; its length. */
EXPORT u32 cm_device_name(id device, char *out, u32 room) {
  POOL(copy_text(out, room, utf8(MSG(id)(device, S("name")))));
  return (u32)strlen(out);
}

/* [longest buffer, recommended working set, bytes of threadgroup memory, threads in x, y, z, allocated now, unified memory, registry id] */
EXPORT void cm_device_facts(id device, u64 *out) {
  POOL({
    MTLSize threads = MSG_STRUCT(MTLSize)(device, S("maxThreadsPerThreadgroup"));
    out[0] = MSG(NSUInteger)(device, S("maxBufferLength"));
    out[1] = MSG(u64)(device, S("recommendedMaxWorkingSetSize"));
    out[2] = MSG(NSUInteger)(device, S("maxThreadgroupMemoryLength"));
    out[3] = threads.width;
    out[4] = threads.height;
    out[5] = threads.depth;
    out[6] = MSG(NSUInteger)(device, S("currentAllocatedSize"));
    out[7] = MSG(BOOL)(device, S("hasUnifiedMemory"));
    out[8] = MSG(u64)(device, S("registryID"));
  });
}

/* Families are numbered as MTLGPUFamily has them: Apple n is 1000 + n, Metal 3 is 5001. */
EXPORT u32 cm_supports_family(id device, i64 family) {
  u32 answer;
  POOL(answer = MSG(BOOL, NSInteger)(device, S("supportsFamily:"), (NSInteger)family));
  return answer;
}

EXPORT id cm_queue(id device, u64 command_buffers) {
  id queue;
  POOL(queue = MSG(id, NSUInteger)(device, S("newCommandQueueWithMaxCommandBufferCount:"), command_buffers));
  if (!queue) set_error("cumetal", 0, "the device gives no command queue");
  return queue;
}

/* --- libraries and pipelines --- */

EXPORT id cm_library(id device, const void *bytes, u64 length) {
  id library, error = 0;
  POOL({
    /* Without destructor the bytes are copied. */
    id data = dispatch_data_create(bytes, length, 0, 0);
    library = MSG(id, id, id *)(device, S("newLibraryWithData:error:"), data, &error);
    MSG(void)(data, S("release"));
    if (!library) take_error(error, "the device takes no library of these bytes");
  });
  return library;
}

/* `version` is an MTLLanguageVersion. Fast math is off: texts are written for exact arithmetic. */
EXPORT id cm_library_source(id device, const char *text, u64 version) {
  id library, error = 0;
  POOL({
    id options = MSG(id)(objc_getClass("MTLCompileOptions"), S("new"));
    MSG(void, BOOL)(options, S("setFastMathEnabled:"), 0);
    MSG(void, NSUInteger)(options, S("setLanguageVersion:"), version);
    library = MSG(id, id, id, id *)(device, S("newLibraryWithSource:options:error:"), string_of(text), options, &error);
    MSG(void)(options, S("release"));
    if (!library) take_error(error, "the device compiles no library of this source");
  });
  return library;
}

EXPORT u64 cm_library_count(id library) {
  u64 count;
  POOL(count = MSG(NSUInteger)(MSG(id)(library, S("functionNames")), S("count")));
  return count;
}

EXPORT id cm_function(id library, const char *name) {
  id made;
  POOL(made = MSG(id, id)(library, S("newFunctionWithName:"), string_of(name)));
  if (!made) set_error("cumetal", 0, "the library has no such function");
  return made;
}

EXPORT id cm_pipeline(id device, id made) {
  id pipeline, error = 0;
  POOL({
    pipeline = MSG(id, id, id *)(device, S("newComputePipelineStateWithFunction:error:"), made, &error);
    if (!pipeline) take_error(error, "the device makes no pipeline of the function");
  });
  return pipeline;
}

/* [most threads of a threadgroup, threads of a simdgroup, bytes of static threadgroup memory] */
EXPORT void cm_pipeline_facts(id pipeline, u64 *out) {
  POOL({
    out[0] = MSG(NSUInteger)(pipeline, S("maxTotalThreadsPerThreadgroup"));
    out[1] = MSG(NSUInteger)(pipeline, S("threadExecutionWidth"));
    out[2] = MSG(NSUInteger)(pipeline, S("staticThreadgroupMemoryLength"));
  });
}

/* --- buffers --- */

static id checked_buffer(id buffer) {
  if (!buffer) set_error("cumetal", 0, "the device has no memory for a buffer of this size");
  return buffer;
}

/* Options as MTLResourceOptions has them; 0 is memory that host and device share. */
EXPORT id cm_buffer(id device, u64 length, u64 options) {
  id buffer;
  POOL(buffer = MSG(id, NSUInteger, NSUInteger)(device, S("newBufferWithLength:options:"), length, options));
  return checked_buffer(buffer);
}

/* Over memory of the caller, which outlives the buffer; address and length are whole pages. */
EXPORT id cm_buffer_over(id device, void *bytes, u64 length, u64 options) {
  id buffer;
  POOL(buffer = MSG(id, void *, NSUInteger, NSUInteger, id)(
           device, S("newBufferWithBytesNoCopy:length:options:deallocator:"), bytes, length, options, 0));
  return checked_buffer(buffer);
}

EXPORT void *cm_buffer_contents(id buffer) {
  void *contents;
  POOL(contents = MSG(void *)(buffer, S("contents")));
  return contents;
}

/* What kernels see as the buffer's address. */
EXPORT u64 cm_buffer_address(id buffer) {
  u64 address;
  POOL(address = MSG(u64)(buffer, S("gpuAddress")));
  return address;
}

/* --- command buffers --- */

/* The method gives a handle that belongs to the pool, so one of the caller's is taken here. */
EXPORT id cm_commands(id queue) {
  id commands;
  POOL({
    commands = MSG(id)(queue, S("commandBuffer"));
    if (commands) MSG(id)(commands, S("retain"));
  });
  if (!commands) set_error("cumetal", 0, "the queue gives no command buffer");
  return commands;
}

EXPORT id cm_compute(id commands) {
  id encoder;
  POOL({
    encoder = MSG(id)(commands, S("computeCommandEncoder"));
    if (encoder) MSG(id)(encoder, S("retain"));
  });
  if (!encoder) set_error("cumetal", 0, "the command buffer gives no encoder");
  return encoder;
}

EXPORT id cm_blit(id commands) {
  id encoder;
  POOL({
    encoder = MSG(id)(commands, S("blitCommandEncoder"));
    if (encoder) MSG(id)(encoder, S("retain"));
  });
  if (!encoder) set_error("cumetal", 0, "the command buffer gives no encoder");
  return encoder;
}

/* An encoder that is let go without this ends the process. */
EXPORT void cm_end(id encoder) { POOL(MSG(void)(encoder, S("endEncoding"))); }

EXPORT void cm_commit(id commands) { POOL(MSG(void)(commands, S("commit"))); }

/* 0 not enqueued, 1 enqueued, 2 committed, 3 scheduled, 4 completed, 5 error */
EXPORT u32 cm_status(id commands) {
  u32 status;
  POOL(status = (u32)MSG(NSUInteger)(commands, S("status")));
  return status;
}

/* For ever, if need be: a queue that hangs never answers. */
EXPORT void cm_wait(id commands) { POOL(MSG(void)(commands, S("waitUntilCompleted"))); }

/* Of commands that have ended: the status; times in seconds [GPU start, GPU end, kernel start, kernel end]; what failed. */
EXPORT u32 cm_outcome(id commands, double *times) {
  u32 status;
  POOL({
    status = (u32)MSG(NSUInteger)(commands, S("status"));
    times[0] = MSG(double)(commands, S("GPUStartTime"));
    times[1] = MSG(double)(commands, S("GPUEndTime"));
    times[2] = MSG(double)(commands, S("kernelStartTime"));
    times[3] = MSG(double)(commands, S("kernelEndTime"));
    if (status == 5) take_error(MSG(id)(commands, S("error")), "the command buffer failed");
  });
  return status;
}

/* A block as Clang lays it out: no helper to copy captures, which are plain words, and no signature. */
struct completion {
  void *isa;
  int flags, reserved;
  void (*invoke)(struct completion *, id);
  const struct completion_size *descriptor;
  volatile u32 *word;
};
struct completion_size {
  unsigned long reserved, size;
};
static const struct completion_size completion_size = {0, sizeof(struct completion)};

/* On a thread of the system. */
static void on_complete(struct completion *self, id commands) {
  u32 status = (u32)MSG(NSUInteger)(commands, S("status"));
  STORE_RELEASE(self->word, status);
}

/* Before `cm_commit`: has the last status stored in a word, which stays where it is until then. */
EXPORT void cm_on_complete(id commands, volatile u32 *word) {
  struct completion block = {(void *)_NSConcreteStackBlock, 0, 0, on_complete, &completion_size, word};
  POOL(MSG(void, struct completion *)(commands, S("addCompletedHandler:"), &block));
}

/* --- what a compute encoder is told --- */

EXPORT void cm_set_pipeline(id encoder, id pipeline) { POOL(MSG(void, id)(encoder, S("setComputePipelineState:"), pipeline)); }

EXPORT void cm_set_buffer(id encoder, id buffer, u64 offset, u64 slot) {
  POOL(MSG(void, id, NSUInteger, NSUInteger)(encoder, S("setBuffer:offset:atIndex:"), buffer, offset, slot));
}

/* At most 4096 bytes, which are copied. */
EXPORT void cm_set_bytes(id encoder, const void *bytes, u64 length, u64 slot) {
  POOL(MSG(void, const void *, NSUInteger, NSUInteger)(encoder, S("setBytes:length:atIndex:"), bytes, length, slot));
}

/* A multiple of 16 bytes. */
EXPORT void cm_set_threadgroup_memory(id encoder, u64 length, u64 slot) {
  POOL(MSG(void, NSUInteger, NSUInteger)(encoder, S("setThreadgroupMemoryLength:atIndex:"), length, slot));
}

/* Makes a buffer resident that kernels reach by its address alone; usage 1 is read, 2 write. */
EXPORT void cm_use(id encoder, id buffer, u64 usage) {
  POOL(MSG(void, id, NSUInteger)(encoder, S("useResource:usage:"), buffer, usage));
}

EXPORT void cm_dispatch(id encoder, const u64 *groups, const u64 *threads) {
  MTLSize grid = {groups[0], groups[1], groups[2]}, group = {threads[0], threads[1], threads[2]};
  POOL(MSG(void, MTLSize, MTLSize)(encoder, S("dispatchThreadgroups:threadsPerThreadgroup:"), grid, group));
}

/* --- what a blit encoder is told --- */

EXPORT void cm_copy(id encoder, id from, u64 from_offset, id to, u64 to_offset, u64 size) {
  POOL(MSG(void, id, NSUInteger, id, NSUInteger, NSUInteger)(
      encoder, S("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"), from, from_offset, to, to_offset, size));
}

EXPORT void cm_fill(id encoder, id buffer, u64 offset, u64 size, u32 byte) {
  NSRange range = {offset, size};
  POOL(MSG(void, id, NSRange, u8)(encoder, S("fillBuffer:range:value:"), buffer, range, (u8)byte));
}

/* --- events that host and device share --- */

EXPORT id cm_event(id device) {
  id event;
  POOL(event = MSG(id)(device, S("newSharedEvent")));
  if (!event) set_error("cumetal", 0, "the device gives no shared event");
  return event;
}

EXPORT u64 cm_event_value(id event) {
  u64 value;
  POOL(value = MSG(u64)(event, S("signaledValue")));
  return value;
}

EXPORT void cm_event_set(id event, u64 value) { POOL(MSG(void, u64)(event, S("setSignaledValue:"), value)); }

/* Whether the value was reached in that time. */
EXPORT u32 cm_event_wait(id event, u64 value, u64 milliseconds) {
  u32 reached;
  POOL(reached = MSG(BOOL, u64, u64)(event, S("waitUntilSignaledValue:timeoutMS:"), value, milliseconds));
  return reached;
}

EXPORT void cm_signal(id commands, id event, u64 value) {
  POOL(MSG(void, id, u64)(commands, S("encodeSignalEvent:value:"), event, value));
}

EXPORT void cm_await(id commands, id event, u64 value) {
  POOL(MSG(void, id, u64)(commands, S("encodeWaitForEvent:value:"), event, value));
}

/* --- captures for Xcode --- */

/* Whether what the device does from now on goes to a .gputrace file; needs METAL_CAPTURE_ENABLED=1 in the environment. */
EXPORT u32 cm_capture_start(id device, const char *path) {
  BOOL started = 0;
  POOL({
    id error = 0, manager = MSG(id)(objc_getClass("MTLCaptureManager"), S("sharedCaptureManager"));
    /* 2: a file, not the developer tools */
    if (!MSG(BOOL, NSInteger)(manager, S("supportsDestination:"), 2)) {
      set_error("cumetal", 0, "captures to a file are off: start with METAL_CAPTURE_ENABLED=1 in the environment");
    } else {
      id wanted = MSG(id)(objc_getClass("MTLCaptureDescriptor"), S("new"));
      MSG(void, id)(wanted, S("setCaptureObject:"), device);
      MSG(void, NSInteger)(wanted, S("setDestination:"), 2);
      MSG(void, id)(wanted, S("setOutputURL:"), MSG(id, id)(objc_getClass("NSURL"), S("fileURLWithPath:"), string_of(path)));
      started = MSG(BOOL, id, id *)(manager, S("startCaptureWithDescriptor:error:"), wanted, &error);
      MSG(void)(wanted, S("release"));
      if (!started) take_error(error, "the capture could not be started");
    }
  });
  return started;
}

EXPORT void cm_capture_stop(void) {
  POOL(MSG(void)(MSG(id)(objc_getClass("MTLCaptureManager"), S("sharedCaptureManager")), S("stopCapture")));
}
