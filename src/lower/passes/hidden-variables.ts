/** Shared variables that lowering adds to a kernel, and how a pass recognizes them. */
import { alignUp } from '../../base/bytes.ts';
import type { Variable as IrVariable, Kernel } from '../../ir/index.ts';
import { tensorMemory } from '../../ir/tensor-memory.ts';

/**
 * Shared memory that the source does not declare; no name of PTX has such a dot in it. `word` holds the result of a reduction over the
 * threads of a block, `barriers` and `groups` the barriers for some of them (`named-barriers.ts`), `block` that of a block of a cluster, `tensor` the
 * tensor memory, in front of all others, `reserved` is the memory that a GPU reserves for system software: 288 bytes on an H200.
 */
const hidden = {
  word: { name: 'cumetal.word', size: 4, align: 4, element: 'i32' },
  barriers: { name: 'cumetal.barriers', size: 256, align: 16, element: 'i32' },
  groups: { name: 'cumetal.groups', size: 128, align: 16, element: 'i32' },
  block: { name: 'cumetal.block', size: 16, align: 16, element: 'i32' },
  tensor: { name: 'cumetal.tensor', size: tensorMemory.bytes, align: 1024, element: 'i32' },
  reserved: { name: 'cumetal.reserved', size: 288, align: 16, element: undefined },
} as const;

export type HiddenVariable = keyof typeof hidden;

/** A variable of the kernel's own, made when it is first asked for. */
export function hiddenVariable(kernel: Kernel, which: HiddenVariable): IrVariable {
  const { name } = hidden[which];
  const known = kernel.variables.find((variable) => variable.name === name);
  if (known) return known;
  const made = { ...hidden[which], space: 'shared', isDynamic: false, init: undefined } as const;
  if (which === 'tensor') kernel.variables.unshift(made);
  else kernel.variables.push(made);
  return made;
}

/** The variables of a kernel that hold words of barriers. */
export const barrierVariables = ({ variables }: Kernel): IrVariable[] => variables.filter(({ name }) => isBarrierMemory(name));

const threadName = 'cumetal.thread';

/** Memory of a thread that instructions share, of at least so many bytes. */
export function threadMemory(kernel: Kernel, bytes: number): IrVariable {
  const at = kernel.variables.findIndex(({ name }) => name === threadName);
  const known = kernel.variables[at];
  if (known && known.size >= bytes) return known;
  const made = { name: threadName, size: bytes, align: 16, element: undefined, space: 'local', isDynamic: false, init: undefined } as const;
  if (known) kernel.variables[at] = made;
  else kernel.variables.push(made);
  return made;
}

/** Bytes after which the pattern of the widest swizzle starts again. */
const patternBytes = 1024;

/**
 * Pads the hidden shared memory of a kernel with products of warp groups, so that dynamic shared memory is where it were without it, up to a whole
 * number of patterns: swizzles go by addresses, and kernels expect their memory at the start of a pattern.
 */
export function padHidden(kernel: Kernel): void {
  if (!kernel.variables.some(({ name }) => name === threadName || name === hidden.groups.name)) return;
  const own = kernel.variables.filter(({ name }) => Object.values(hidden).some((each) => each.name === name));
  const bytes = own.reduce((sum, { size }) => sum + alignUp(size, 16), 0);
  if (bytes === 0) return;
  const size = alignUp(bytes, patternBytes) - bytes;
  const name = 'cumetal.padding';
  kernel.variables.push({ name, size, align: 16, element: undefined, space: 'shared', isDynamic: false, init: undefined });
}

/** Whether the source can address a variable: its own, and reserved memory, whose address it has from a special register. */
export const isAddressable = ({ name }: IrVariable): boolean =>
  ![hidden.word.name, hidden.barriers.name, hidden.groups.name, hidden.block.name, 'cumetal.padding'].some((own) => own === name);

/** Whether a variable has words of barriers, which are zeros when a kernel starts. */
export const isBarrierMemory = (name: string): boolean =>
  [hidden.barriers.name, hidden.groups.name, hidden.block.name].some((own) => own === name);
