/* The device of the fake and what it makes: libraries read by the host's own reader, pipelines, buffers, events, captures. */
#define _GNU_SOURCE
#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hooks hooks;
void fake_hooks(const struct hooks *given) { hooks = *given; }

enum { page = 16384 };
static const U longest_buffer = 1UL << 32;

/* --- the device: one, which the system itself holds --- */

static object *the_device(void) {
  static object *device;
  if (!device) device = make(&MTLDevice_class, sizeof *device);
  return device;
}

object *MTLCreateSystemDefaultDevice(void) { return setting("no default device") ? NULL : retain(the_device()); }

object *MTLCopyAllDevices(void) {
  object *devices[] = {the_device()};
  return array_of(devices, setting("no device") ? 0 : 1);
}

object *MTLDevice_name(object *self, SEL selector) {
  (void)self, (void)selector;
  return string_of(setting("virtual") ? "Apple Paravirtual device" : "Fake M1");
}
U MTLDevice_registryID(object *self, SEL selector) { return (void)self, (void)selector, 0x1234; }
bool MTLDevice_hasUnifiedMemory(object *self, SEL selector) { return (void)self, (void)selector, true; }
MTLSize MTLDevice_maxThreadsPerThreadgroup(object *self, SEL selector) {
  (void)self, (void)selector;
  return (MTLSize){1024, 1024, 1024};
}
U MTLDevice_maxThreadgroupMemoryLength(object *self, SEL selector) { return (void)self, (void)selector, 32768; }
U MTLDevice_maxBufferLength(object *self, SEL selector) { return (void)self, (void)selector, longest_buffer; }
U MTLDevice_recommendedMaxWorkingSetSize(object *self, SEL selector) { return (void)self, (void)selector, 5726623061UL; }
U MTLDevice_currentAllocatedSize(object *self, SEL selector) { return (void)self, (void)selector, allocated_now(); }
/* An M1: Apple7 and all before it, Metal 3. Virtual ones say Apple5 and no Metal 3. */
bool MTLDevice_supportsFamily_(object *self, SEL selector, long family) {
  (void)self, (void)selector;
  long most = setting("virtual") ? 1005 : 1007;
  return (family >= 1001 && family <= most) || (family == 5001 && !setting("virtual"));
}

static object *new_queue(U most) {
  if (setting("no queue")) return NULL;
  queue *made = make(&MTLCommandQueue_class, sizeof *made);
  made->most = most;
  return (object *)made;
}
object *MTLDevice_newCommandQueue(object *self, SEL selector) { return (void)self, (void)selector, new_queue(64); }
object *MTLDevice_newCommandQueueWithMaxCommandBufferCount_(object *self, SEL selector, U most) {
  (void)self, (void)selector;
  if (most == 0) violation("a queue of no command buffers");
  return new_queue(most);
}

/* --- libraries --- */

object *MTLDevice_newLibraryWithData_error_(object *self, SEL selector, object *given, object **error) {
  (void)self, (void)selector;
  if (!is_a(given, &OS_dispatch_data_class, "newLibraryWithData:")) return NULL;
  U length, count = 0;
  const void *bytes = bytes_of(given, &length);
  char why[256] = "";
  int number = take_setting("no library") ? 0 : hooks.open_library(bytes, (double)length, why, sizeof why, &count);
  if (number <= 0) {
    if (error) *error = error_of("MTLLibraryErrorDomain", 1, *why ? why : "Invalid library file");
    return NULL;
  }
  library *made = make(&MTLLibrary_class, sizeof *made);
  made->number = number;
  made->count = count;
  return (object *)made;
}

typedef struct {
  object base;
  bool is_exact;
  U version;
} compile_options;

void MTLCompileOptions_setFastMathEnabled_(object *self, SEL selector, bool is_fast) {
  (void)selector;
  ((compile_options *)self)->is_exact = !is_fast;
}
void MTLCompileOptions_setLanguageVersion_(object *self, SEL selector, U version) {
  (void)selector;
  ((compile_options *)self)->version = version;
}

object *MTLDevice_newLibraryWithSource_options_error_(object *self, SEL selector, object *text, object *given, object **error) {
  (void)self, (void)selector;
  if (!is_a(given, &MTLCompileOptions_class, "newLibraryWithSource:")) return NULL;
  compile_options *options = (compile_options *)given;
  if (!options->is_exact) violation("a source is compiled with fast math");
  if (options->version >> 16 < 2 || options->version >> 16 > 4) violation("a source of the version %lx", options->version);
  U count = 0;
  char why[256] = "";
  int number = take_setting("no source") ? 0 : hooks.open_source(text_of(text), why, sizeof why, &count);
  if (number <= 0) {
    if (error) *error = error_of("MTLLibraryErrorDomain", 3, *why ? why : "program_source:1:1: error: expected ';'");
    return NULL;
  }
  library *made = make(&MTLLibrary_class, sizeof *made);
  made->number = number;
  made->count = count;
  record("compiled source");
  return (object *)made;
}

