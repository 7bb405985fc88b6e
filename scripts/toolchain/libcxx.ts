/** libc++, libc++abi, the part of libunwind that raises WebAssembly's exceptions, and the arithmetic of compiler-rt that the target lacks. */
import type { Unit } from './libc.ts';

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

const cxx = words(`algorithm any bind call_once charconv chrono error_category exception expected filesystem/filesystem_clock
  filesystem/filesystem_error filesystem/path functional hash memory memory_resource new_handler new_helpers optional print random_shuffle
  ryu/d2fixed ryu/d2s ryu/f2s stdexcept string system_error typeinfo valarray variant vector verbose_abort atomic barrier
  condition_variable_destructor condition_variable future mutex_destructor mutex shared_mutex thread random fstream ios ios.instantiations
  iostream locale ostream regex strstream filesystem/directory_entry filesystem/directory_iterator filesystem/operations`);

const abi = words(`cxa_aux_runtime cxa_default_handlers cxa_demangle cxa_exception_storage cxa_guard cxa_handlers cxa_vector cxa_virtual
  stdlib_exception stdlib_stdexcept stdlib_typeinfo abort_message fallback_malloc private_typeinfo stdlib_new_delete cxa_exception
  cxa_personality cxa_thread_atexit`);

/** `long double` of 128 bits, integers of 128 bits, complex multiplication and division. */
const arithmetic = words(`addtf3 comparetf2 divtc3 divtf3 extenddftf2 extendhftf2 extendsftf2 fixtfdi fixtfsi fixtfti fixunstfdi fixunstfsi
  fixunstfti floatditf floatsitf floattitf floatunditf floatunsitf floatuntitf multc3 multf3 powitf2 subtf3 trunctfdf2 trunctfhf2 trunctfsf2
  ashlti3 ashrti3 lshrti3 clzti2 ctzti2 popcountti2 parityti2 ffsti2 cmpti2 ucmpti2 divti3 modti3 udivti3 umodti3 udivmodti4 divmodti4 multi3
  muloti4 mulvti3 negti2 absvti2 addvti3 subvti3 fixdfti fixsfti fixunsdfti fixunssfti floattidf floattisf floatuntidf floatuntisf
  divdc3 divsc3 muldc3 mulsc3 extendhfsf2 extendhfdf2 truncsfhf2 truncdfhf2 powidf2 powisf2 fp_mode int_util`);

export const arithmeticUnits: readonly Unit[] = arithmetic.map((name) => ({
  path: `compiler-rt/lib/builtins/${name}.c`,
  flags: ['-I/src/compiler-rt/lib/builtins', '-fno-builtin', '-std=gnu17', '-x', 'c'],
}));

const cxxFlags = [
  '-std=c++23',
  '-fcxx-exceptions',
  '-fexceptions',
  '-D_LIBCPP_BUILDING_LIBRARY',
  '-DLIBCXX_BUILDING_LIBCXXABI',
  '-DDT_SOCK=12',
];
const folders = ['-I/src/libcxx/src', '-I/src/libcxxabi/include', '-I/src/libunwind/include', '-I/src/libcxxabi/src', '-I/src/libc'];

export const cxxUnits: readonly Unit[] = cxx.map((name) => ({
  path: `libcxx/src/${name}.cpp`,
  // libc++abi defines `new` and `delete`.
  flags: [...cxxFlags, '-D_LIBCPP_DISABLE_NEW_DELETE_DEFINITIONS', '-DLIBC_NAMESPACE=__llvm_libc_common_utils', ...folders, '-x', 'c++'],
}));

export const abiUnits: readonly Unit[] = [
  ...abi.map((name) => ({
    path: `libcxxabi/src/${name}.cpp`,
    flags: [...cxxFlags, '-D_LIBCXXABI_BUILDING_LIBRARY', ...folders, '-x', 'c++'],
  })),
  {
    path: 'libunwind/src/Unwind-wasm.c',
    flags: ['-std=gnu17', '-fexceptions', '-D_LIBUNWIND_HIDE_SYMBOLS', '-D__WASM_EXCEPTIONS__', '-I/src/libunwind/include', '-x', 'c'],
  },
];
