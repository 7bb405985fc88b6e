/**
 * Blocks that wait for others, in a language that does not promise that all of them run: a block whose threads do nothing but wait leaves the
 * kernel, with what its threads have in device memory, and goes on in the next dispatch. The host dispatches the grid until no block is left.
 */
import { alignUp } from '../../base/bytes.ts';
import type { Printer } from '../language.ts';

/** Words before the areas of the blocks; those of counts are zeros before each dispatch. */
export const savedHead = {
  /** Blocks that have left the dispatch and are to go on. */
  left: 0,
  /** 1 if some thread did other than wait. */
  worked: 1,
  /** 1 in all dispatches but the first. */
  isResumed: 2,
  /** Bytes of the shared memory of a block. */
  sharedBytes: 3,
  bytes: 64,
} as const;

/** States of threads from this on are at a barrier, or at the end. */
export const waitsAtBarrier = 0x4000_0000;

/** Rounds in which the threads of a block do nothing but wait, before it leaves. */
const idleRounds = 4;

/** What a thread keeps. */
export interface Saved {
  readonly threadBytes: number;
  readonly load: readonly string[];
  readonly store: readonly string[];
}

/** What a thread keeps: its variables by their declarations, its local memory, and its places in arrays of the block. */
export function savedBy(
  { addresses }: Printer,
  declarations: readonly string[],
  places: readonly (readonly [type: string, name: string])[],
): Saved {
  const variables = declarations.map((line) => {
    const [, type, name] = /^(.*?)(\w+)(?: = .*)?;$/.exec(line)!;
    return [type!.trim(), name!] as const;
  });
  const load: string[] = [];
  const store: string[] = [];
  let at = 8;
  for (const [type, name] of [...variables, ...places]) {
    const place = `*(${type} __global *)(saved + ${at})`;
    load.push(`${name} = ${place};`);
    store.push(`${place} = ${name};`);
    at += 8;
  }
  const local = addresses.windows.get('local');
  if (local && local.size > 0) {
    const loop = `for (uint at = 0; at < ${local.size}; at++)`;
    load.push(`${loop} ((uchar *)local_memory)[at] = saved[${at} + at];`);
    store.push(`${loop} saved[${at} + at] = ((uchar *)local_memory)[at];`);
    at += alignUp(local.size, 8);
  }
  return { threadBytes: at, load, store };
}

const threads = 'get_local_size(0) * get_local_size(1) * get_local_size(2)';

/** Writes where a thread keeps what it has, and how it goes on; `state` is known. */
export function writeResume({ lines, addresses }: Printer, { threadBytes, load }: Saved): void {
  const head = (word: number): string => `((__global uint *)cumetal_saved)[${word}]`;
  lines.add(`const uint shared_bytes = ${head(savedHead.sharedBytes)};`);
  lines.add('const ulong block_number = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));');
  lines.add(
    `__global uchar *saved_block = cumetal_saved + ${savedHead.bytes} + block_number * (shared_bytes + ${threads} * ${threadBytes});`,
  );
  lines.add(`__global uchar *saved = saved_block + shared_bytes + thread_number * ${threadBytes};`);
  lines.add('uint idle = 0;');
  lines.add('bool has_worked = false;');
  lines.add('bool has_left = false;');
  lines.add(`if (${head(savedHead.isResumed)} != 0) {`);
  lines.indent(() => {
    lines.add('state = *(__global uint *)saved;');
    for (const line of load) lines.add(line);
    if (addresses.windows.has('shared'))
      lines.add(
        `for (uint at = thread_number; at < shared_bytes; at += (uint)(${threads})) ((__local uchar *)shared_memory)[at] = saved_block[at];`,
      );
  });
  lines.add('}');
}

/** Writes whether a block leaves at the end of a round. */
export function writeIdle({ lines }: Printer): void {
  lines.add('if (worked[round] != 0) has_worked = true;');
  lines.add('idle = worked[round] != 0 ? 0 : idle + 1;');
  lines.add(`has_left = idle > ${idleRounds};`);
  lines.add('if (has_left) break;');
}

/** Writes what a block leaves behind. */
export function writeLeft({ lines, addresses }: Printer, { store }: Saved): void {
  lines.add('*(__global uint *)saved = state;');
  lines.add('if (has_left) {');
  lines.indent(() => {
    for (const line of store) lines.add(line);
    if (addresses.windows.has('shared'))
      lines.add(
        `for (uint at = thread_number; at < shared_bytes; at += (uint)(${threads})) saved_block[at] = ((__local uchar *)shared_memory)[at];`,
      );
    lines.add(`if (thread_number == 0) atomic_inc((volatile __global uint *)cumetal_saved + ${savedHead.left});`);
  });
  lines.add('}');
  lines.add(`if (has_worked && thread_number == 0) atomic_or((volatile __global uint *)cumetal_saved + ${savedHead.worked}, 1u);`);
}
