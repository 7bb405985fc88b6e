/** Kernels of the sweep that read and write memory: each thread has 32 bytes of its own, in whatever state space the form names. */
import { bitsOfType, kindOfType } from '../../../src/ptx/model/types.ts';
import { bytesOfThread, type Code, leave, registerFor, take } from './kernel.ts';
import { threads } from './values.ts';
import type { Worded } from './words.ts';

const size = bytesOfThread;
/** 32 bytes that instructions reach by a register. */
export interface Cells {
  readonly space: string;
  readonly base: string;
}
const input: Cells = { space: 'global', base: '%at' };
export const output: Cells = { space: 'global', base: '%out' };

/** Copies bytes, 8 at a time. */
export const copyBytes = (from: Cells, to: Cells, bytes = size): string[] =>
  Array.from({ length: bytes / 8 }, (_, i) => 8 * i).map(
    (at) => `ld.${from.space}.u64 %cell, [${from.base}+${at}]; st.${to.space}.u64 [${to.base}+${at}], %cell;`,
  );

/** A location in a state space that holds 32 bytes of the input when the form executes. */
export interface Place {
  readonly declared: readonly string[];
  readonly outside?: readonly string[];
  /** Computes its address into `ad`, in the kind of address that the form takes. */
  readonly lines: readonly string[];
  /** The address in the form's text, if it is not a register. */
  readonly address?: string;
  /** Loads the bytes back; absent for read-only spaces. */
  readonly cells?: Cells;
}

/** 32 bytes of the input for each thread, which overlap with those of others. */
export const ownInput = 'and.b32 %i, %t, 63; mul.wide.u32 %at, %i, 32; add.u64 %at, %at, %in;';
const bank = Array.from({ length: 64 * 32 }, (_, i) => (i * 167 + (i >> 5) * 29) & 255).join(', ');

const shared: Cells = { space: 'shared', base: 'sm' };
const local: Cells = { space: 'local', base: 'own' };

const inShared: Place = {
  declared: [`.reg .b64 ad; .reg .b32 sm; .shared .align 32 .b8 cells[${threads * size}];`],
  lines: [ownInput, `mov.u32 sm, cells; mad.lo.u32 sm, %t, ${size}, sm;`, ...copyBytes(input, shared), 'cvt.u64.u32 ad, sm;'],
  cells: shared,
};
const inLocal: Place = {
  declared: [`.reg .b64 ad; .local .align 32 .b8 own[${size}];`],
  lines: [ownInput, 'mov.u64 ad, own;', ...copyBytes(input, local)],
  cells: local,
};
const inGlobal: Place = { declared: ['.reg .b64 ad;'], lines: [ownInput, 'mov.u64 ad, %at;'] };
/** Its own bytes of the output. */
const inOutput: Place = { declared: ['.reg .b64 ad;'], lines: [ownInput, ...copyBytes(input, output), 'mov.u64 ad, %out;'], cells: output };

export const generic = (place: Place, space: string): Place => ({ ...place, lines: [...place.lines, `cvta.${space}.u64 ad, ad;`] });

export const places: Readonly<Record<string, Place>> = {
  const: {
    outside: [`.const .align 32 .b8 bank[2048] = {${bank}};`],
    declared: ['.reg .b64 ad;'],
    lines: ['and.b32 %i, %t, 63; mul.wide.u32 %at, %i, 32; mov.u64 ad, bank; add.u64 ad, ad, %at;'],
  },
  global: inGlobal,
  local: inLocal,
  shared: inShared,
  'shared::cta': inShared,
  param: { declared: ['.reg .b64 ad;'], lines: [], address: 'pbytes+16' },
  'param::entry': { declared: ['.reg .b64 ad;'], lines: [], address: 'pbytes+32' },
};

/** Where a form reads from; without a space the address is generic, in turns of global, shared and local memory. */
function sourceOf(space: string | undefined, at: number): Place {
  if (space !== undefined) return places[space]!;
  return [generic(inGlobal, 'global'), generic(inShared, 'shared'), generic(inLocal, 'local')][at % 3]!;
}

function destinationOf(space: string | undefined, at: number, isLocalToo: boolean): Place {
  if (space === 'global') return inOutput;
  if (space !== undefined) return places[space]!;
  const all = [generic(inOutput, 'global'), generic(inShared, 'shared'), generic(inLocal, 'local')];
  return all[at % (isLocalToo ? 3 : 2)]!;
}

/** Integers are loaded into wider registers, to test the extension. */
const widthOf = (type: string): number => (kindOfType(type) === 'f' ? bitsOfType(type) : 64);

