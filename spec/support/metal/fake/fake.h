/* A fake Objective-C runtime, Foundation and Metal for tests: what each file of it knows of the others. */
#include <stdbool.h>
#include <stdint.h>

typedef unsigned long U;
typedef const char *SEL;
typedef struct object object;
typedef struct class class;
typedef struct {
  U width, height, depth;
} MTLSize;
typedef struct {
  U location, length;
} NSRange;
typedef struct block {
  void *isa;
  int flags, reserved;
  void (*invoke)(struct block *, object *);
  struct {
    unsigned long reserved, size;
  } *descriptor;
} block;

struct method {
  const char *selector;
  void *code;
  /* As method_getTypeEncoding gives it. */
  const char *types;
};
struct class {
  const char *name;
  const class *parent;
  const struct method *methods;
  int count;
  /* Of the class itself. */
  const struct method *own;
  int own_count;
};

/* Every object begins with this. It is never freed, so that messages to the dead are seen. */
struct object {
  const class *isa;
  /* Of a class object: the class that it stands for. */
  const class *stands_for;
  int32_t retained;
  bool is_dead, is_immortal;
  object *next;
  char *label;
};

/* --- runtime.c --- */

/* Notes what the real runtime or driver would not forgive. */
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Notes what happened. */
void record(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *make(const class *isa, U size);
object *retain(void *object);
void release(void *object);
object *autorelease(void *object);
/* Whether an object is alive and of a class; a violation that names the use where it is not. */
bool is_a(const void *object, const class *isa, const char *use);
object *string_of(const char *text);
const char *text_of(const object *string);
object *error_of(const char *domain, long code, const char *text);
object *array_of(object *const *objects, U count);
/* The bytes of dispatch data. */
const void *bytes_of(const object *data, U *length);
/* A copy of a block, as Block_copy makes one without helpers; NULL after a violation. */
block *copy_block(block *given);
/* A number that tests set, by name. */
long setting(const char *name);
/* Takes the number, which is 0 from then on. */
long take_setting(const char *name);

/* --- metal.c, encoders.c, queue.c --- */

/* Called when the last reference goes. */
void on_dealloc(object *dying);

enum { slots = 31 };

typedef struct {
  object base;
  void *bytes;
  U length, options, address;
  bool is_of_caller;
} buffer;

typedef struct {
  object base;
  /* The number that the host gave it. */
  int number;
  U count;
} library;

typedef struct {
  object base;
  library *from;
  char *name;
} function;

/* What a kernel wants bound, as the host reads it off the library. */
struct needs {
  U static_bytes, uses_threadgroup;
  struct {
    /* 0 nothing, 1 a buffer, 2 bytes by value. */
    U kind;
    /* At least. */
    U size;
  } slot[slots];
};

typedef struct {
  object base;
  function *of;
  U most_threads, width;
  struct needs needs;
} pipeline;

struct binding {
  /* 0 nothing, 1 a buffer, 2 bytes. */
  U kind;
  buffer *held;
  U offset, length;
  uint8_t *bytes;
};

enum operation { op_dispatch, op_copy, op_fill, op_signal, op_await };

/* One thing for the GPU to do. */
struct command {
  enum operation operation;
  struct command *next;
  pipeline *run;
  struct binding bound[slots];
  U threadgroup[slots];
  MTLSize groups, threads;
  /* Buffers beyond the bound ones that may be reached. */
  buffer *used[64];
  int used_count;
  buffer *from, *to;
  U from_offset, to_offset, size, byte;
  object *event;
  U value;
};

typedef struct queue queue;
typedef struct commands commands;

struct queue {
  object base;
  U most;
  /* Committed and not yet ended, in order. */
  commands *first;
  int open_count;
  queue *next;
};

struct commands {
  object base;
  queue *of;
  commands *behind;
  object *encoder;
  struct command *first, **last;
  struct command *at;
  int status, polls;
  long error_code;
  double started, ended;
  block *handlers[8];
  int handler_count;
};

typedef struct {
  object base;
  commands *of;
  bool is_ended;
  pipeline *run;
  struct binding bound[slots];
  U threadgroup[slots];
  bool has_threadgroup[slots];
  buffer *used[64];
  int used_count;
} encoder;

typedef struct {
  object base;
  U value;
} shared_event;

/* What the test hands over: reading libraries and running kernels, on the thread that asks. */
struct hooks {
  /* The number of a library, from 1 on, or 0 with the reason in `why`. */
  int (*open_library)(const void *bytes, double length, char *why, int room, U *count);
  /* The same for a text that is compiled. */
  int (*open_source)(const char *text, char *why, int room, U *count);
  /* Whether the library has the function. */
  int (*has_function)(int library, const char *name);
  /* 0, or a number other than that with the reason why no pipeline can be made. */
  int (*describe)(int library, const char *name, struct needs *needs, char *why, int room);
  /* The device address of new memory; 0 where there is none. */
  double (*new_memory)(double length);
  void (*free_memory)(double address);
  /* 0; the MTLCommandBufferError that it ends with; -1 where it never ends. */
  int (*execute)(const U *what);
};
extern struct hooks hooks;

struct command *append(commands *to, enum operation operation);
void drop_binding(struct binding *bound);
/* Lets every queue do one step; whether any did something. */
bool advance_all(void);
void drop_commands(commands *dying);
U allocated_now(void);

#include "methods.h"
