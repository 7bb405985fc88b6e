/**
 * Random PTX programs of warp collectives with member masks, whose results are determined by the manual: lanes wait for all lanes of their
 * mask that have not exited, wherever these are, and no result depends on which lanes happen to run together. A program is determined by
 * its number; `fixtures/h200/warps` has what an NVIDIA H200 computes.
 */
import { splitMix64 } from '../../src/runtime/rand.ts';
import { randomWords } from './lcg.ts';
import { type Family, families } from './warps/collectives.ts';
import { deviceFunction } from './warps/functions.ts';
import type { Group } from './warps/groups.ts';
import type { DeviceFunction, Maker, Statement } from './warps/place.ts';
import { body, statement } from './warps/statements.ts';
import { Writer } from './warps/writer.ts';

/** Words of the input, which all programs share; the first one has all bits. */
export const inputWords = 1024;
/** Words of a thread in the output. */
export const outputWords = 6;

export interface WarpProgram {
  readonly ptx: string;
  readonly kind: WarpClass;
  readonly blocks: number;
  /** Threads of a block in x and y. */
  readonly block: readonly [number, number];
}

/** The classes of programs, with the statements that they are made of; those named twice are twice as frequent. */
export const warpClasses = {
  convergent: 'collective collective collective partition partition scalar activemask ladder carry',
  split: 'split split split collective partition scalar activemask ladder carry',
  arms: 'arms arms arms collective split scalar carry',
  nested: 'arms arms arms arms split partition carry',
  loops: 'loop loop loop collective partition split ladder carry',
  skew: 'skew skew skew peel peel collective arms carry',
  functions: 'call call call arms arms split collective skew',
  exits: 'exit exit collective collective split split arms loop',
  guards: 'guard guard guard collective partition split loop',
  exchange: 'exchange exchange exchange broadcast broadcast pingPong pingPong arms arms split partition aggregate',
  phases: 'phase phase phase collective split arms loop exchange exit',
  progress: 'spin spin spin warpSpin collective arms exchange phase partition',
  mixed:
    'scalar collective partition split arms loop skew peel call exit guard exchange broadcast pingPong phase spin warpSpin activemask ladder aggregate carry',
} as const;
export type WarpClass = keyof typeof warpClasses;
const classNames = Object.keys(warpClasses) as WarpClass[];

/** The input of all programs. */
export function warpInput(): Uint32Array {
  const next = randomWords(90);
  return Uint32Array.from({ length: inputWords }, (_, i) => (i === 0 ? 0xffff_ffff : (next() >>> 16) | (next() & 0xffff_0000)));
}

/** The program of a number. Numbers that are a multiple of 13 apart are of the same class. */
export function randomWarps(number: number): WarpProgram {
  const draw = splitMix64(BigInt(number) * 0x1_0000_0001n + 4099n);
  const w = new Writer(draw, '');
  const kind = classNames[number % classNames.length]!;
  const block = randomBlock(w, kind);
  const threads = block[0] * block[1];
  const statements = warpClasses[kind].split(' ') as Statement[];
  const opcodes = chosenOpcodes(w, statements);
  const isCalling = statements.includes('call');
  const plain = opcodes.filter((opcode) => opcode.includes('.'));
  const functions: DeviceFunction[] = [];
  for (let i = isCalling ? 1 + w.pick(3) : 0; i > 0; i--) functions.push(deviceFunction(draw, functions.length, plain, functions));
  const areas = new Map<string, number>();
  const isShort = w.once(3);
  const m = maker(w, { threads, statements, opcodes, functions, areas }, block[1] > 1);
  const top = { own: m.all, depth: 0, loops: 0, mayExit: true };
  if (isShort) m.left = 1 + w.pick(3);
  for (let i = isShort ? 1 + w.pick(2) : 3 + w.pick(4); i > 0; i--) statement(m, top);
  body(m, top, [], 1);
  // Lanes that are still apart come together once more.
  m.mix([w.op('redux.sync.xor.b32', m.value(), m.all.mask)]);
  w.emit('END:');
  m.store();
  return { ptx: moduleOf(w, functions, areas, threads), kind, blocks: 1 + w.pick(3), block };
}

/** Whole warps, or a last warp that is not whole. */
function randomBlock(w: Writer, kind: WarpClass): readonly [number, number] {
  if (w.once(8)) return [w.oneOf([8, 16, 20, 5]), 4 * (1 + w.pick(2))];
  const isSmall = w.once(3) && kind !== 'phases' && kind !== 'progress';
  if (isSmall) return [32, 1];
  return [w.once(2) ? 32 * (1 + w.pick(5)) : 33 + w.pick(128), 1];
}

/** The opcodes of a program: those of some families. */
function chosenOpcodes(w: Writer, statements: readonly Statement[]): string[] {
  const names = Object.keys(families) as Family[];
  const chosen = w.once(3) ? names : [w.oneOf(names), w.oneOf(names), w.oneOf(names)];
  const opcodes: string[] = chosen.flatMap((name) => [w.oneOf(families[name]), w.oneOf(families[name]), w.oneOf(families[name])]);
  const isShared = statements.includes('exchange');
  return isShared ? [...opcodes, ...['exchange', 'exchange', 'broadcast', 'ladder bfly', 'ladder down']] : opcodes;
}

