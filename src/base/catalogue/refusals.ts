/** The words of refusals. */
import { entries } from './entry.ts';

/** CM20xx: legal PTX that cannot be compiled exactly, and why. */
export const refusals = entries({
  CM2001: {
    severity: 'error',
    title: 'instruction not supported',
    message: '`{instruction}` is not supported',
    page: 'The instruction is legal PTX, and this version of the compiler has no exact way to say it. It is refused rather than approximated.',
  },
  CM2002: {
    severity: 'error',
    title: 'special register not supported',
    message: 'special register `{name}` is not supported',
    page: 'The register is legal PTX, and this version has no exact value for it on every device.',
  },
  CM2040: {
    severity: 'error',
    title: 'function call',
    message: '{what} is not supported: {why}',
    page: 'Calls of functions whose body is in the module are compiled, each by a copy of the body in place of the call. A call through a pointer needs the address of code, and a function of another module a linker; AIR kernels have neither. Functions that no entry calls are not compiled.',
  },
  CM2041: {
    severity: 'error',
    title: 'recursion',
    message: 'functions that call themselves are not supported: {cycle}',
    help: 'write it as a loop, with a `.local` array in place of the stack where one is needed',
    page: 'Calls are compiled by copies of the bodies of functions, which has no end where a function comes to call itself. AIR kernels have no stack that would grow with the depth of the calls.',
  },
  CM2042: {
    severity: 'error',
    title: 'variable of a space not supported',
    message: 'variable `{name}` in `.{space}` memory is not supported',
    help: 'pass the memory as a kernel parameter',
    page: 'Module variables in global memory live as long as the module, and a Metal library has no place for them yet. Shared, constant and local variables are supported.',
  },
  CM2043: {
    severity: 'error',
    title: 'initial value',
    message: 'the initial value of `{name}` cannot be laid out: {why}',
    page: 'Constant memory is compiled into the library, so its initial values must be numbers of the type of the variable.',
  },
  CM2044: {
    severity: 'error',
    title: 'space of a pointer parameter',
    message: 'parameter `{name}` points to `.{space}` memory, which a host cannot hand over',
    page: 'A pointer parameter is bound as a device buffer, which is global memory. Shared memory belongs to a threadgroup and constant memory to the module.',
  },
  CM2045: {
    severity: 'error',
    title: 'type not supported',
    message: '`{name}` has type `.{type}`, which is not supported',
    page: 'Registers of 128 bits, textures, samplers and surfaces have no counterpart in this version of the compiler.',
  },
  CM2046: {
    severity: 'error',
    title: 'pointer or number',
    message: 'it cannot be told which of `{a}` and `{b}` is the pointer in this sum',
    help: 'declare the pointer with `.ptr .global`, or make its address with `cvta.to.global`',
    page: 'PTX declares pointers as plain 64-bit integers. The compiler takes as pointers the parameters from which addresses are made; where an address is the sum of two parameters and nothing else tells them apart, it refuses to guess, because a number bound as a buffer gives wrong results.',
  },
  CM2047: {
    severity: 'error',
    title: '32-bit addresses',
    message: 'modules with 32-bit addresses are not supported',
    help: 'compile for `.address_size 64`',
    page: 'Device buffers have 64-bit addresses on every target. CUDA itself dropped 32-bit device code in CUDA 9.',
  },
  CM2048: {
    severity: 'error',
    title: 'variable of another module',
    message: 'variable `{name}` is declared `.extern` and defined in no module given',
    page: 'Modules are compiled one by one and not linked. Only unsized `.extern .shared` arrays, which stand for the dynamic shared memory of a launch, need no definition.',
  },
  CM2049: {
    severity: 'error',
    title: 'operand not supported',
    message: 'operand `{operand}` is not supported here: {why}',
    page: 'The operand is legal PTX and has no counterpart in this version of the compiler.',
  },
  CM2050: {
    severity: 'error',
    title: 'size or alignment',
    message: '`{name}` cannot be laid out: {why}',
    page: 'Alignments are powers of two. Only an `.extern .shared` array may leave its size open. CUDA gives 65536 bytes of constant memory to a module, 524288 bytes of local memory to a thread and 32764 bytes of parameters to a kernel.',
  },
  CM2060: {
    severity: 'error',
    title: 'too many calls',
    message:
      'kernel `{kernel}` has more than {limit} instructions with the bodies of the functions that it calls; `{name}` has most of them',
    help: 'call the function from a loop rather than from several places',
    page: 'A call is compiled by a copy of the body of the function, so that functions that call one another from several places grow with every level. The bound keeps compiling in time and memory.',
  },
  CM2090: {
    severity: 'error',
    title: 'target cannot say it',
    message: '{what} has no exact form for {target}: {why}',
    help: '`--target cpu` compiles it for the CPU device alone where that device can run it',
    page: 'Apple GPUs, or the AIR level of the target, have no operation that gives the exact result. The compiler refuses rather than approximate.',
  },
  CM2091: {
    severity: 'error',
    title: 'f64 on an Apple target',
    message: 'f64 arithmetic cannot be compiled for {target}: Apple GPUs have no double precision',
    help: '`--fp64=native` emits double operations, which the CPU device runs and no known Apple GPU loads',
    page: 'Pipeline creation fails on every known Apple GPU as soon as a kernel holds a double operation. A double is never silently computed as a float. An exact software double is planned.',
  },
  CM2092: {
    severity: 'error',
    title: 'too many parameters',
    message: 'kernel `{kernel}` has {count} parameters, and a pipeline has 31 buffer slots',
    page: 'Each parameter of an entry takes one buffer slot. Put scalars into one struct parameter.',
  },
  CM2093: {
    severity: 'error',
    title: 'too much shared memory',
    message: 'kernel `{kernel}` declares {bytes} bytes of shared memory, and Apple GPUs have {limit}',
    page: 'A threadgroup has 32768 bytes of memory on every Apple GPU; pipeline creation fails beyond that.',
  },
  CM2094: {
    severity: 'error',
    title: 'generic address',
    message: 'the state space of this generic address cannot be determined',
    help: 'name the state space in the instruction, as in `ld.global`, or derive the address from one variable or parameter',
    page: 'AIR has no generic pointers, so each access must be known to be in one state space.',
  },
  CM2095: {
    severity: 'error',
    title: 'access to memory that is not there',
    message: 'kernel `{kernel}` accesses `.{space}` memory and names no variable in it',
    help: 'declare a `.{space}` variable and take its address, or name the state space that the address belongs to',
    page: 'An address in shared, local or constant memory is an offset into the variables of the kernel. Where it names none, no byte of that space belongs to it.',
  },
  CM2096: {
    severity: 'error',
    title: 'generic address as a number',
    message: 'this instruction takes a generic address of memory that is not global for a number',
    help: 'use the address for accesses only, or keep it in its state space (without `cvta`)',
    page: 'On an NVIDIA GPU a generic address of shared or local memory is a number in a window of its own; there is no such window here. Adding to it and accessing through it are exact, but comparing it with another number than null, storing it or computing with it would give other results.',
  },
});
