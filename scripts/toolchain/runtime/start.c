/*
 * The start of a program, in place of wasi-libc's: constructors are called here, so that the linker does not call them at each function that is
 * exported, and the function for addresses outside memory is imported by every program.
 */
#include <stdlib.h>
#include <unistd.h>
#include <wasi/api.h>

extern void __wasm_call_ctors(void);
extern void __wasm_call_dtors(void);
extern int __original_main(void);

/* The index in memory of an address outside it: of managed memory. The lowering of addresses calls it; see src/program/lower. */
__attribute__((import_module("cumetal"), import_name("outside"))) int __cumetal_outside(long address);

__attribute__((export_name("__cumetal_keep"))) int __cumetal_keep(long address) { return __cumetal_outside(address); }

/*
 * Folders are granted by absolute names, among which a relative path has no meaning without this. It runs behind the constructor that finds the
 * folders, whose priority is 51, and before those of the program, which may open files.
 */
__attribute__((constructor(52))) static void enter_current_folder(void) {
  const char *folder = getenv("PWD");
  if (folder) chdir(folder);
}

__attribute__((export_name("_start"))) void _start(void) {
  __wasm_call_ctors();
  int code = __original_main();
  __wasm_call_dtors();
  if (code != 0) __wasi_proc_exit((__wasi_exitcode_t)code);
}
