/**
 * Atomics on memory that several workers share: WebAssembly's atomic instructions, and compare-and-swap loops for operations that it lacks. As in
 * PTX the address has to be a multiple of the size; others trap.
 */
import { bytesOf, type InstOf, isPointer, type ScalarType, spaceOf } from '../../ir/index.ts';
import type { NameWith } from '../../wasm/index.ts';
import { type Emitter, typeOf } from '../codegen/emitter.ts';
import { reinterpretOf } from '../codegen/mnemonics.ts';
import { withScratch } from '../codegen/scratch.ts';

/** The locals of an atomic, and the type that holds its value. */
export interface AtomicLocals {
  readonly type: 'i32' | 'i64' | 'f32' | 'f64';
  readonly address: number;
  readonly old: number;
  readonly operand: number;
}

/** Whether other workers may access the memory at a pointer; each worker has shared and local memory of its own. */
export function isShared(e: Emitter, pointer: InstOf<'atomic'>['a']): boolean {
  const type = typeOf(e, pointer);
  const space = isPointer(type) ? spaceOf(type) : 'global';
  return e.host.isShared && !e.sanitizer && space !== 'shared' && space !== 'local';
}

const direct: Partial<Record<InstOf<'atomic'>['rmw'], 'add' | 'and' | 'or' | 'xor' | 'xchg'>> = {
  add: 'add',
  and: 'and',
  or: 'or',
  xor: 'xor',
  exch: 'xchg',
};

/** The atomic instruction of an operation; undefined where WebAssembly has none. */
export const directAtomic = (rmw: InstOf<'atomic'>['rmw'], type: AtomicLocals['type']): NameWith<'memory'> | undefined =>
  (type === 'i32' || type === 'i64') && direct[rmw] ? `${type}.atomic.rmw.${direct[rmw]}` : undefined;

const bytesIn = (type: AtomicLocals['type']): number => bytesOf(type);
/** The integer of the size of a type. */
export const bitsType = (type: AtomicLocals['type']): 'i32' | 'i64' => (bytesIn(type) === 8 ? 'i64' : 'i32');
const isFloat = (type: AtomicLocals['type']): type is 'f32' | 'f64' => type === 'f32' || type === 'f64';

/** Writes an atomic instruction; sets the local of the old value. */
export function writeDirect({ code }: Emitter, name: NameWith<'memory'>, { type, address, operand, old }: AtomicLocals): void {
  code.at('local.get', address);
  code.at('local.get', operand);
  code.access(name, bytesIn(type));
  code.at('local.set', old);
}

/** Replaces memory that equals the local `operand` by the local `replacement`, atomically; sets the local of the old value. */
export function writeOneSwap(e: Emitter, locals: AtomicLocals, replacement: number): void {
  const { code } = e;
  const { type, address, operand, old } = locals;
  // Floats are compared by value, not by bits.
  if (isFloat(type)) {
    return writeSwaps(
      e,
      locals,
      () => code.at('local.get', replacement),
      () => {
        code.at('local.get', operand);
        code.at('local.get', old);
        code.op(`${type}.eq`);
      },
    );
  }
  for (const local of [address, operand, replacement]) code.at('local.get', local);
  code.access(`${type}.atomic.rmw.cmpxchg`, bytesIn(type));
  code.at('local.set', old);
}

/**
 * A compare-and-swap loop: replaces memory by the value that `pushNew` computes from the local of the old value, and repeats until no other worker
 * has written in between. `pushCondition` pushes whether to write at all. Sets the local of the old value.
 */
export function writeSwaps(e: Emitter, locals: AtomicLocals, pushNew: () => void, pushCondition?: () => void): void {
  const { code } = e;
  const { type, address, old } = locals;
  const bits = bitsType(type);
  withScratch(e, bits, 2, ([before, seen]) => {
    code.at('local.get', address);
    code.access(`${bits}.load`, 1);
    code.at('local.set', before);
    code.open('block');
    code.open('loop');
    code.at('local.get', before);
    if (isFloat(type)) code.op(reinterpretOf[bits]);
    code.at('local.set', old);
    if (pushCondition) {
      pushCondition();
      code.op('i32.eqz');
      code.at('br_if', 1);
    }
    code.at('local.get', address);
    code.at('local.get', before);
    pushNew();
    if (isFloat(type)) code.op(reinterpretOf[type]);
    code.access(`${bits}.atomic.rmw.cmpxchg`, bytesIn(type));
    code.at('local.tee', seen);
    code.at('local.get', before);
    code.at('local.get', seen);
    code.at('local.set', before);
    code.op(`${bits}.ne`);
    code.at('br_if', 0);
    code.end();
    code.end();
  });
}

const accesses: Record<number, readonly [load: NameWith<'memory'>, store: NameWith<'memory'>]> = {
  1: ['i32.atomic.load8_u', 'i32.atomic.store8'],
  2: ['i32.atomic.load16_u', 'i32.atomic.store16'],
  4: ['i32.atomic.load', 'i32.atomic.store'],
  8: ['i64.atomic.load', 'i64.atomic.store'],
};

/** Whether an access is a strong operation on memory that workers share, which needs WebAssembly's atomic instructions. */
export const isStrong = (e: Emitter, inst: InstOf<'load'> | InstOf<'store'>): boolean => inst.volatile && isShared(e, inst.addr);

/** Loads an element atomically from the address on the stack. */
export function loadStrong({ code }: Emitter, element: ScalarType, offset: number): void {
  const bytes = bytesOf(element);
  code.access(accesses[bytes]![0], bytes, offset);
  if (element === 'f32' || element === 'f64') code.op(reinterpretOf[bytes === 8 ? 'i64' : 'i32']);
}

/** Stores the element on the stack atomically; its address is below it. */
export function storeStrong({ code }: Emitter, element: ScalarType, offset: number): void {
  const bytes = bytesOf(element);
  if (element === 'f32' || element === 'f64') code.op(reinterpretOf[element]);
  code.access(accesses[bytes]![1], bytes, offset);
}
