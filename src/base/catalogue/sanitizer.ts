/** The words of what the sanitizer finds. */
import { entries } from './entry.ts';

const onlyThere = 'What the sanitizer looks for, and what it cannot see, is told in `docs/sanitizer.md`.';

/** CM61xx: what `cumetal run --sanitize` finds. */
export const sanitizer = entries({
  CM6101: {
    severity: 'error',
    title: 'out of bounds',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, {place}',
    page: `The address is outside of the memory that the access may reach: the buffer of the argument or the variable that the pointer comes from, or, where that is not known, all buffers. A read gives zeros and a write is lost, and the launch goes on. ${onlyThere}`,
  },
  CM6102: {
    severity: 'error',
    title: 'misaligned access',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, which is no multiple of {align}: {place}',
    page: `PTX wants the address of an access to be a multiple of its size, of a vector access of the size of the vector (5.4.5, 6.4.1). On a GPU the launch fails; here the access is done as it stands. ${onlyThere}`,
  },
  CM6103: {
    severity: 'error',
    title: 'use after free',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, {place}',
    page: `The address is in a buffer that was freed. While launches are watched, freed buffers are not given out again until 256 MiB of them have gathered, so that this is seen. A read gives zeros and a write is lost. ${onlyThere}`,
  },
  CM6104: {
    severity: 'error',
    title: 'null pointer',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}: a null pointer, or close to one',
    page: `Nothing is in the first 64 KiB of the address space. A read gives zeros and a write is lost. ${onlyThere}`,
  },
  CM6110: {
    severity: 'error',
    title: 'memory that nothing has written',
    message: 'kernel `{kernel}` reads {size} bytes at {address} that nothing has written, {place}',
    page: `Shared memory holds nothing when a block starts, and a buffer nothing when it is allocated, until the host or a kernel writes it; what a launch file or \`--arg\` fills with zeros is written. Bytes are told of once, then they count as written. ${onlyThere}`,
  },
  CM6120: {
    severity: 'error',
    title: 'race in a block',
    message:
      'kernel `{kernel}` {does} {size} bytes at {address}, {place}, where {other} of the same block {did} before, and nothing orders the two',
    help: 'put a barrier (`bar.sync`, `__syncthreads()`) between them',
    page: `Two threads of a block access the same bytes, one of them writes, not both are atomic or volatile, and between them is neither a barrier, nor a \`bar.warp.sync\` that both came to, nor a release by the first and an acquire by the second. A write of the value that is there already is no race. ${onlyThere}`,
  },
  CM6121: {
    severity: 'error',
    title: 'race between blocks',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, {place}, where {other} {did} before, and nothing orders the two',
    help: 'use atomics, give each block memory of its own, or make two launches of it',
    page: `Threads of two blocks access the same bytes of global memory, one of them writes, and not both are atomic or volatile. Blocks run in any order. Where there was a fence (\`membar\`, \`fence\`) behind the first access, and the second block has read something strongly and then passed a fence, the two count as ordered. A write of the value that is there already is no race. ${onlyThere}`,
  },
  CM6130: {
    severity: 'error',
    title: 'divergent barrier in a warp',
    message: 'threads of a warp of kernel `{kernel}` wait at different barriers: {here}, {there}',
    help: 'move the barrier out of the branch',
    page: `\`bar.sync\`, and every barrier that is \`.aligned\`, has to be executed by all threads of a warp together: in code that only some of them come to, it is an error (9.7.13.1). Threads that have left the kernel are not waited for, and are no error. ${onlyThere}`,
  },
  CM6131: {
    severity: 'error',
    title: 'divergent barrier in a block',
    message: 'warps of a block of kernel `{kernel}` wait at different barriers: {here}, {there}',
    help: 'let all warps of a block come to the same barrier',
    page: `A barrier is for all threads of the block: where warps wait at different instructions they let each other on, and are then in different parts of the kernel than its author thought. Threads that have left the kernel are not waited for, and are no error. ${onlyThere}`,
  },
  CM6132: {
    severity: 'error',
    title: 'thread not in its mask',
    message: 'a thread of kernel `{kernel}` executes `{what}` with the mask {mask}, which does not name its lane',
    page: `The member mask of a \`.sync\` instruction has to name the thread that executes it (9.7.9.6, 9.7.13). ${onlyThere}`,
  },
  CM6133: {
    severity: 'error',
    title: 'threads of a mask do not come',
    message: 'the mask {mask} of `{what}` in kernel `{kernel}` names {lanes}, which do not come to it together with the others',
    page: `A \`.sync\` instruction waits for all threads that its mask names and that have not left the kernel. On a GPU the launch hangs or the result is not defined; the CPU device goes on with those that are there. Threads that come to another instruction with the same mask count as not there. ${onlyThere}`,
  },
  CM6134: {
    severity: 'error',
    title: 'different masks',
    message: 'threads of a warp of kernel `{kernel}` execute `{what}` with different masks: {mask}, and lane {lane} with {other}',
    page: `All threads that a mask names have to give the same mask. ${onlyThere}`,
  },
  CM6135: {
    severity: 'error',
    title: 'deadlock',
    message: 'a thread of kernel `{kernel}` waits for ever: it reads {address}, {place}, over and over, and nothing changes',
    help: 'let no thread wait for one behind it, in its block or in a later block',
    page: `The CPU device runs the threads of a block in turn from one barrier to the next, and blocks in turn. A thread that reads the same memory in a loop (by atomics or volatile reads) until another one writes it never ends unless that one was before it. On a GPU this ends only where the two happen to run at the same time, which nothing promises for blocks. The launch is stopped. ${onlyThere}`,
  },
  CM6140: {
    severity: 'error',
    title: 'more findings',
    message: '{count} more findings in kernel `{kernel}` are not shown',
    page: 'A launch that is watched shows its first 20 findings, each with the number of times that it happened, and counts the rest.',
  },
});