type Given = Pick<Maker, 'threads' | 'statements' | 'opcodes' | 'functions' | 'areas'>;

/** Writes the start of the kernel. */
function maker(w: Writer, given: Given, isPlane: boolean): Maker {
  const { threads } = given;
  const [from, out] = [w.wide(), w.wide()];
  w.emit(`ld.param.u64 ${from}, [pin];`, `ld.param.u64 ${out}, [pout];`);
  const x = w.op('mov.u32', '%tid.x');
  const tid = isPlane ? w.op('mad.lo.u32', w.op('mov.u32', '%tid.y'), w.op('mov.u32', '%ntid.x'), x) : x;
  const lane = w.once(2) ? w.op('mov.u32', '%laneid') : w.op('and.b32', tid, 31);
  const warp = w.op('shr.u32', tid, 5);
  const number = w.op('mad.lo.u32', w.op('mov.u32', '%ctaid.x'), threads, tid);
  const load = (index: string): string => {
    const [at, d] = [w.wide(), w.word()];
    w.emit(`mul.wide.u32 ${at}, ${index}, 4;`, `add.u64 ${at}, ${at}, ${from};`, `ld.global.u32 ${d}, [${at}];`);
    return d;
  };
  const first = w.op('mad.lo.u32', number, 2 * w.pick(40) + 1, w.pick(inputWords));
  const values = Array.from({ length: outputWords }, (_, i) =>
    load(w.op('max.u32', w.op('and.b32', w.op('add.u32', first, 97 * i), inputWords - 1), 1)),
  );
  const isPartial = threads % 32 > 0;
  const isLast = w.test('eq.u32', warp, threads >> 5);
  const exists = w.op('selp.b32', 2 ** (threads % 32) - 1, '0xffffffff', isLast);
  const all = whole(w, isPartial, exists, load);
  const value = (): string => (w.once(8) ? w.oneOf([lane, tid, number]) : w.oneOf(values));
  const mix = (words: readonly string[]): void => {
    for (const each of words) {
      const d = w.oneOf(values);
      w.emit(w.once(4) ? `xor.b32 ${d}, ${d}, ${each};` : `mad.lo.u32 ${d}, ${d}, ${3 + 2 * w.pick(60)}, ${each};`);
    }
  };
  const store = (): void => {
    const at = w.wide();
    w.emit(`mul.wide.u32 ${at}, ${number}, ${4 * outputWords};`, `add.u64 ${at}, ${at}, ${out};`);
    for (const [i, each] of values.entries()) w.emit(`st.global.u32 [${at}+${4 * i}], ${each};`);
  };
  const always = w.test('eq.u32', lane, lane);
  const state = { left: 8 + w.pick(12), hasExits: false, isStale: false };
  return { w, ...given, ...state, tid, lane, warp, exists, isPartial, all, always, value, mix, store };
}

/** The group of the whole warp: a constant, a constant from memory, or the lanes that exist. */
function whole(w: Writer, isPartial: boolean, exists: string, load: (index: string) => string): Group {
  const masks = [() => '0xffffffff', () => '0xffffffff', () => '-1', () => load(w.op('mov.u32', 0)), () => exists];
  return { mask: masks[w.pick(isPartial ? 5 : 4)]!(), alive: exists };
}

/** The text of the module; shared memory is zeros at the start. */
function moduleOf(w: Writer, functions: readonly DeviceFunction[], areas: ReadonlyMap<string, number>, threads: number): string {
  const bytes = 4 * threads * areas.size;
  const head = [`.reg .b32 %sh, %clear, %tx, %ty, %nx;`, `.shared .align 4 .b8 sh[${bytes}];`, 'mov.u32 %sh, sh;'];
  const place = ['mov.u32 %tx, %tid.x;', 'mov.u32 %ty, %tid.y;', 'mov.u32 %nx, %ntid.x;', 'mad.lo.u32 %clear, %ty, %nx, %tx;'];
  const start = [...head, ...place, 'shl.b32 %clear, %clear, 2;', 'add.u32 %clear, %clear, %sh;'];
  const cleared = [...areas.values()].map((i) => `st.shared.u32 [%clear+${4 * threads * i}], 0;`);
  const local = w.has('lo;') ? ['.local .align 4 .b8 lo[32];'] : [];
  const lines = w.text(areas.size > 0 ? [...start, ...cleared, 'bar.sync 0;'] : [], [w.once(2) ? 'ret;' : 'exit;']);
  return [
    '.version 8.0',
    '.target sm_90',
    '.address_size 64',
    ...functions.flatMap(({ lines }) => lines),
    '.visible .entry warps(.param .u64 pin, .param .u64 pout)',
    '{',
    ...local,
    ...lines,
    '}',
    '',
  ].join('\n');
}
