/** Accesses in WGSL. Memory is an array of words for each space, and an address is an offset in bytes, of which the low word counts. */
import {
  type AtomicOp,
  bitsOf,
  bytesOf,
  elementOf,
  flushesSubnormals,
  type InstOf,
  isPointer,
  isVector,
  lanesOf,
  type PointerType,
  type ScalarType,
  spaceOf,
  type Type,
  type Value,
} from '../../ir/index.ts';
import { peeled, type Terms } from '../addresses.ts';
import { atom, type Expression, made, strength } from '../expression.ts';
import type { Printer, Rules } from '../language.ts';
import { bitcast } from './floats.ts';
import { readWord, type Store, storeKey, writeWord } from './helpers/memory.ts';
import { call, infix, isWide, part, typeName, type WgslState, word } from './types.ts';

/** A place: its memory, and its address in bytes as a sum. */
interface Address extends Terms {
  readonly store: Store;
  /** The address that the sum is added to. */
  readonly base: Expression | undefined;
}

/** What an address through a parameter is added to: a parameter by value has its place in the words of the launch. */
function ofParam(p: Printer, { stores, offsets }: WgslState, index: number): Pick<Address, 'store' | 'base'> & { readonly start: bigint } {
  if (p.kernel.params[index]!.kind === 'value') return { store: stores.param, base: undefined, start: BigInt(offsets[index]!) };
  return { store: stores.global, base: part(atom(p.parameter(index)), 'x'), start: 0n };
}

/** Where an access is. */
function addressOfAccess(p: Printer, state: WgslState, value: Value): Address {
  const { stores } = state;
  const place = p.addresses.places.get(value)!;
  switch (place.kind) {
    case 'scalar': {
      const { start, ...of } = ofParam(p, state, place.param);
      return { ...of, terms: [], constant: start };
    }
    case 'element': {
      const size = BigInt(bytesOf(p.addresses.elements.get(place.param)!));
      const terms = place.terms.map((term) => ({ value: term.value, scale: term.scale * size }));
      const { start, ...of } = ofParam(p, state, place.param);
      return { ...of, terms, constant: start + place.constant * size };
    }
    case 'window': {
      const base = place.space === 'local' && state.hasLocalStart ? atom('local_start') : undefined;
      return { store: stores[place.space], base, terms: place.terms, constant: place.constant };
    }
    case 'pointer': {
      const root = p.kernel.insts[place.pointer]!;
      if (root.op === 'param' && p.kernel.params[root.index]!.kind !== 'threadgroup') {
        const { start, ...of } = ofParam(p, state, root.index);
        return { ...of, terms: place.terms, constant: start + place.constant };
      }
      const space = spaceOf(p.typeOf(place.pointer) as PointerType);
      const store = space === 'param' ? stores.param : stores.global;
      return { store, base: part(p.use(place.pointer), 'x'), terms: place.terms, constant: place.constant };
    }
  }
}

/** The low word of a term. */
function lowWord(p: Printer, value: Value): Expression {
  const inner = peeled(p.kernel, value);
  return inner === value && isWide(p.typeOf(value)) ? part(p.use(value), 'x') : p.use(inner);
}

/** A sum of terms over a unit, which divides all of them. */
function sum(p: Printer, { terms, constant }: Terms, start: Expression | undefined, unit: bigint): Expression {
  let result = start;
  for (const { value, scale } of terms) {
    const factor = BigInt.asIntN(32, scale) / unit;
    const size = factor < 0n ? -factor : factor;
    const one = lowWord(p, value);
    const term = size === 1n ? one : infix('*', one, word(size));
    if (factor < 0n) result = infix('-', result ?? atom('0u'), term);
    else result = result ? infix('+', result, term) : term;
  }
  const rest = BigInt.asIntN(32, constant) / unit;
  if (rest === 0n) return result ?? atom('0u');
  if (!result) return word(BigInt.asUintN(32, rest));
  return infix(rest < 0n ? '-' : '+', result, word(rest < 0n ? -rest : rest));
}

/** The index of the first word. */
function wordIndex(p: Printer, address: Address): Expression {
  const { base, terms, constant } = address;
  const isWhole = [...terms.map(({ scale }) => scale), constant].every((n) => n % 4n === 0n);
  if (isWhole) return sum(p, address, base && infix('>>', base, atom('2u')), 4n);
  return infix('>>', sum(p, address, base, 1n), atom('2u'));
}

