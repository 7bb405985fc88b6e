/** Diagnostics of the sanitizer. */
import { entries } from './entry.ts';

const seeDocs = '`docs/sanitizer.md` describes what the sanitizer checks and what it cannot detect.';

/** CM61xx: the findings of `cumetal run --sanitize`. */
export const sanitizer = entries({
  CM6101: {
    severity: 'error',
    title: 'out-of-bounds access',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, {place}',
    page: `The address is outside of the memory that the pointer may access: the buffer of its argument or its variable or, if that is unknown, all buffers. The read returns zeros, the write is dropped, and the launch continues. ${seeDocs}`,
  },
  CM6102: {
    severity: 'error',
    title: 'misaligned access',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, which is not a multiple of {align}: {place}',
    page: `PTX requires the address of an access to be a multiple of its size, and of a vector access a multiple of the vector size (5.4.5, 6.4.1). On a GPU the launch fails. The sanitizer performs the access. ${seeDocs}`,
  },
  CM6103: {
    severity: 'error',
    title: 'use after free',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, {place}',
    page: `The address is in a freed buffer. To detect this, a device with sanitized launches quarantines the last 256 MiB of freed buffers. The read returns zeros, and the write is dropped. ${seeDocs}`,
  },
  CM6104: {
    severity: 'error',
    title: 'null pointer',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}: a null pointer, or close to one',
    page: `The first 64 KiB of the address space contain no memory. The read returns zeros, and the write is dropped. ${seeDocs}`,
  },
  CM6110: {
    severity: 'error',
    title: 'uninitialized read',
    message: 'kernel `{kernel}` reads {size} uninitialized bytes at {address}, {place}',
    page: `Shared memory is uninitialized when a block starts, and a buffer when it is allocated, until the host or a kernel writes it. A buffer of a launch file or of \`--arg\` is initialized, also with zeros. Each byte is reported once and then counts as initialized. ${seeDocs}`,
  },
  CM6120: {
    severity: 'error',
    title: 'race in a block',
    message:
      'kernel `{kernel}` {does} {size} bytes at {address}, {place}, where {other} of the same block {did} before without synchronization',
    help: 'add a barrier (`bar.sync`, `__syncthreads()`) between the two accesses',
    page: `Two threads of a block access the same bytes, at least one of them writes, and not both accesses are atomic or volatile. Between the accesses there is no barrier, no \`bar.warp.sync\` of both threads, and no release by the first with an acquire by the second. A write that does not change the value is not a race. ${seeDocs}`,
  },
  CM6121: {
    severity: 'error',
    title: 'race between blocks',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, {place}, where {other} {did} before without synchronization',
    help: 'use atomics, separate memory per block, or two launches',
    page: `Threads of two blocks access the same bytes of global memory, at least one of them writes, and not both accesses are atomic or volatile. Blocks run in any order. The accesses count as ordered if a fence (\`membar\`, \`fence\`) follows the first access, and the second block has executed a strong read and then a fence. A write that does not change the value is not a race. ${seeDocs}`,
  },
  CM6122: {
    severity: 'error',
    title: 'asynchronous copy that was not waited for',
    message: 'kernel `{kernel}` {does} {size} bytes at {address}, {place}, which {other} {did} without a wait for it to be complete',
    help: 'wait for the phase of the mbarrier that the copy arrives at, or for the bulk group of its thread with `cp.async.bulk.wait_group`, before the memory is used again',
    page: `A copy that a thread asks for is performed at any time until a thread has waited for it. What it writes may be accessed behind a wait for its mbarrier, by the thread that waited or behind a barrier after it. What it reads may be written after its thread has waited for its bulk group. A barrier of the block alone waits for no copy. ${seeDocs}`,
  },
  CM6123: {
    severity: 'error',
    title: 'missing fence.proxy.async',
    message:
      'kernel `{kernel}` {does} {size} bytes at {address}, {place}, by a copy, where {other} of the same block {did} before without a proxy fence',
    help: 'let each thread that writes execute `fence.proxy.async.shared::cta` before the barrier after which the copy is asked for',
    page: `A bulk copy accesses memory by the asynchronous proxy, which does not see what threads have written before a proxy fence. A barrier is none. ${seeDocs}`,
  },
  CM6130: {
    severity: 'error',
    title: 'barrier divergence in a warp',
    message: 'threads of a warp of kernel `{kernel}` wait at different barriers: {here}, {there}',
    help: 'move the barrier out of the branch',
    page: `All threads of a warp must execute \`bar.sync\` and every other \`.aligned\` barrier together; a barrier in divergent code is an error (9.7.13.1). Threads that have exited are not counted. ${seeDocs}`,
  },
  CM6131: {
    severity: 'error',
    title: 'barrier divergence in a block',
    message: 'warps of a block of kernel `{kernel}` wait at different barriers: {here}, {there}',
    help: 'execute the same barrier in all warps of the block',
    page: `A barrier synchronizes all threads of the block. Warps that wait at different barrier instructions release each other and continue at different places of the kernel. Threads that have exited are not counted. ${seeDocs}`,
  },
  CM6132: {
    severity: 'error',
    title: 'thread not in its mask',
    message: 'a thread of kernel `{kernel}` executes `{what}` with the mask {mask}, which does not include its lane',
    page: `The member mask of a \`.sync\` instruction must include the executing thread (9.7.9.6, 9.7.13). ${seeDocs}`,
  },
  CM6133: {
    severity: 'error',
    title: 'missing threads of a mask',
    message: 'the mask {mask} of `{what}` in kernel `{kernel}` includes {lanes}, which never execute it with that mask',
    page: `A \`.sync\` instruction waits for all threads of its mask that have not exited, wherever they execute an instruction of the same kind with the same mask. On a GPU the launch hangs or the result is undefined. The sanitizer continues with the threads that have arrived; without it the launch is stopped (CM6031). ${seeDocs}`,
  },
  CM6134: {
    severity: 'error',
    title: 'different masks',
    message: 'threads of a warp of kernel `{kernel}` execute `{what}` with different masks: {mask}, and lane {lane} with {other}',
    page: `All threads of a mask must use the same mask. ${seeDocs}`,
  },
  CM6135: {
    severity: 'error',
    title: 'deadlock',
    message: 'a thread of kernel `{kernel}` waits forever: it polls {address}, {place}, and the value never changes',
    help: 'do not wait for a later block',
    page: `The threads of a block that poll memory (by atomics or volatile reads) take turns with its other threads, but none of them has written anything for a while. The CPU device runs blocks one after the other, so a thread that waits for a later block waits forever. On a GPU it terminates only if both blocks run concurrently, which is not guaranteed. The launch is stopped. ${seeDocs}`,
  },
  CM6140: {
    severity: 'error',
    title: 'more findings',
    message: '{count} more findings in kernel `{kernel}` are not shown',
    page: 'A sanitized launch reports its first 20 findings, each with the number of occurrences, and counts the rest.',
  },
});
