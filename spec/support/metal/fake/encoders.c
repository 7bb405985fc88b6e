/* Encoders of the fake: every rule on what may be bound, in which state, and what a dispatch needs. */
#define _GNU_SOURCE
#include "fake.h"
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 4096, most_threadgroup = 32768 };

static bool is_open(object *self, const char *what) {
  encoder *to = (encoder *)self;
  if (to->is_ended) violation("%s after endEncoding", what);
  return !to->is_ended;
}

static bool is_slot(U slot, const char *what) {
  if (slot >= slots) violation("%s: slot %lu, and there are %d", what, slot, slots);
  return slot < slots;
}

void drop_binding(struct binding *bound) {
  release(bound->held);
  free(bound->bytes);
  *bound = (struct binding){0};
}

void MTLCommandEncoder_endEncoding(object *self, SEL selector) {
  (void)selector;
  if (is_open(self, "endEncoding")) ((encoder *)self)->is_ended = true;
}

/* --- compute --- */

void MTLComputeCommandEncoder_setComputePipelineState_(object *self, SEL selector, object *run) {
  (void)selector;
  encoder *to = (encoder *)self;
  if (!is_open(self, "setComputePipelineState:") || !is_a(run, &MTLComputePipelineState_class, "setComputePipelineState:")) return;
  retain(run);
  release(to->run);
  to->run = (pipeline *)run;
}

void MTLComputeCommandEncoder_setBuffer_offset_atIndex_(object *self, SEL selector, object *given, U offset, U slot) {
  (void)selector;
  if (!is_open(self, "setBuffer:") || !is_slot(slot, "setBuffer:")) return;
  struct binding *bound = &((encoder *)self)->bound[slot];
  if (given && !is_a(given, &MTLBuffer_class, "setBuffer:")) return;
  buffer *of = (buffer *)given;
  if (of && offset >= of->length) {
    violation("setBuffer: offset %lu of a buffer of %lu bytes", offset, of->length);
    return;
  }
  retain(given);
  drop_binding(bound);
  if (of) *bound = (struct binding){.kind = 1, .held = of, .offset = offset, .length = of->length - offset};
}

void MTLComputeCommandEncoder_setBytes_length_atIndex_(object *self, SEL selector, void *bytes, U length, U slot) {
  (void)selector;
  if (!is_open(self, "setBytes:") || !is_slot(slot, "setBytes:")) return;
  if (length > most_bytes) violation("setBytes: %lu bytes, and %d are the most", length, most_bytes);
  if (!bytes || length == 0) violation("setBytes: of nothing");
  if (!bytes || length == 0 || length > most_bytes) return;
  struct binding *bound = &((encoder *)self)->bound[slot];
  drop_binding(bound);
  *bound = (struct binding){.kind = 2, .length = length, .bytes = memcpy(malloc(length), bytes, length)};
}

void MTLComputeCommandEncoder_setThreadgroupMemoryLength_atIndex_(object *self, SEL selector, U length, U slot) {
  (void)selector;
  if (!is_open(self, "setThreadgroupMemoryLength:") || !is_slot(slot, "setThreadgroupMemoryLength:")) return;
  if (length % 16) violation("setThreadgroupMemoryLength: %lu is no multiple of 16", length);
  encoder *to = (encoder *)self;
  to->threadgroup[slot] = length;
  to->has_threadgroup[slot] = true;
}

void MTLComputeCommandEncoder_useResource_usage_(object *self, SEL selector, object *given, U usage) {
  (void)selector;
  encoder *to = (encoder *)self;
  if (!is_open(self, "useResource:") || !is_a(given, &MTLBuffer_class, "useResource:")) return;
  if (usage == 0 || usage > 3) violation("useResource: usage %lu", usage);
  if (to->used_count == 64) violation("useResource: more than the fake keeps");
  else to->used[to->used_count++] = (buffer *)given;
}

static void check_bound(const encoder *to) {
  const struct needs *needs = &to->run->needs;
  const char *name = to->run->of->name;
  for (int i = 0; i < slots; i++) {
    const struct binding *bound = &to->bound[i];
    if (needs->slot[i].kind == 0) {
      if (bound->kind) violation("dispatch of %s: slot %d is bound, and the kernel has none there", name, i);
    } else if (bound->kind == 0) violation("dispatch of %s: nothing is bound to slot %d", name, i);
    else if (bound->length < needs->slot[i].size)
      violation("dispatch of %s: slot %d has %lu bytes, and the kernel reads %lu", name, i, bound->length, needs->slot[i].size);
    else if (bound->kind == 2 && needs->slot[i].kind == 1) violation("dispatch of %s: slot %d wants a buffer, not bytes", name, i);
  }
  if (needs->uses_threadgroup && !to->has_threadgroup[0]) violation("dispatch of %s: no threadgroup memory is set", name);
}

