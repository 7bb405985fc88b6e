/*
 * The Objective-C runtime of the fake: messages, classes, reference counts that tell over-release and use after the end,
 * autorelease pools per thread, and the little of Foundation, dispatch and blocks that Metal speaks.
 */
#define _GNU_SOURCE
#include "fake.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tables of the classes, made of headers.ts. */
#include "classes.inc"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- what tests read and set --- */

struct text {
  char *bytes;
  size_t length, room;
  int lines;
};
static struct text recorded, violations;

static void add_line(struct text *to, const char *format, va_list values) {
  char line[1024];
  int length = vsnprintf(line, sizeof line, format, values);
  if (length > (int)sizeof line - 1) length = sizeof line - 1;
  pthread_mutex_lock(&lock);
  if (to->length + length + 2 > to->room) to->bytes = realloc(to->bytes, to->room = 2 * (to->length + length + 2));
  memcpy(to->bytes + to->length, line, length);
  to->length += length;
  to->bytes[to->length++] = '\n';
  to->bytes[to->length] = 0;
  to->lines++;
  pthread_mutex_unlock(&lock);
}

void violation(const char *format, ...) {
  va_list values;
  va_start(values, format);
  add_line(&violations, format, values);
  va_end(values);
}

void record(const char *format, ...) {
  va_list values;
  va_start(values, format);
  add_line(&recorded, format, values);
  va_end(values);
}

const char *fake_record(void) { return recorded.bytes ? recorded.bytes : ""; }
const char *fake_violations(void) { return violations.bytes ? violations.bytes : ""; }

static struct {
  char name[32];
  long value;
} settings[64];

void fake_set(const char *name, double value) {
  int i = 0;
  while (settings[i].name[0] && strcmp(settings[i].name, name)) i++;
  strncpy(settings[i].name, name, sizeof settings[i].name - 1);
  settings[i].value = (long)value;
}

long setting(const char *name) {
  for (int i = 0; settings[i].name[0]; i++)
    if (!strcmp(settings[i].name, name)) return settings[i].value;
  return 0;
}

long take_setting(const char *name) {
  long value = setting(name);
  if (value) fake_set(name, 0);
  return value;
}

/* Forgets what was noted and set. */
void fake_reset(void) {
  recorded.length = violations.length = 0;
  recorded.lines = violations.lines = 0;
  if (recorded.bytes) *recorded.bytes = 0;
  if (violations.bytes) *violations.bytes = 0;
  memset(settings, 0, sizeof settings);
}

/* --- messages --- */

static char *selectors[1024];
static int selector_count;

SEL sel_registerName(const char *name) {
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < selector_count && strcmp(selectors[i], name)) i++;
  if (i == selector_count) selectors[selector_count++] = strdup(name);
  pthread_mutex_unlock(&lock);
  return selectors[i];
}

object *objc_getClass(const char *name) {
  static object stand_ins[64];
  for (int i = 0; known[i]; i++) {
    if (strcmp(known[i]->name, name)) continue;
    stand_ins[i] = (object){.isa = &NSObject_class, .stands_for = known[i], .is_immortal = true};
    return &stand_ins[i];
  }
  violation("there is no class %s", name);
  return NULL;
}

static void *nothing(void) { return NULL; }

static const struct method *find(const class *in, bool of_class, SEL selector) {
  for (; in; in = in->parent) {
    const struct method *methods = of_class ? in->own : in->methods;
    for (int i = 0; i < (of_class ? in->own_count : in->count); i++)
      if (!strcmp(methods[i].selector, selector)) return &methods[i];
  }
  return NULL;
}

/* Of a class, what objc_getClass gives stands for it. */
object *object_getClass(object *self) { return objc_getClass(self->isa->name); }
const struct method *class_getInstanceMethod(object *self, SEL selector) { return find(self->stands_for, false, selector); }
const struct method *class_getClassMethod(object *self, SEL selector) { return find(self->stands_for, true, selector); }
const char *method_getTypeEncoding(const struct method *method) { return method->types; }

/* The code for a message; what no object answers is a violation and gives 0. */
void *fake_lookup(object *self, SEL selector) {
  if (!self) return (void *)nothing;
  if ((uintptr_t)self < 4096 || ((uintptr_t)self & 7)) {
    violation("%s was sent to %p, which is no object", selector, (void *)self);
    return (void *)nothing;
  }
  if (self->is_dead) violation("%s was sent to a freed %s", selector, self->isa->name);
  const class *stands_for = self->stands_for;
  const struct method *method = stands_for ? find(stands_for, true, selector) : find(self->isa, false, selector);
  void *code = method ? method->code : NULL;
  const char *name = stands_for ? stands_for->name : self->isa->name;
  if (code) record("%s%s %s", stands_for ? "+" : "", name, selector);
  else violation("unrecognized selector: %s%s %s", stands_for ? "+" : "", name, selector);
  return code ? code : (void *)nothing;
}