const byteAddress = (p: Printer, address: Address): Expression => sum(p, address, address.base, 1n);

/** A name for an expression that is used several times. */
function named(p: Printer, wanted: string, expression: Expression): Expression {
  if (/^\w+$/.test(expression.text)) return expression;
  const name = p.names.unique(wanted);
  p.lines.add(`let ${name} = ${expression.text};`);
  return atom(name);
}

/** A helper on a store, and its call. */
const helped = (p: Printer, store: Store, what: string, ...parts: Expression[]): Expression =>
  call(p.helper(storeKey(what, store)), ...parts);

/** How many bytes an access reaches at a time, of an element: those of a word, or of its alignment below. */
const stepOf = (element: Type, align: number): number => Math.min(bytesOf(element), align, 4);

/** Words or parts of words of an element, from an address in bytes. */
function elementWord(p: Printer, store: Store, at: Expression, element: ScalarType, align: number, offset: number): Expression {
  const bits = Math.min(32, bitsOf(element));
  const step = stepOf(element, align);
  const place = offset === 0 ? at : infix('+', at, word(BigInt(offset)));
  return helped(p, store, `load${bits}${step < bits / 8 ? `_by${step}` : ''}`, place);
}

function load(p: Printer, state: WgslState, inst: InstOf<'load'>, value: Value): Expression {
  const { type, align } = inst;
  if (isPointer(type)) return p.refuse(value, 'a load of a pointer', 'pointers are loaded as integers');
  const element = elementOf(type);
  if (bitsOf(type) > 128) return p.refuse(value, 'an access of 256 bits', 'WGSL has vectors of four words');
  const address = addressOfAccess(p, state, value);
  const reads = (expression: Expression): Expression => ({ ...expression, reads: address.store.name !== 'launch' });
  const lanes = lanesOf(type);
  if (bytesOf(element) < 4 || align < 4) {
    const at = lanes * bitsOf(element) > 32 ? named(p, 'at', byteAddress(p, address)) : byteAddress(p, address);
    const parts = Array.from({ length: lanes * Math.max(1, bitsOf(element) / 32) }, (_, i) =>
      elementWord(p, address.store, at, element, align, i * Math.min(4, bytesOf(element))),
    );
    return reads(assembled(type, parts));
  }
  const count = bytesOf(type) / 4;
  const first = count > 1 ? named(p, 'at', wordIndex(p, address)) : wordIndex(p, address);
  const parts = Array.from({ length: count }, (_, i) => {
    const at = i === 0 ? first : infix('+', first, word(BigInt(i)));
    return made(readWord(address.store, at.text), strength.primary, [at]);
  });
  return reads(assembled(type, parts));
}

function store(p: Printer, state: WgslState, inst: InstOf<'store'>, value: Value): undefined {
  const type = p.typeOf(inst.value);
  const element = elementOf(type);
  const address = addressOfAccess(p, state, value);
  const count = lanesOf(type) * Math.max(1, bitsOf(element) / 32);
  const from = count > 1 ? named(p, 'from', p.use(inst.value)) : p.use(inst.value);
  const words = partsOf(type, from, count);
  if (bytesOf(element) < 4 || inst.align < 4) {
    const at = count > 1 ? named(p, 'at', byteAddress(p, address)) : byteAddress(p, address);
    const bits = Math.min(32, bitsOf(element));
    const step = stepOf(element, inst.align);
    words.forEach((each, i) => {
      const place = i === 0 ? at : infix('+', at, word(BigInt((i * bits) / 8)));
      p.lines.add(`${helped(p, address.store, `store${bits}${step < bits / 8 ? `_by${step}` : ''}`, place, each).text};`);
    });
    return undefined;
  }
  const first = count > 1 ? named(p, 'at', wordIndex(p, address)) : wordIndex(p, address);
  words.forEach((each, i) => {
    const at = i === 0 ? first : infix('+', first, word(BigInt(i)));
    p.lines.add(writeWord(address.store, at.text, each.text));
  });
  return undefined;
}

