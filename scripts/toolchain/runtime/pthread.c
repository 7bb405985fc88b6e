/*
 * POSIX threads on a machine that has one thread: a new thread runs to its end where it is created, so that joining it finds its result. A
 * program whose threads wait for one another has no order in which that works; it is stopped with a message instead of waiting for ever.
 * Source: POSIX.1-2017, <pthread.h>.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void stop(const char *what) {
  fprintf(stderr, "%s would wait for ever: threads of this program run one after the other, each where it is created\n", what);
  abort();
}

struct __pthread {
  void *result;
};

static struct __pthread first;
static struct __pthread *current = &first;

int __cumetal_is_first_thread(void) { return current == &first; }
void *__cumetal_call_thread(void *(*start)(void *), void *argument);

#define key_count 128
static struct {
  int is_used;
  void (*destroy)(void *);
  void *value;
} keys[key_count];

/* The values of keys belong to the thread: a new one begins without any, and its destructors run at its end. */
static void run_thread(struct __pthread *thread, void *(*start)(void *), void *argument) {
  void *outer[key_count];
  struct __pthread *before = current;
  for (int i = 0; i < key_count; i++) {
    outer[i] = keys[i].value;
    keys[i].value = 0;
  }
  current = thread;
  thread->result = __cumetal_call_thread(start, argument);
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < key_count; i++) {
      void *value = keys[i].value;
      keys[i].value = 0;
      if (value && keys[i].destroy) keys[i].destroy(value);
    }
  current = before;
  for (int i = 0; i < key_count; i++) keys[i].value = outer[i];
}

int pthread_create(pthread_t *restrict to, const pthread_attr_t *restrict attributes, void *(*start)(void *), void *restrict argument) {
  struct __pthread *thread = calloc(1, sizeof *thread);
  (void)attributes;
  if (!thread) return EAGAIN;
  *to = (pthread_t)thread;
  run_thread(thread, start, argument);
  return 0;
}

int pthread_join(pthread_t thread, void **result) {
  struct __pthread *ended = (struct __pthread *)thread;
  if (ended == current) return EDEADLK;
  if (result) *result = ended->result;
  free(ended);
  return 0;
}

/* A thread has ended when it can be detached by others, and is still running when it detaches itself. */
int pthread_detach(pthread_t thread) {
  struct __pthread *one = (struct __pthread *)thread;
  if (one != current) free(one);
  return 0;
}

pthread_t pthread_self(void) { return (pthread_t)current; }
int(pthread_equal)(pthread_t a, pthread_t b) { return a == b; }

int pthread_once(pthread_once_t *once, void (*run)(void)) {
  if (*once == 0) {
    *once = 1;
    run();
  }
  return 0;
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *)) {
  for (unsigned i = 0; i < key_count; i++)
    if (!keys[i].is_used) {
      keys[i].is_used = 1;
      keys[i].destroy = destroy;
      keys[i].value = 0;
      *key = i;
      return 0;
    }
  return EAGAIN;
}

int pthread_key_delete(pthread_key_t key) {
  if (key >= key_count) return EINVAL;
  keys[key].is_used = 0;
  return 0;
}

void *pthread_getspecific(pthread_key_t key) { return key < key_count ? keys[key].value : 0; }

int pthread_setspecific(pthread_key_t key, const void *value) {
  if (key >= key_count) return EINVAL;
  keys[key].value = (void *)value;
  return 0;
}

/* A mutex: its kind in the first word, how often it is locked in the second. */
int pthread_mutexattr_init(pthread_mutexattr_t *attributes) {
  attributes->__attr = 0;
  return 0;
}
int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes) {
  (void)attributes;
  return 0;
}
int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind) {
  if (kind < 0 || kind > 2) return EINVAL;
  attributes->__attr = (unsigned)kind;
  return 0;
}
int pthread_mutex_init(pthread_mutex_t *restrict mutex, const pthread_mutexattr_t *restrict attributes) {
  memset(mutex, 0, sizeof *mutex);
  if (attributes) mutex->__u.__i[0] = (int)attributes->__attr;
  return 0;
}
int pthread_mutex_destroy(pthread_mutex_t *mutex) {
  (void)mutex;
  return 0;
}
int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  if (mutex->__u.__i[1] > 0 && mutex->__u.__i[0] != PTHREAD_MUTEX_RECURSIVE) return EBUSY;
  mutex->__u.__i[1]++;
  return 0;
}
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (pthread_mutex_trylock(mutex) == 0) return 0;
  if (mutex->__u.__i[0] == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
  stop("pthread_mutex_lock");
}
int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  (void)until;
  return pthread_mutex_trylock(mutex) == 0 ? 0 : ETIMEDOUT;
}
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  if (mutex->__u.__i[1] == 0) return EPERM;
  mutex->__u.__i[1]--;
  return 0;
}

int pthread_cond_init(pthread_cond_t *restrict condition, const pthread_condattr_t *restrict attributes) {
  (void)attributes;
  memset(condition, 0, sizeof *condition);
  return 0;
}
int pthread_cond_destroy(pthread_cond_t *condition) {
  (void)condition;
  return 0;
}
int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex) {
  (void)condition, (void)mutex;
  stop("pthread_cond_wait");
}
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  (void)condition, (void)mutex, (void)until;
  return ETIMEDOUT;
}
int pthread_cond_signal(pthread_cond_t *condition) {
  (void)condition;
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t *condition) {
  (void)condition;
  return 0;
}

/* A lock of readers and writers: how many readers, or -1 for a writer. */
int pthread_rwlock_init(pthread_rwlock_t *restrict lock, const pthread_rwlockattr_t *restrict attributes) {
  (void)attributes;
  memset(lock, 0, sizeof *lock);
  return 0;
}
int pthread_rwlock_destroy(pthread_rwlock_t *lock) {
  (void)lock;
  return 0;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  if (lock->__u.__i[0] < 0) return EBUSY;
  lock->__u.__i[0]++;
  return 0;
}
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  if (lock->__u.__i[0] != 0) return EBUSY;
  lock->__u.__i[0] = -1;
  return 0;
}
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  if (pthread_rwlock_tryrdlock(lock) == 0) return 0;
  stop("pthread_rwlock_rdlock");
}
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  if (pthread_rwlock_trywrlock(lock) == 0) return 0;
  stop("pthread_rwlock_wrlock");
}
int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  if (lock->__u.__i[0] == 0) return EPERM;
  if (lock->__u.__i[0] < 0) lock->__u.__i[0] = 0;
  else lock->__u.__i[0]--;
  return 0;
}

int pthread_attr_init(pthread_attr_t *attributes) {
  memset(attributes, 0, sizeof *attributes);
  return 0;
}
int pthread_attr_destroy(pthread_attr_t *attributes) {
  (void)attributes;
  return 0;
}
int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state) {
  (void)attributes, (void)state;
  return 0;
}
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size) {
  (void)attributes, (void)size;
  return 0;
}
