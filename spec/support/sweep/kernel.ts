/**
 * The PTX around the forms of the sweep: each thread takes values by its index, executes the form, and stores up to four results of 8
 * bytes. PTX does not specify which NaN a float result is, so each NaN is made canonical.
 */
import { bitsOfType } from '../../../src/ptx/model/types.ts';
import { placeOf } from './values.ts';

/** Bytes that a thread leaves. */
export const bytesOfThread = 32;

export type Architecture = 'sm_10' | 'sm_60' | 'sm_90';
const versions: Record<Architecture, string> = { sm_10: '1.4', sm_60: '7.0', sm_90: '9.0' };

export interface Code {
  /** Declarations in front of the kernel: functions, constant memory. */
  readonly outside?: readonly string[];
  /** Registers and variables of the kernel. */
  readonly declared: readonly string[];
  readonly lines: readonly string[];
  /** The module's target: `sm_90`. */
  readonly architecture?: Architecture;
}

/**
 * A kernel. It may use `%t`, the number of its thread; `%in` and `%out`, the input and the thread's own 32 bytes of the
 * output; and `%cell` and `%nan`. Its third parameter `pbytes` is 64 bytes by value.
 */
export const kernelAround = ({ outside = [], declared, lines, architecture = 'sm_90' }: Code): string =>
  [
    `.version ${versions[architecture]}\n.target ${architecture}${architecture === 'sm_10' ? '' : '\n.address_size 64'}`,
    ...outside,
    '.visible .entry form(.param .u64 pin, .param .u64 pout, .param .align 16 .b8 pbytes[64])\n{',
    '.reg .pred %nan; .reg .b16 %lo, %hi; .reg .b32 %t, %i, %k; .reg .b64 %in, %out, %at, %cell;',
    ...declared,
    'mov.u32 %t, %tid.x; ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];',
    `mul.wide.u32 %at, %t, ${bytesOfThread}; add.u64 %out, %out, %at;`,
    // The input is used by all, so that it is a buffer to all.
    start,
    ...lines,
    end,
  ].join('\n');

/** The lines around those of a form. */
const [start, end] = ['ld.global.u64 %cell, [%in]; st.global.u64 [%out+24], %cell;', 'ret;\n}\n'];

/**
 * The same kernel with its form in divergent code: in both arms of a branch on the lane, in one of them in a loop that lanes leave in different
 * iterations. A form that accesses no memory gives the same results.
 */
export function inDivergentCode(ptx: string): string {
  const from = ptx.indexOf(start) + start.length;
  const to = ptx.lastIndexOf(end);
  const form = `{\n${ptx.slice(from, to).trim()}\n}`;
  const lines = [
    '.reg .pred %apart; .reg .b32 %turn;',
    'and.b32 %turn, %t, 5; setp.eq.u32 %apart, %turn, 0;',
    '@%apart bra $plain;',
    '$again:',
    form,
    'sub.u32 %turn, %turn, 1; setp.ne.u32 %apart, %turn, 0;',
    '@%apart bra $again;',
    'bra $both;',
    '$plain:',
    form,
    '$both:',
  ];
  return [ptx.slice(0, from), ...lines, ptx.slice(to)].join('\n');
}

/** Registers that hold each kind of value: of bits, which suit integers and floats alike. */
export const registerFor = (type: string): string => (type === 'pred' ? 'pred' : `b${Math.max(16, bitsOfType(type))}`);

/** Which of the 32 values the operand in a place has: in the first two places all pairs occur. */
const indices = [
  'and.b32 %i, %t, 31;',
  'shr.u32 %i, %t, 5;',
  'shr.u32 %i, %t, 3; mad.lo.u32 %i, %t, 5, %i; and.b32 %i, %i, 31;',
  'shr.u32 %i, %t, 7; mad.lo.u32 %i, %t, 11, %i; and.b32 %i, %i, 31;',
] as const;

/** Gives a register of `width` bits a value of a type, by the place of its operand. */
export function take(register: string, type: string, place: number, width = Number(registerFor(type).slice(1))): string[] {
  const index = indices[place % indices.length]!;
  if (type === 'pred') return [`${index} shr.u32 %k, %i, 2; xor.b32 %i, %i, %k; and.b32 %i, %i, 1; setp.ne.u32 ${register}, %i, 0;`];
  const load = `mul.wide.u32 %at, %i, 8; add.u64 %at, %at, %in; ld.global.u64 %cell, [%at+${placeOf(type)}];`;
  const move = width === 64 ? `mov.b64 ${register}, %cell;` : `cvt.u${width}.u64 ${register}, %cell;`;
  return [`${index} ${load} ${move}`];
}

/** Makes each NaN of a type the same. */
export function canonical(register: string, type: string): string[] {
  if (type === 'f16x2' || type === 'bf16x2') {
    const half = type.slice(0, -2);
    return [`mov.b32 {%lo, %hi}, ${register};`, ...canonical('%lo', half), ...canonical('%hi', half), `mov.b32 ${register}, {%lo, %hi};`];
  }
  if (!/^b?f\d+$/.test(type)) return [];
  const bits = bitsOfType(type);
  const least = { f16: '0x7fff', bf16: '0x7fff', f32: '0x7fffffff', f64: '0x7fffffffffffffff' }[type];
  return [`setp.nan.${type} %nan, ${register}, ${register}; @%nan mov.b${bits} ${register}, ${least};`];
}

/** Leaves a register in one of the four results. */
export function leave(register: string, type: string, at: number, width = Number(registerFor(type).slice(1))): string[] {
  const store = `st.global.u64 [%out+${8 * at}], %cell;`;
  if (type === 'pred') return [`selp.u64 %cell, 1, 0, ${register}; ${store}`];
  const move = width === 64 ? `mov.b64 %cell, ${register};` : `cvt.u64.u${width} %cell, ${register};`;
  return [...canonical(register, type), `${move} ${store}`];
}