static void check_shape(const encoder *to, MTLSize groups, MTLSize threads) {
  U total = threads.width * threads.height * threads.depth;
  U grid[] = {groups.width, groups.height, groups.depth}, group[] = {threads.width, threads.height, threads.depth};
  for (int i = 0; i < 3; i++) {
    if (grid[i] == 0 || group[i] == 0) violation("dispatch: dimension %d is empty", i);
    if (group[i] > 1024) violation("dispatch: %lu threads in dimension %d", group[i], i);
    if (group[i] && grid[i] > 0xffffffffUL / group[i]) violation("dispatch: dimension %d has more than 2^32 - 1 threads", i);
  }
  if (total > to->run->most_threads) violation("dispatch: %lu threads, and the pipeline takes %lu", total, to->run->most_threads);
  U memory = to->run->needs.static_bytes;
  for (int i = 0; i < slots; i++) memory += to->threadgroup[i];
  if (memory > most_threadgroup) violation("dispatch: %lu bytes of threadgroup memory", memory);
}

void MTLComputeCommandEncoder_dispatchThreadgroups_threadsPerThreadgroup_(object *self, SEL selector, MTLSize groups, MTLSize threads) {
  (void)selector;
  encoder *from = (encoder *)self;
  record("dispatch %lu,%lu,%lu of %lu,%lu,%lu", groups.width, groups.height, groups.depth, threads.width, threads.height, threads.depth);
  if (!is_open(self, "dispatchThreadgroups:")) return;
  if (!from->run) {
    violation("dispatchThreadgroups: without a pipeline");
    return;
  }
  check_bound(from);
  check_shape(from, groups, threads);
  struct command *what = append(from->of, op_dispatch);
  what->run = (pipeline *)retain(from->run);
  what->groups = groups;
  what->threads = threads;
  memcpy(what->threadgroup, from->threadgroup, sizeof what->threadgroup);
  memcpy(what->used, from->used, sizeof what->used);
  what->used_count = from->used_count;
  for (int i = 0; i < slots; i++) {
    struct binding *to = &what->bound[i];
    *to = from->bound[i];
    /* The command buffer holds what is bound; what is only used, the caller has to. */
    retain(to->held);
    if (to->bytes) to->bytes = memcpy(malloc(to->length), to->bytes, to->length);
  }
}

/* --- blit --- */

static bool is_range(const buffer *of, U offset, U size, const char *what) {
  bool fits = offset <= of->length && size <= of->length - offset;
  if (!fits) violation("%s: %lu bytes at %lu of a buffer of %lu", what, size, offset, of->length);
  if (size == 0) violation("%s: of nothing", what);
  if ((offset | size) % 4) violation("%s: offset and size are multiples of 4 on macOS", what);
  return fits;
}

void MTLBlitCommandEncoder_copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(object *self, SEL selector, object *from,
                                                                                        U from_offset, object *to, U to_offset, U size) {
  (void)selector;
  if (!is_open(self, "copyFromBuffer:") || !is_a(from, &MTLBuffer_class, "copyFromBuffer:") || !is_a(to, &MTLBuffer_class, "toBuffer:"))
    return;
  if (!is_range((buffer *)from, from_offset, size, "copyFromBuffer:") || !is_range((buffer *)to, to_offset, size, "toBuffer:")) return;
  if (from == to && from_offset < to_offset + size && to_offset < from_offset + size) violation("copyFromBuffer: onto itself");
  struct command *what = append(((encoder *)self)->of, op_copy);
  what->from = (buffer *)retain(from);
  what->to = (buffer *)retain(to);
  what->from_offset = from_offset;
  what->to_offset = to_offset;
  what->size = size;
}

void MTLBlitCommandEncoder_fillBuffer_range_value_(object *self, SEL selector, object *to, NSRange range, uint8_t value) {
  (void)selector;
  if (!is_open(self, "fillBuffer:") || !is_a(to, &MTLBuffer_class, "fillBuffer:")) return;
  if (!is_range((buffer *)to, range.location, range.length, "fillBuffer:")) return;
  struct command *what = append(((encoder *)self)->of, op_fill);
  what->to = (buffer *)retain(to);
  what->to_offset = range.location;
  what->size = range.length;
  what->byte = value;
}