const elementsOf = ({ modifiers }: Worded): string[] => ['x', 'y', 'z', 'w'].slice(0, Number(String(modifiers.vec ?? 'v1').slice(1)));
const vectorText = (names: readonly string[]): string => (names.length > 1 ? `{${names.join(', ')}}` : names[0]!);
const spaceOf = ({ modifiers, row }: Worded): string | undefined =>
  row.syntax.startsWith('ld.global') ? 'global' : (modifiers.space as string | undefined);
const typeOf = ({ modifiers }: Worded): string => String(modifiers.type);

/** A read; its elements are the results. */
export function loadCode(form: Worded, at: number): Code {
  const place = sourceOf(spaceOf(form), at);
  const [names, type] = [elementsOf(form), typeOf(form)];
  const width = widthOf(type);
  return {
    outside: place.outside ?? [],
    declared: [...place.declared, `.reg .b${width} ${names.join(', ')};`],
    lines: [
      ...place.lines,
      `${form.opcode} ${vectorText(names)}, [${place.address ?? 'ad'}];`,
      // As they are, NaNs too: nothing is computed.
      ...names.flatMap((name, i) => leave(name, `b${width}`, i, width)),
    ],
  };
}

/** A write into 32 bytes that hold others; those are the results. */
export function storeCode(form: Worded, at: number): Code {
  const place = destinationOf(spaceOf(form), at, form.row.syntax.startsWith('st{'));
  const [names, type] = [elementsOf(form), typeOf(form)];
  const width = widthOf(type);
  return {
    declared: [...place.declared, `.reg .b${width} ${names.join(', ')};`],
    lines: [
      ...place.lines,
      ...names.flatMap((name, i) => take(name, `b${width}`, i, width)),
      `${form.opcode} [ad], ${vectorText(names)};`,
      ...readBack(place),
    ],
  };
}

const readBack = ({ cells }: Place): string[] => (cells === undefined || cells === output ? [] : copyBytes(cells, output));

/** An atomic on the thread's own cell; the cell afterwards and the value before are the results. */
export function atomicCode(form: Worded, at: number): Code {
  const type = form.opcode.endsWith('cas.b16') ? 'b16' : typeOf(form);
  const place = destinationOf(spaceOf(form), at, false);
  const register = registerFor(type);
  const { space, base } = place.cells ?? output;
  const operands = form.row.operands.map(({ name, isAddress }) => (isAddress ? '[ad]' : name));
  const isRed = form.row.name === 'red';
  return {
    declared: [...place.declared, `.reg .${register} a, b, c, d;`],
    lines: [
      ...place.lines,
      ...take('a', type, 0),
      ...take('b', type, 1),
      ...take('c', type, 2),
      // One comparison in eight succeeds.
      'and.b32 %i, %t, 7; setp.eq.u32 %nan, %i, 3;',
      ...(operands.length === 4 ? [`@%nan mov.${register} b, a;`] : []),
      `st.${space}.${register} [${base}], a;`,
      `${form.opcode} ${operands.join(', ')};`,
      `ld.${space}.${register} a, [${base}];`,
      ...leave('a', type, 0),
      ...(isRed ? [] : leave('d', type, 1)),
    ],
  };
}

const same = `.func (.param .align 16 .b8 r[16]) same (.param .align 16 .b8 p[16])
{ .reg .b64 x, y; ld.param.b64 x, [p]; ld.param.b64 y, [p+8]; st.param.b64 [r+8], y; st.param.b64 [r], x; ret; }`;

/** Writes a call argument or reads a call result, with a function that returns its 16 bytes. */
export function passedCode(form: Worded): Code {
  const [names, type] = [elementsOf(form), typeOf(form)];
  const width = widthOf(type);
  const isLoad = form.row.name === 'ld';
  // Bytes that the form does not write are written one by one: if writes overlap, the driver's compiler omits some.
  const written = isLoad ? 0 : (names.length * bitsOfType(type)) / 8;
  const bytes = Array.from({ length: 16 - written }, (_, i) => written + i);
  const others = bytes.map((at) => `ld.global.u8 %lo, [%at+${at}]; st.param.b8 [arg+${at}], %lo;`);
  const results = [0, 8].map((at) => `ld.param.b64 %cell, [res+${at}]; st.global.u64 [%out+${at}], %cell;`);
  return {
    outside: [same],
    declared: [`.reg .b${width} ${names.join(', ')};`, '.param .align 16 .b8 arg[16]; .param .align 16 .b8 res[16];'],
    lines: [
      ...(isLoad ? [] : names.flatMap((name, i) => take(name, `b${width}`, i, width))),
      ownInput,
      ...others,
      ...(isLoad ? [] : [`${form.opcode} [arg], ${vectorText(names)};`]),
      'call.uni (res), same, (arg);',
      ...(isLoad
        ? [`${form.opcode} ${vectorText(names)}, [res];`, ...names.flatMap((name, i) => leave(name, `b${width}`, i, width))]
        : results),
    ],
  };
}
