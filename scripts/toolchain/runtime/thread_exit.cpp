/*
 * The end of a thread from inside its functions: an exception that only the start of the thread takes. Destructors of C++ run on its way, as
 * with GNU's C library, and a handler of every exception sees it.
 */
#include <pthread.h>
#include <stdlib.h>

namespace {
struct Exit {
  void *result;
};
}  // namespace

/* Calls a thread's function; the result is its own, or that of `pthread_exit`. */
extern "C" void *__cumetal_call_thread(void *(*start)(void *), void *argument) {
  try {
    return start(argument);
  } catch (const Exit &exit) {
    return exit.result;
  }
}

extern "C" int __cumetal_is_first_thread(void);

/* All other threads have ended when the first one ends. */
extern "C" void pthread_exit(void *result) {
  if (__cumetal_is_first_thread()) exit(0);
  throw Exit{result};
}