/* Keeps every register that carries an argument, so that methods get them as the ABI has them. */
#if defined(__x86_64__)
#define KEEP                                                                                                    \
  "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\nsub $136,%rsp\nmovups %xmm0,(%rsp)\n"         \
  "movups %xmm1,16(%rsp)\nmovups %xmm2,32(%rsp)\nmovups %xmm3,48(%rsp)\nmovups %xmm4,64(%rsp)\n"                \
  "movups %xmm5,80(%rsp)\nmovups %xmm6,96(%rsp)\nmovups %xmm7,112(%rsp)\n"
#define RESTORE                                                                                                 \
  "movups (%rsp),%xmm0\nmovups 16(%rsp),%xmm1\nmovups 32(%rsp),%xmm2\nmovups 48(%rsp),%xmm3\n"                  \
  "movups 64(%rsp),%xmm4\nmovups 80(%rsp),%xmm5\nmovups 96(%rsp),%xmm6\nmovups 112(%rsp),%xmm7\n"               \
  "add $136,%rsp\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n"
__asm__(".text\n.globl objc_msgSend\n.type objc_msgSend,@function\nobjc_msgSend:\n" KEEP
        "call fake_lookup@PLT\nmov %rax,%r11\n" RESTORE "jmp *%r11\n"
        ".globl objc_msgSend_stret\n.type objc_msgSend_stret,@function\nobjc_msgSend_stret:\n" KEEP
        "mov %rsi,%rdi\nmov %rdx,%rsi\ncall fake_lookup@PLT\nmov %rax,%r11\n" RESTORE "jmp *%r11\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl objc_msgSend\n.type objc_msgSend,%function\nobjc_msgSend:\n"
        "stp x29,x30,[sp,#-224]!\nstp x0,x1,[sp,#16]\nstp x2,x3,[sp,#32]\nstp x4,x5,[sp,#48]\nstp x6,x7,[sp,#64]\n"
        "str x8,[sp,#80]\nstp q0,q1,[sp,#96]\nstp q2,q3,[sp,#128]\nstp q4,q5,[sp,#160]\nstp q6,q7,[sp,#192]\n"
        "bl fake_lookup\nmov x16,x0\n"
        "ldp x0,x1,[sp,#16]\nldp x2,x3,[sp,#32]\nldp x4,x5,[sp,#48]\nldp x6,x7,[sp,#64]\nldr x8,[sp,#80]\n"
        "ldp q0,q1,[sp,#96]\nldp q2,q3,[sp,#128]\nldp q4,q5,[sp,#160]\nldp q6,q7,[sp,#192]\nldp x29,x30,[sp],#224\n"
        "br x16\n");
#endif

/* --- reference counts --- */

static object *all;

void *make(const class *isa, U size) {
  object *made = calloc(1, size);
  made->isa = isa;
  made->retained = 1;
  pthread_mutex_lock(&lock);
  made->next = all;
  all = made;
  pthread_mutex_unlock(&lock);
  return made;
}

object *retain(void *given) {
  object *self = given;
  if (self && !self->is_immortal) __atomic_add_fetch(&self->retained, 1, __ATOMIC_SEQ_CST);
  return self;
}

void release(void *given) {
  object *self = given;
  if (!self || self->is_immortal) return;
  if (self->is_dead) {
    violation("over-release of a %s", self->isa->name);
    return;
  }
  if (__atomic_sub_fetch(&self->retained, 1, __ATOMIC_SEQ_CST) > 0) return;
  self->is_dead = true;
  record("%s dealloc", self->isa->name);
  on_dealloc(self);
}

/* Objects that somebody still holds; those are named in the record. */
int fake_live(void) {
  int count = 0;
  for (object *each = all; each; each = each->next) {
    /* The system itself holds its device. */
    bool is_system = each->isa == &MTLDevice_class && each->retained == 1;
    if (each->is_dead || each->is_immortal || is_system) continue;
    count++;
    record("still there: %s, held %d times", each->isa->name, each->retained);
  }
  return count;
}

bool is_a(const void *given, const class *isa, const char *use) {
  const object *self = given;
  if (!self) violation("%s: nil where a %s belongs", use, isa->name);
  else if (self->is_dead) violation("%s: a freed %s", use, self->isa->name);
  else if (self->isa != isa) violation("%s: a %s where a %s belongs", use, self->isa->name, isa->name);
  else return true;
  return false;
}

object *NSObject_retain(object *self, SEL selector) { return (void)selector, retain(self); }
void NSObject_release(object *self, SEL selector) { (void)selector, release(self); }
object *NSObject_autorelease(object *self, SEL selector) { return (void)selector, autorelease(self); }
object *NSObject_class_new(object *self, SEL selector) { return (void)selector, make(self->stands_for, sizeof(object) + 256); }

/* --- autorelease pools: a stack for each thread, with a mark for each pool --- */

static __thread struct {
  object *waiting[4096];
  int count;
  int marks[256];
  int depth;
} pools;

