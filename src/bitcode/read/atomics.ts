/** Atomic accesses and fences, which AIR modules express as calls: only modules of the latest LLVM have their records. */
import { atomicOperations, memoryOrders } from '../codes.ts';
import type { Slot, Slots } from '../fields.ts';
import type { Atomicity, Instruction, MemoryOrder } from '../model.ts';
import type { blocks } from '../records.ts';
import { types as llvm } from '../types.ts';
import { type BodyReader, fault, typed, typeIn, value, word } from './body-reader.ts';
import { alignOfCode } from './symbols.ts';

type Rows = typeof blocks.function.records;
type AtomicName = 'fence' | 'loadAtomic' | 'storeAtomic' | 'cmpxchg' | 'atomicrmw';
type RowSlots = { readonly [N in AtomicName]: Slots<Rows[N]['fields']> };

/** A reader for each record, from the slots of its fields. */
export const atomicReaders = (fields: RowSlots): { readonly [N in AtomicName]: (c: BodyReader) => Instruction } => ({
  fence: (c) => ({ kind: 'instruction', number: 0, op: 'fence', type: llvm.void, atomic: atomicity(c, fields.fence) }),
  loadAtomic(c) {
    const f = fields.loadAtomic;
    const pointer = typed(c, f.pointer);
    return { kind: 'instruction', number: 0, op: 'load', type: typeIn(c, f.type), pointer, ...access(c, f), atomic: atomicity(c, f) };
  },
  storeAtomic(c) {
    const f = fields.storeAtomic;
    const [pointer, stored] = [typed(c, f.pointer), typed(c, f.value)];
    const order = atomicity(c, f);
    return { kind: 'instruction', number: 0, op: 'store', type: llvm.void, pointer, value: stored, ...access(c, f), atomic: order };
  },
  cmpxchg(c) {
    const f = fields.cmpxchg;
    const [pointer, expected] = [typed(c, f.pointer), typed(c, f.expected)];
    const replacement = value(c, f.value, expected.type);
    return {
      kind: 'instruction',
      number: 0,
      op: 'cmpxchg',
      type: llvm.struct([expected.type, llvm.i1]),
      pointer,
      expected,
      value: replacement,
      ...access(c, f),
      atomic: atomicity(c, f),
      failureOrder: orderIn(c, f.failureOrder),
      isWeak: word(c, f.weak) !== 0,
    };
  },
  atomicrmw(c) {
    const f = fields.atomicrmw;
    const [pointer, operand] = [typed(c, f.pointer), typed(c, f.value)];
    const operation = atomicOperations[word(c, f.operation)] ?? fault(c, 'an atomic operation that is not known');
    const order = atomicity(c, f);
    const shape = access(c, f);
    return {
      kind: 'instruction',
      number: 0,
      op: 'atomicrmw',
      type: operand.type,
      operation,
      pointer,
      value: operand,
      ...shape,
      atomic: order,
    };
  },
});

interface AccessSlots {
  readonly align: Slot<'word'>;
  readonly volatile: Slot<'word'>;
}

const access = (c: BodyReader, f: AccessSlots): { readonly align: number; readonly isVolatile: boolean } => ({
  align: alignOfCode(word(c, f.align), c.record.bit),
  isVolatile: word(c, f.volatile) !== 0,
});

interface OrderSlots {
  readonly order: Slot<'word'>;
  readonly scope: Slot<'word'>;
}

const atomicity = (c: BodyReader, f: OrderSlots): Atomicity => ({
  order: orderIn(c, f.order),
  scope: c.tables.scopes[word(c, f.scope)] ?? fault(c, 'a scope that is not known'),
});

const orderIn = (c: BodyReader, slot: Slot<'word'>): MemoryOrder =>
  memoryOrders[word(c, slot)] ?? fault(c, 'a memory order that is not known');
