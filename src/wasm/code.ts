/** The body of one function while it is being written: locals, instructions, nesting. */
import { bug } from '../base/bug.ts';
import { ByteWriter } from '../base/bytes.ts';
import type { Immediate } from './instruction.ts';
import { signed, signed32, unsigned } from './leb.ts';
import { instructions, type NameWith, type ValueType, valueTypes } from './opcodes.ts';

/** Most locals that engines accept in a function. Source: WebAssembly JavaScript Interface, implementation-defined limits. */
export const localLimit = 50_000;
/** Most bytes that engines accept in a function's body. Source: as above. */
export const bodyLimit = 7_654_321;

export interface Code {
  /** Index of a new local of a type; parameters come first. */
  local(type: ValueType): number;
  /** An instruction without immediate: `i32.add`. */
  op(name: NameWith<'none'>): void;
  /** An instruction with an index: `local.get`, `call`, `br`. */
  at(name: NameWith<'index'>, index: number): void;
  /** A load or store at a constant offset from the address on the stack; `align` in bytes is a hint. */
  access(name: NameWith<'memory'>, align: number, offset?: number): void;
  /** The same of one lane of the vector on the stack. */
  accessLane(name: NameWith<'memoryLane'>, align: number, offset: number, lane: number): void;
  /** An instruction on one lane of a vector. */
  lane(name: NameWith<'lane'>, lane: number): void;
  /** A vector by its four words of 32 bits, the first one lowest. */
  v128(words: readonly number[]): void;
  /** The bytes of two vectors by their numbers, those of the second from 16 on. */
  shuffle(bytes: readonly number[]): void;
  /** The first of two values of a type, of which the one is taken where the number on the stack is not 0. */
  choose(type: ValueType): void;
  i32(value: number): void;
  i64(value: bigint): void;
  /** A float constant by its bits. */
  f32(bits: number): void;
  f64(bits: bigint): void;
  /** Opens a structure, whose label is `br` depth 0 inside it; `if` takes a condition from the stack. */
  open(what: 'block' | 'loop' | 'if', result?: ValueType): void;
  /** Opens an `if` whose condition seldom holds: engines that take hints put what is in it out of the way. */
  openRare(): void;
  else(): void;
  end(): void;
  /** Jumps to the label at the depth that the number on the stack picks, to the last one where it is too large. */
  table(depths: readonly number[], otherwise: number): void;
  /** Open structures. */
  readonly depth: number;
  /** Bytes of instructions so far. */
  readonly size: number;
  /** Parameters and locals so far. */
  readonly locals: number;
  /** The encoded body. */
  finish(): Uint8Array;
  /** Where in the encoded body the branches stand that are seldom taken. */
  rareBranches(): number[];
}

const structures = { block: 0x02, loop: 0x03, if: 0x04 } as const;

/** An empty body of a function whose parameters have the given types. */
export function newCode(params: readonly ValueType[]): Code {
  const out = new ByteWriter();
  const locals: ValueType[] = [];
  const rare: number[] = [];
  let depth = 0;
  const write = (name: string, immediate: Immediate): void => {
    const row = instructions.get(name);
    if (row?.immediate !== immediate) bug(`no WebAssembly instruction ${name} with immediate ${immediate}`);
    out.bytes(row.code);
  };
  return {
    local: (type) => params.length + locals.push(type) - 1,
    op: (name) => write(name, 'none'),
    at(name, index) {
      write(name, 'index');
      unsigned(out, index);
    },
    access(name, align, offset = 0) {
      write(name, 'memory');
      unsigned(out, Math.log2(align));
      unsigned(out, offset);
    },
    accessLane(name, align, offset, lane) {
      write(name, 'memoryLane');
      unsigned(out, Math.log2(align));
      unsigned(out, offset);
      out.u8(lane);
    },
    lane(name, lane) {
      write(name, 'lane');
      out.u8(lane);
    },
    choose: (type) => out.bytes([0x1c, 1, valueTypes[type]]),
    ...constants(out),
    ...vectors(out),
    open(what, result) {
      depth++;
      out.bytes([structures[what], result ? valueTypes[result] : 0x40]);
    },
    openRare() {
      depth++;
      rare.push(out.length);
      out.bytes([structures.if, 0x40]);
    },
    else: () => out.u8(0x05),
    end() {
      depth--;
      out.u8(0x0b);
    },
    table(depths, otherwise) {
      out.u8(0x0e);
      unsigned(out, depths.length);
      for (const each of depths) unsigned(out, each);
      unsigned(out, otherwise);
    },
    get depth() {
      return depth;
    },
    get size() {
      return out.length;
    },
    get locals() {
      return params.length + locals.length;
    },
    finish: () => finishBody(locals, out.finish()),
    rareBranches() {
      const before = finishBody(locals, new Uint8Array(0)).length - 1;
      return rare.map((at) => before + at);
    },
  };
}

const constants = (out: ByteWriter): Pick<Code, 'i32' | 'i64' | 'f32' | 'f64'> => ({
  i32(value) {
    out.u8(0x41);
    signed32(out, value);
  },
  i64(value) {
    out.u8(0x42);
    signed(out, BigInt.asIntN(64, value));
  },
  f32(bits) {
    out.u8(0x43);
    out.u32(bits);
  },
  f64(bits) {
    out.u8(0x44);
    out.u64(bits);
  },
});

const vectors = (out: ByteWriter): Pick<Code, 'v128' | 'shuffle'> => ({
  v128(words) {
    out.bytes([0xfd, 0x0c]);
    for (const word of words) out.u32(word >>> 0);
  },
  shuffle(bytes) {
    out.bytes([0xfd, 0x0d]);
    out.bytes(bytes);
  },
});

/** Locals are declared in runs of one type. */
function finishBody(locals: readonly ValueType[], body: Uint8Array): Uint8Array {
  const out = new ByteWriter();
  const runs: { type: ValueType; count: number }[] = [];
  for (const type of locals) {
    const last = runs.at(-1);
    if (last?.type === type) last.count++;
    else runs.push({ type, count: 1 });
  }
  unsigned(out, runs.length);
  for (const { type, count } of runs) {
    unsigned(out, count);
    out.u8(valueTypes[type]);
  }
  out.bytes(body);
  out.u8(0x0b);
  return out.finish();
}