void *objc_autoreleasePoolPush(void) {
  pools.marks[pools.depth++] = pools.count;
  return (void *)(intptr_t)pools.depth;
}

void objc_autoreleasePoolPop(void *token) {
  if ((intptr_t)token != pools.depth) violation("an autorelease pool was popped out of order");
  if ((intptr_t)token < 1 || (intptr_t)token > pools.depth) return;
  pools.depth = (int)(intptr_t)token - 1;
  while (pools.count > pools.marks[pools.depth]) release(pools.waiting[--pools.count]);
}

/* Pools that the calling thread has left open. */
int fake_open_pools(void) { return pools.depth; }

object *autorelease(void *given) {
  object *self = given;
  if (!self || self->is_immortal) return self;
  if (pools.depth == 0) violation("a %s was autoreleased with no pool in place", self->isa->name);
  else pools.waiting[pools.count++] = self;
  return self;
}

/* --- Foundation, dispatch, blocks --- */

typedef struct {
  object base;
  char *text;
} string;

typedef struct {
  object base;
  char *domain, *text;
  long code;
} error;

typedef struct {
  object base;
  object **objects;
  U count;
} array;

typedef struct {
  object base;
  void *bytes;
  U length;
} data;

object *string_of(const char *text) {
  string *made = make(&NSString_class, sizeof *made);
  made->text = strdup(text);
  return autorelease(made);
}

const char *text_of(const object *self) { return is_a(self, &NSString_class, "a text") ? ((const string *)self)->text : ""; }

object *error_of(const char *domain, long code, const char *text) {
  error *made = make(&NSError_class, sizeof *made);
  made->domain = strdup(domain);
  made->text = strdup(text);
  made->code = code;
  return autorelease(made);
}

object *array_of(object *const *objects, U count) {
  array *made = make(&NSArray_class, sizeof *made);
  made->objects = calloc(count + 1, sizeof *objects);
  made->count = count;
  for (U i = 0; i < count; i++) made->objects[i] = objects ? retain(objects[i]) : NULL;
  return (object *)made;
}

const void *bytes_of(const object *self, U *length) {
  *length = ((const data *)self)->length;
  return ((const data *)self)->bytes;
}

object *NSString_class_stringWithUTF8String_(object *self, SEL selector, const char *text) {
  (void)self, (void)selector;
  if (!text) violation("stringWithUTF8String: of NULL");
  return string_of(text ? text : "");
}
const char *NSString_UTF8String(object *self, SEL selector) { return (void)selector, ((string *)self)->text; }
U NSString_length(object *self, SEL selector) { return (void)selector, strlen(((string *)self)->text); }
U NSArray_count(object *self, SEL selector) { return (void)selector, ((array *)self)->count; }
object *NSArray_objectAtIndex_(object *self, SEL selector, U index) {
  (void)selector;
  if (index < ((array *)self)->count) return ((array *)self)->objects[index];
  violation("objectAtIndex: %lu of %lu", index, ((array *)self)->count);
  return NULL;
}
object *NSError_domain(object *self, SEL selector) { return (void)selector, string_of(((error *)self)->domain); }
long NSError_code(object *self, SEL selector) { return (void)selector, ((error *)self)->code; }
object *NSError_localizedDescription(object *self, SEL selector) { return (void)selector, string_of(((error *)self)->text); }
object *NSURL_class_fileURLWithPath_(object *self, SEL selector, object *path) {
  (void)self, (void)selector;
  string *made = make(&NSURL_class, sizeof *made);
  made->text = strdup(text_of(path));
  return autorelease(made);
}
object *NSURL_path(object *self, SEL selector) { return (void)selector, string_of(((string *)self)->text); }

object *dispatch_data_create(const void *bytes, unsigned long length, object *queue, void *destructor) {
  (void)queue;
  if (destructor) violation("dispatch_data_create with a destructor that the fake does not know");
  data *made = make(&OS_dispatch_data_class, sizeof *made);
  made->bytes = malloc(length + 1);
  memcpy(made->bytes, bytes, length);
  made->length = length;
  return (object *)made;
}

void *_NSConcreteStackBlock[32], *_NSConcreteGlobalBlock[32];

block *copy_block(block *given) {
  if (!given || (given->isa != _NSConcreteStackBlock && given->isa != _NSConcreteGlobalBlock)) {
    violation("a block whose isa is no class of blocks");
    return NULL;
  }
  unsigned long size = given->descriptor->size;
  if (size < sizeof(block) || size > 4096) violation("a block of %lu bytes", size);
  else if (given->flags & 1 << 25) violation("a block with a copy helper, which the fake does not run");
  else if (given->flags & 1 << 30) violation("a block with a signature, which its descriptor must then hold");
  else return memcpy(malloc(size), given, size);
  return NULL;
}

/* What dies in Foundation: the objects of an array. */
void dealloc_foundation(object *dying) {
  if (dying->isa != &NSArray_class) return;
  for (U i = 0; i < ((array *)dying)->count; i++) release(((array *)dying)->objects[i]);
}
