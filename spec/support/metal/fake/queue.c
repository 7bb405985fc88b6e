/*
 * Command buffers of the fake and what becomes of them. There is no thread that runs them, for kernels run where the test is:
 * each time that somebody asks for a status or an event, every queue does one step. Completion handlers run on another thread,
 * as the system's do.
 */
#define _GNU_SOURCE
#include "fake.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { enqueued_not = 0, committed = 2, scheduled = 3, completed = 4, failed = 5 };

static queue *queues;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + at.tv_nsec * 1e-9;
}

object *MTLCommandQueue_commandBuffer(object *self, SEL selector) {
  (void)selector;
  queue *of = (queue *)self;
  if (take_setting("no commands")) return NULL;
  if ((U)of->open_count >= of->most) violation("more than %lu command buffers that have not ended: the call would block", of->most);
  commands *made = make(&MTLCommandBuffer_class, sizeof *made);
  made->of = (queue *)retain(of);
  made->last = &made->first;
  of->open_count++;
  return autorelease((object *)made);
}

static bool takes_more(commands *to, const char *what) {
  if (to->status != enqueued_not) violation("%s after commit", what);
  encoder *before = (encoder *)to->encoder;
  if (before && !before->is_ended) violation("%s while an encoder is open", what);
  return to->status == enqueued_not && !(before && !before->is_ended);
}

static object *new_encoder(object *self, const class *isa, const char *what) {
  commands *of = (commands *)self;
  if (!takes_more(of, what) || take_setting("no encoder")) return NULL;
  encoder *made = make(isa, sizeof *made);
  made->of = (commands *)retain(of);
  /* Of the encoder only the last one matters; those before have ended. */
  of->encoder = (object *)made;
  return autorelease((object *)made);
}
object *MTLCommandBuffer_computeCommandEncoder(object *self, SEL selector) {
  return (void)selector, new_encoder(self, &MTLComputeCommandEncoder_class, "computeCommandEncoder");
}
object *MTLCommandBuffer_blitCommandEncoder(object *self, SEL selector) {
  return (void)selector, new_encoder(self, &MTLBlitCommandEncoder_class, "blitCommandEncoder");
}

struct command *append(commands *to, enum operation operation) {
  struct command *made = calloc(1, sizeof *made);
  made->operation = operation;
  *to->last = made;
  to->last = &made->next;
  return made;
}

static void append_event(object *self, enum operation operation, object *event, U value) {
  commands *to = (commands *)self;
  if (!is_a(event, &MTLSharedEvent_class, "an event of commands") || !takes_more(to, "an event")) return;
  struct command *what = append(to, operation);
  what->event = retain(event);
  what->value = value;
}
void MTLCommandBuffer_encodeSignalEvent_value_(object *self, SEL selector, object *event, U value) {
  (void)selector;
  append_event(self, op_signal, event, value);
}
void MTLCommandBuffer_encodeWaitForEvent_value_(object *self, SEL selector, object *event, U value) {
  (void)selector;
  append_event(self, op_await, event, value);
}

void MTLCommandBuffer_addCompletedHandler_(object *self, SEL selector, block *given) {
  (void)selector;
  commands *of = (commands *)self;
  if (of->status != enqueued_not) violation("addCompletedHandler: after commit");
  block *copy = copy_block(given);
  if (copy && of->handler_count < 8) of->handlers[of->handler_count++] = copy;
}

void MTLCommandBuffer_commit(object *self, SEL selector) {
  (void)selector;
  commands *of = (commands *)self;
  if (!takes_more(of, "commit")) return;
  of->status = committed;
  of->at = of->first;
  retain(of);
  queue *in = of->of;
  commands **end = &in->first;
  while (*end) end = &(*end)->behind;
  *end = of;
  for (queue *each = queues; each; each = each->next)
    if (each == in) return;
  in->next = queues;
  queues = in;
}

/* --- running --- */

static void *run_handlers(void *given) {
  commands *of = given;
  for (int i = 0; i < of->handler_count; i++) of->handlers[i]->invoke(of->handlers[i], &of->base);
  return NULL;
}

static void finish(commands *of, long error_code) {
  of->ended = now();
  /* A time that tests can tell. */
  if (setting("nanoseconds")) of->ended = of->started + setting("nanoseconds") * 1e-9;
  of->error_code = error_code;
  of->status = error_code ? failed : completed;
  queue *in = of->of;
  in->first = of->behind;
  in->open_count--;
  pthread_t thread;
  if (!setting("no handlers") && !pthread_create(&thread, NULL, run_handlers, of)) pthread_join(thread, NULL);
  release(of);
}

static bool is_alive(buffer *of, const char *what) {
  if (of->base.is_dead) violation("%s: a buffer was freed before the GPU was done with it", what);
  return !of->base.is_dead;
}