object *MTLLibrary_functionNames(object *self, SEL selector) {
  (void)selector;
  return autorelease(array_of(NULL, ((library *)self)->count));
}

object *MTLLibrary_newFunctionWithName_(object *self, SEL selector, object *name) {
  (void)selector;
  library *from = (library *)self;
  const char *text = text_of(name);
  if (!hooks.has_function(from->number, text)) return NULL;
  function *made = make(&MTLFunction_class, sizeof *made);
  made->from = (library *)retain(from);
  made->name = strdup(text);
  return (object *)made;
}

object *MTLFunction_name(object *self, SEL selector) { return (void)selector, string_of(((function *)self)->name); }

/* --- pipelines --- */

object *MTLDevice_newComputePipelineStateWithFunction_error_(object *self, SEL selector, object *given, object **error) {
  (void)self, (void)selector;
  if (!is_a(given, &MTLFunction_class, "newComputePipelineStateWithFunction:")) return NULL;
  function *of = (function *)given;
  struct needs needs = {0};
  char why[256] = "";
  int code = hooks.describe(of->from->number, of->name, &needs, why, sizeof why);
  if (code == 0 && take_setting("no pipeline")) {
    code = 3;
    strcpy(why, "Compiler encountered an internal error");
  }
  if (code) {
    if (error) *error = error_of("AGXMetal13_3", code, why);
    return NULL;
  }
  pipeline *made = make(&MTLComputePipelineState_class, sizeof *made);
  made->of = (function *)retain(of);
  made->needs = needs;
  made->most_threads = setting("pipeline threads") ? (U)setting("pipeline threads") : 1024;
  made->width = setting("width") ? (U)setting("width") : 32;
  return (object *)made;
}

U MTLComputePipelineState_maxTotalThreadsPerThreadgroup(object *self, SEL selector) {
  return (void)selector, ((pipeline *)self)->most_threads;
}
U MTLComputePipelineState_threadExecutionWidth(object *self, SEL selector) { return (void)selector, ((pipeline *)self)->width; }
U MTLComputePipelineState_staticThreadgroupMemoryLength(object *self, SEL selector) {
  return (void)selector, ((pipeline *)self)->needs.static_bytes;
}

/* --- buffers --- */

static U allocated;
U allocated_now(void) { return allocated; }

static object *new_buffer(void *over, U length, U options) {
  double address = length == 0 || length > longest_buffer ? 0 : hooks.new_memory((double)length);
  if (address == 0) return NULL;
  buffer *made = make(&MTLBuffer_class, sizeof *made);
  made->bytes = over;
  made->is_of_caller = over != NULL;
  if (!over && posix_memalign(&made->bytes, page, (length + page - 1) & ~(U)(page - 1))) abort();
  /* What new memory holds is not promised. */
  if (!over) memset(made->bytes, 0xa5, length);
  made->length = length;
  made->options = options;
  made->address = (U)address;
  allocated += length;
  return (object *)made;
}

object *MTLDevice_newBufferWithLength_options_(object *self, SEL selector, U length, U options) {
  (void)self, (void)selector;
  if (take_setting("no memory")) return NULL;
  if (length == 0) violation("newBufferWithLength: of 0");
  return new_buffer(NULL, length, options);
}

object *MTLDevice_newBufferWithBytesNoCopy_length_options_deallocator_(object *self, SEL selector, void *bytes, U length, U options,
                                                                       block *deallocator) {
  (void)self, (void)selector;
  if (deallocator) violation("newBufferWithBytesNoCopy: with a deallocator that the fake does not run");
  if (((U)bytes | length) % page) violation("newBufferWithBytesNoCopy: address or length is not one of whole pages");
  if (options & 0xf0) violation("newBufferWithBytesNoCopy: of memory that is not shared");
  return bytes ? new_buffer(bytes, length, options) : NULL;
}

static U storage_of(const buffer *of) { return of->options >> 4 & 15; }

void *MTLBuffer_contents(object *self, SEL selector) {
  (void)selector;
  if (storage_of((buffer *)self) != 2) return ((buffer *)self)->bytes;
  violation("contents of a private buffer");
  return NULL;
}
U MTLBuffer_length(object *self, SEL selector) { return (void)selector, ((buffer *)self)->length; }
U MTLBuffer_gpuAddress(object *self, SEL selector) { return (void)selector, ((buffer *)self)->address; }
U MTLBuffer_storageMode(object *self, SEL selector) { return (void)selector, storage_of((buffer *)self); }

/* --- shared events --- */

object *MTLDevice_newSharedEvent(object *self, SEL selector) {
  (void)self, (void)selector;
  return make(&MTLSharedEvent_class, sizeof(shared_event));
}
/* Time passes while somebody looks. */
U MTLSharedEvent_signaledValue(object *self, SEL selector) {
  (void)selector;
  advance_all();
  return ((shared_event *)self)->value;
}
void MTLSharedEvent_setSignaledValue_(object *self, SEL selector, U value) {
  (void)selector;
  if (value < ((shared_event *)self)->value) violation("a shared event that goes back from %lu to %lu", ((shared_event *)self)->value, value);
  ((shared_event *)self)->value = value;
}
bool MTLSharedEvent_waitUntilSignaledValue_timeoutMS_(object *self, SEL selector, U value, U milliseconds) {
  (void)selector, (void)milliseconds;
  while (((shared_event *)self)->value < value)
    if (!advance_all()) return false;
  return true;
}

