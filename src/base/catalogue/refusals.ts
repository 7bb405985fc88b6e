import { entries } from './entry.ts';

/** CM20xx: legal PTX that cannot be compiled exactly, and why. */
export const refusals = entries({
  CM2001: {
    severity: 'error',
    title: 'instruction not supported',
    message: '`{instruction}` is not supported',
    page: 'The instruction is legal PTX, and this version of the compiler has no exact way to say it. It is refused rather than approximated.',
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
});
