/** Helpers on an array of words that is memory: accesses of bytes and halves, and atomics that WGSL does not have. Their names end in that of the array. */
import { fn, type Helper } from './helper.ts';

/** How a kernel has memory: an array of words, which are atomic where threads may write parts of a word at the same time. */
export interface Store {
  readonly name: string;
  readonly isAtomic: boolean;
}

export const readWord = ({ name, isAtomic }: Store, at: string): string => (isAtomic ? `atomicLoad(&${name}[${at}])` : `${name}[${at}]`);

export const writeWord = ({ name, isAtomic }: Store, at: string, value: string): string =>
  isAtomic ? `atomicStore(&${name}[${at}], ${value});` : `${name}[${at}] = ${value};`;

/** Key of a helper on a store: `load8 arena_words atomic`. */
export const storeKey = (what: string, { name, isAtomic }: Store): string => `${what} ${name} ${isAtomic ? 'atomic' : 'plain'}`;

export const nameOfStoreKey = (key: string): string => {
  const [what, name] = key.split(' ');
  return `${what!.replace('.', '_')}_${name}`;
};

/** The loop that changes a word: `update` of `old`, which is what it reads. */
const change = (store: Store, at: string, update: string): string =>
  store.isAtomic
    ? `var old = ${readWord(store, at)};
loop {
  let found = atomicCompareExchangeWeak(&${store.name}[${at}], old, ${update});
  if (found.exchanged) { break; }
  old = found.old_value;
}`
    : `let old = ${readWord(store, at)};\n${writeWord(store, at, update)}`;

const updates: Readonly<Record<string, { readonly text: string; readonly needs?: readonly string[] }>> = {
  inc: { text: 'select(old + 1u, 0u, old >= value)' },
  dec: { text: 'select(old - 1u, value, old == 0u || old > value)' },
  smin: { text: 'select(value, old, bitcast<i32>(old) < bitcast<i32>(value))' },
  smax: { text: 'select(value, old, bitcast<i32>(old) > bitcast<i32>(value))' },
  'fadd.f32': { text: 'bitcast<u32>(add_f32(bitcast<f32>(old), bitcast<f32>(value)))', needs: ['add_f32'] },
  'fadd.flush': {
    text: 'flushed(bitcast<u32>(add_f32(bitcast<f32>(flushed(old)), bitcast<f32>(flushed(value)))))',
    needs: ['add_f32', 'flushed'],
  },
};

const halves: typeof updates = {
  'fadd.f16': {
    text: 'half_of_float(add_f32(float_of_half(now), float_of_half(value)))',
    needs: ['half_of_float', 'float_of_half', 'add_f32'],
  },
  'fadd.bf16': {
    text: 'bfloat_of_float(add_f32(float_of_bfloat(now), float_of_bfloat(value)))',
    needs: ['bfloat_of_float', 'float_of_bfloat', 'add_f32'],
  },
  add: { text: '(now + value) & 0xffffu' },
  and: { text: 'now & value' },
  or: { text: 'now | value' },
  xor: { text: 'now ^ value' },
  exch: { text: 'value' },
  umin: { text: 'min(now, value)' },
  umax: { text: 'max(now, value)' },
};

const part = (bits: number): string => (bits === 8 ? '0xffu' : '0xffffu');
const shiftOf = (bits: number): string => (bits === 8 ? '(at & 3u) * 8u' : '(at & 2u) * 8u');

/** The definition of a helper by its key. */
export function memoryHelper(key: string): Helper | undefined {
  const [what, name, kind] = key.split(' ');
  if (kind === undefined) return undefined;
  const store: Store = { name: name!, isAtomic: kind === 'atomic' };
  const own = nameOfStoreKey(key);
  const access = /^(load|store)(8|16|32)(_by[12])?$/.exec(what!);
  if (access) return accessHelper(store, own, { kind: access[1]!, bits: Number(access[2]), by: Number(access[3]?.at(-1) ?? 0) });
  if (what === 'cas') return { text: casText(store, own) };
  if (what === 'cas16') return { text: cas16Text(store, own) };
  const [, update, isHalf] = /^atomic_(\w+?(?:\.\w+)?)(_16)?$/.exec(what!) ?? [];
  if (isHalf !== undefined) {
    const { text, needs = [] } = halves[update!]!;
    const body = `let shift = (at & 2u) * 8u;
var old = ${readWord(store, 'at >> 2u')};
loop {
  let now = (old >> shift) & 0xffffu;
  let found = atomicCompareExchangeWeak(&${store.name}[at >> 2u], old, (old & ~(0xffffu << shift)) | ((${text}) << shift));
  if (found.exchanged) { return now; }
  old = found.old_value;
}`;
    return { needs, text: fn(`${own}(at: u32, value: u32) -> u32`, body) };
  }
  const { text, needs = [] } = updates[update!]!;
  return { needs, text: fn(`${own}(at: u32, value: u32) -> u32`, `${change(store, 'at >> 2u', text)}\nreturn old;`) };
}

interface Access {
  readonly kind: string;
  readonly bits: number;
  /** Bytes at a time; 0 for all of them. */
  readonly by: number;
}

function accessHelper(store: Store, own: string, { kind, bits, by }: Access): Helper {
  if (by > 0) {
    const inner = `${kind}${8 * by} ${store.name} ${store.isAtomic ? 'atomic' : 'plain'}`;
    const call = nameOfStoreKey(inner);
    const steps = Array.from({ length: bits / 8 / by }, (_, i) => i * by);
    const at = (i: number): string => (i === 0 ? 'at' : `at + ${i}u`);
    if (kind === 'load') {
      const parts = steps.map((i) => (i === 0 ? `${call}(at)` : `(${call}(${at(i)}) << ${8 * i}u)`));
      return { needs: [inner], text: fn(`${own}(at: u32) -> u32`, `return ${parts.join(' | ')};`) };
    }
    const stores = steps.map((i) => `${call}(${at(i)}, ${i === 0 ? 'value' : `value >> ${8 * i}u`});`);
    return { needs: [inner], text: fn(`${own}(at: u32, value: u32)`, stores.join('\n')) };
  }
  if (kind === 'load')
    return { text: fn(`${own}(at: u32) -> u32`, `return (${readWord(store, 'at >> 2u')} >> (${shiftOf(bits)})) & ${part(bits)};`) };
  const update = `(old & ~(${part(bits)} << shift)) | ((value & ${part(bits)}) << shift)`;
  return { text: fn(`${own}(at: u32, value: u32)`, `let shift = ${shiftOf(bits)};\n${change(store, 'at >> 2u', update)}`) };
}

/** A compare-and-swap that fails only if the value is another one. */
const casText = (store: Store, own: string): string =>
  fn(
    `${own}(at: u32, wanted: u32, value: u32) -> u32`,
    `loop {
  let found = atomicCompareExchangeWeak(&${store.name}[at >> 2u], wanted, value);
  if (found.exchanged || found.old_value != wanted) { return found.old_value; }
}`,
  );

/** 16 bits are swapped with the word around them. */
const cas16Text = (store: Store, own: string): string =>
  fn(
    `${own}(at: u32, wanted: u32, value: u32) -> u32`,
    `let shift = (at & 2u) * 8u;
var old = ${readWord(store, 'at >> 2u')};
loop {
  let now = (old >> shift) & 0xffffu;
  if (now != wanted) { return now; }
  let found = atomicCompareExchangeWeak(&${store.name}[at >> 2u], old, (old & ~(0xffffu << shift)) | (value << shift));
  if (found.exchanged) { return now; }
  old = found.old_value;
}`,
  );