/* As `execute` of the hooks takes it, all in words of 64 bits; the harness reads it by the same list. */
static int dispatch(const struct command *of) {
  static U words[8 + 4 * slots + slots + 1 + 3 * 128];
  U *at = words;
  *at++ = (U)of->run->of->from->number;
  *at++ = (U)of->run->of->name;
  memcpy(at, &of->groups, sizeof of->groups);
  memcpy(at + 3, &of->threads, sizeof of->threads);
  at += 6;
  for (int i = 0; i < slots; i++) {
    const struct binding *bound = &of->bound[i];
    *at++ = bound->kind;
    *at++ = bound->kind == 1 ? bound->held->address + bound->offset : 0;
    *at++ = (U)(bound->kind == 1 ? bound->held->bytes : bound->bytes);
    *at++ = bound->length;
  }
  memcpy(at, of->threadgroup, sizeof of->threadgroup);
  at += slots;
  U *count = at++;
  *count = 0;
  buffer *reached[slots + 64];
  int reached_count = 0;
  for (int i = 0; i < slots; i++)
    if (of->bound[i].kind == 1) reached[reached_count++] = of->bound[i].held;
  for (int i = 0; i < of->used_count; i++) reached[reached_count++] = of->used[i];
  for (int i = 0; i < reached_count; i++) {
    if (!is_alive(reached[i], "dispatch")) continue;
    *at++ = reached[i]->address;
    *at++ = (U)reached[i]->bytes;
    *at++ = reached[i]->length;
    ++*count;
  }
  return hooks.execute(words);
}

/* Does one thing. Gives an error code, 0, or -1 where it can go no further now. */
static int execute(const struct command *what) {
  shared_event *event = (shared_event *)what->event;
  switch (what->operation) {
    case op_dispatch: return dispatch(what);
    case op_copy: memcpy((char *)what->to->bytes + what->to_offset, (char *)what->from->bytes + what->from_offset, what->size); return 0;
    case op_fill: memset((char *)what->to->bytes + what->to_offset, (int)what->byte, what->size); return 0;
    case op_signal:
      if (what->value < event->value) violation("a shared event that goes back from %lu to %lu", event->value, what->value);
      event->value = what->value;
      return 0;
    case op_await: return event->value >= what->value ? 0 : -1;
  }
  return 1;
}

static bool advance(queue *in) {
  commands *of = in->first;
  if (!of || setting("hang")) return false;
  if (of->polls++ < setting("polls")) return true;
  if (of->status == committed) {
    of->status = scheduled;
    of->started = now();
    return true;
  }
  long injected = take_setting("fail");
  if (injected) return finish(of, injected), true;
  if (!of->at) return finish(of, 0), true;
  int code = execute(of->at);
  if (code < 0) return false;
  of->at = of->at->next;
  if (code > 0) finish(of, code);
  return true;
}

/* Ends whatever still runs, as the system does after some seconds. */
void fake_end_all(void) {
  for (queue *each = queues; each; each = each->next)
    while (each->first) finish(each->first, 2);
}

bool advance_all(void) {
  bool any = false;
  for (queue *each = queues; each; each = each->next) any |= advance(each);
  return any;
}

void MTLCommandBuffer_waitUntilCompleted(object *self, SEL selector) {
  (void)selector;
  commands *of = (commands *)self;
  if (of->status == enqueued_not) violation("waitUntilCompleted before commit: the call would never come back");
  while (of->status == committed || of->status == scheduled)
    if (!advance_all()) {
      violation("waitUntilCompleted of commands that never end: the call would never come back");
      return;
    }
}

U MTLCommandBuffer_status(object *self, SEL selector) {
  (void)selector;
  commands *of = (commands *)self;
  /* Not from a handler: that is on another thread, and the commands have ended. */
  if (of->status == committed || of->status == scheduled) advance_all();
  return (U)of->status;
}

static const char *error_text(long code) {
  switch (code) {
    case 2: return "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)";
    case 3: return "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)";
    case 8: return "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
    case 14: return "Impacting Interactivity (0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)";
    default: return "Internal Error (0000000e:Internal Error)";
  }
}

object *MTLCommandBuffer_error(object *self, SEL selector) {
  (void)selector;
  commands *of = (commands *)self;
  return of->status == failed ? error_of("MTLCommandBufferErrorDomain", of->error_code, error_text(of->error_code)) : NULL;
}

static double time_of(object *self, double time) {
  if (((commands *)self)->status < completed) violation("a time of commands that have not ended");
  return setting("no times") ? 0 : time;
}
double MTLCommandBuffer_GPUStartTime(object *self, SEL selector) { return (void)selector, time_of(self, ((commands *)self)->started); }
double MTLCommandBuffer_GPUEndTime(object *self, SEL selector) { return (void)selector, time_of(self, ((commands *)self)->ended); }
double MTLCommandBuffer_kernelStartTime(object *self, SEL selector) { return (void)selector, time_of(self, ((commands *)self)->started); }
double MTLCommandBuffer_kernelEndTime(object *self, SEL selector) { return (void)selector, time_of(self, ((commands *)self)->ended); }

/* What a command buffer held, when the last reference to it goes. */
void drop_commands(commands *dying) {
  if (dying->status == enqueued_not) dying->of->open_count--;
  for (struct command *each = dying->first; each;) {
    struct command *next = each->next;
    for (int i = 0; i < slots; i++) drop_binding(&each->bound[i]);
    release(each->run);
    release(each->from);
    release(each->to);
    release(each->event);
    free(each);
    each = next;
  }
  for (int i = 0; i < dying->handler_count; i++) free(dying->handlers[i]);
  release(dying->of);
}
