/*
 * `setjmp` and `longjmp` by exceptions of WebAssembly: the compiler turns calls of both into calls of these functions and a handler in the
 * function that called `setjmp`. Source: LLVM, WebAssemblyLowerEmscriptenEHSjLj.cpp, "Setjmp/longjmp handling".
 */
#include <setjmp.h>
#include <stdint.h>

struct jump {
  /* The call of the function that called `setjmp`, and which of its calls of `setjmp` this is. */
  void *caller;
  uint32_t label;
  /* What the handler reads. */
  struct {
    void *buffer;
    int value;
  } thrown;
};

_Static_assert(sizeof(struct jump) <= sizeof(jmp_buf), "a jump fits into its buffer");

/* The tags of exceptions that the compiler knows by number: 0 is of C++. */
enum { longjmp_tag = 1 };

void __wasm_setjmp(void *buffer, uint32_t label, void *caller) {
  struct jump *jump = buffer;
  jump->caller = caller;
  jump->label = label;
}

uint32_t __wasm_setjmp_test(void *buffer, void *caller) {
  struct jump *jump = buffer;
  return jump->caller == caller ? jump->label : 0;
}

_Noreturn void __wasm_longjmp(void *buffer, int value) {
  struct jump *jump = buffer;
  jump->thrown.buffer = buffer;
  jump->thrown.value = value ? value : 1;
  __builtin_wasm_throw(longjmp_tag, &jump->thrown);
}