function atomic(p: Printer, state: WgslState, inst: InstOf<'atomic'>, value: Value): Expression | undefined {
  const { type, rmw } = inst;
  const bits = bitsOf(type);
  const address = addressOfAccess(p, state, value);
  if (!address.store.isAtomic) return p.refuse(value, 'an atomic in local or constant memory', 'WGSL has none there');
  if (bits === 8) return p.refuse(value, 'an atomic of 8 bits', 'WGSL has atomics of 32 bits');
  if (bits === 64) return wideAtomic(p, inst, address);
  const given = bitcast(type, bits === 16 ? 'i16' : 'i32', p.use(inst.b));
  const back = (result: Expression): Expression => bitcast(bits === 16 ? 'i16' : 'i32', type, { ...result, reads: true });
  const native = bits === 32 ? natives[rmw] : undefined;
  if (native) return back(call(native, atom(`&${address.store.name}[${wordIndex(p, address).text}]`), given));
  const update = rmw !== 'fadd' ? rmw : flushesSubnormals(p.kernel, inst) ? 'fadd.flush' : `fadd.${type}`;
  if (bits === 16 && ['inc', 'dec', 'smin', 'smax'].includes(rmw))
    return p.refuse(value, 'an atomic of 16 bits', 'WGSL has atomics of 32 bits');
  return back(helped(p, address.store, `atomic_${update}${bits === 16 ? '_16' : ''}`, byteAddress(p, address), given));
}

/** Both words for themselves: a sum or a bitwise operation without a result, where the kernel has no other of 64 bits (`turns.ts`). */
function wideAtomic(p: Printer, inst: InstOf<'atomic'>, address: Address): undefined {
  const native = natives[inst.rmw];
  const isSum = inst.rmw === 'add';
  const given = named(p, 'from', p.use(inst.b));
  const at = named(p, 'at', wordIndex(p, address));
  const place = (i: number): string => `&${address.store.name}[${at.text}${i === 0 ? '' : ' + 1u'}]`;
  if (!isSum) {
    for (const i of [0, 1]) p.lines.add(`${native}(${place(i)}, ${part(given, 'xy'[i]!).text});`);
    return undefined;
  }
  const old = p.names.unique('low');
  p.lines.add(`let ${old} = atomicAdd(${place(0)}, ${part(given, 'x').text});`);
  p.lines.add(`atomicAdd(${place(1)}, ${part(given, 'y').text} + select(0u, 1u, (${old} + ${part(given, 'x').text}) < ${old}));`);
  return undefined;
}

function cas(p: Printer, state: WgslState, inst: InstOf<'cas'>, value: Value): Expression {
  const bits = bitsOf(inst.type);
  const address = addressOfAccess(p, state, value);
  if (!address.store.isAtomic) return p.refuse(value, 'an atomic in local or constant memory', 'WGSL has none there');
  if (bits !== 32 && bits !== 16) return p.refuse(value, `a compare-and-swap of ${bits} bits`, 'WGSL has atomics of 32 bits');
  const of = (each: Value): Expression => bitcast(inst.type, bits === 16 ? 'i16' : 'i32', p.use(each));
  const result = helped(p, address.store, bits === 16 ? 'cas16' : 'cas', byteAddress(p, address), of(inst.b), of(inst.c));
  return bitcast(bits === 16 ? 'i16' : 'i32', inst.type, { ...result, reads: true });
}

/** The rules, for a kernel with this memory. */
export const memoryRules = (state: WgslState) =>
  ({
    load: (p, inst, value) => load(p, state, inst, value),
    store: (p, inst, value) => store(p, state, inst, value),
    atomic: (p, inst, value) => atomic(p, state, inst, value),
    cas: (p, inst, value) => cas(p, state, inst, value),
  }) satisfies Partial<Rules>;

const natives: Partial<Record<AtomicOp, string>> = {
  add: 'atomicAdd',
  and: 'atomicAnd',
  or: 'atomicOr',
  xor: 'atomicXor',
  exch: 'atomicExchange',
  umin: 'atomicMin',
  umax: 'atomicMax',
};

/** A value of words, or of parts of words. */
function assembled(type: Type, parts: readonly Expression[]): Expression {
  const element = elementOf(type);
  const each = element === 'f32' ? parts.map((one) => call('bitcast<f32>', one)) : parts;
  if (each.length === 1) return each[0]!;
  return call(isVector(type) ? typeName(type) : 'u64', ...each);
}

/** The words of a value, or the parts of words. */
function partsOf(type: Type, from: Expression, count: number): Expression[] {
  const isFloat = elementOf(type) === 'f32';
  return Array.from({ length: count }, (_, i) => {
    const one = count === 1 ? from : part(from, 'xyzw'[i]!);
    return isFloat ? call('bitcast<u32>', one) : one;
  });
}