/* --- captures --- */

typedef struct {
  object base;
  object *captured;
  long destination;
  object *url;
} capture_descriptor;

static bool is_capturing;

object *MTLCaptureManager_class_sharedCaptureManager(object *self, SEL selector) {
  (void)self, (void)selector;
  static object *manager;
  if (!manager) {
    manager = make(&MTLCaptureManager_class, sizeof *manager);
    manager->is_immortal = true;
  }
  return manager;
}
bool MTLCaptureManager_supportsDestination_(object *self, SEL selector, long destination) {
  (void)self, (void)selector;
  if (destination != 1 && destination != 2) violation("a capture to destination %ld", destination);
  return destination == 2 && setting("captures");
}
bool MTLCaptureManager_startCaptureWithDescriptor_error_(object *self, SEL selector, object *given, object **error) {
  (void)self, (void)selector;
  if (!is_a(given, &MTLCaptureDescriptor_class, "startCaptureWithDescriptor:")) return false;
  capture_descriptor *wanted = (capture_descriptor *)given;
  if (!wanted->captured || wanted->destination != 2 || !wanted->url) violation("a capture without object, destination or file");
  if (is_capturing || !setting("captures")) {
    if (error) *error = error_of("MTLCaptureError", is_capturing ? 2 : 1, is_capturing ? "Already capturing" : "Capturing is not supported");
    return false;
  }
  return is_capturing = true;
}
void MTLCaptureManager_stopCapture(object *self, SEL selector) {
  (void)self, (void)selector;
  if (!is_capturing) violation("stopCapture without a capture");
  is_capturing = false;
}
bool MTLCaptureManager_isCapturing(object *self, SEL selector) { return (void)self, (void)selector, is_capturing; }
void MTLCaptureDescriptor_setCaptureObject_(object *self, SEL selector, object *captured) {
  (void)selector;
  is_a(captured, &MTLDevice_class, "setCaptureObject:");
  ((capture_descriptor *)self)->captured = captured;
}
void MTLCaptureDescriptor_setDestination_(object *self, SEL selector, long destination) {
  (void)selector;
  ((capture_descriptor *)self)->destination = destination;
}
void MTLCaptureDescriptor_setOutputURL_(object *self, SEL selector, object *url) {
  (void)selector;
  if (is_a(url, &NSURL_class, "setOutputURL:")) ((capture_descriptor *)self)->url = retain(url);
}

/* --- labels, the same for all that have one --- */

static void set_label(object *self, object *label) {
  free(self->label);
  self->label = strdup(text_of(label));
  record("%s is called %s", self->isa->name, self->label);
}
#define LABELLED(name)                                                                     \
  void name##_setLabel_(object *self, SEL selector, object *label) {                       \
    (void)selector;                                                                        \
    set_label(self, label);                                                                \
  }                                                                                        \
  object *name##_label(object *self, SEL selector) {                                       \
    (void)selector;                                                                        \
    return self->label ? string_of(self->label) : NULL;                                    \
  }
LABELLED(MTLCommandQueue)
LABELLED(MTLLibrary)
LABELLED(MTLFunction)
LABELLED(MTLBuffer)
LABELLED(MTLCommandBuffer)
LABELLED(MTLCommandEncoder)
LABELLED(MTLSharedEvent)
object *MTLComputePipelineState_label(object *self, SEL selector) { return (void)self, (void)selector, NULL; }

/* --- the end of objects --- */

void dealloc_foundation(object *dying);

static void dealloc_encoder(encoder *dying) {
  if (!dying->is_ended) violation("an encoder was freed before endEncoding");
  for (int i = 0; i < slots; i++) drop_binding(&dying->bound[i]);
  release(dying->run);
  release(dying->of);
}

static void dealloc_queue(queue *dying) {
  if (dying->first) violation("a queue was freed before its commands had ended");
}

void on_dealloc(object *dying) {
  const class *isa = dying->isa;
  if (isa == &MTLBuffer_class) {
    buffer *of = (buffer *)dying;
    allocated -= of->length;
    hooks.free_memory((double)of->address);
    if (!of->is_of_caller) free(of->bytes);
  } else if (isa == &MTLFunction_class) release(((function *)dying)->from);
  else if (isa == &MTLComputePipelineState_class) release(((pipeline *)dying)->of);
  else if (isa == &MTLComputeCommandEncoder_class || isa == &MTLBlitCommandEncoder_class) dealloc_encoder((encoder *)dying);
  else if (isa == &MTLCommandBuffer_class) drop_commands((commands *)dying);
  else if (isa == &MTLCommandQueue_class) dealloc_queue((queue *)dying);
  else if (isa == &MTLCaptureDescriptor_class) release(((capture_descriptor *)dying)->url);
  else dealloc_foundation(dying);
}
