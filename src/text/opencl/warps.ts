/**
 * Barriers and warp operations in OpenCL C, whose only way to wait is a barrier of the whole work-group. Where all of these are uniform over
 * the block, a barrier is itself, and a warp operation passes values through local memory between two barriers. Other kernels are cut into
 * regions, and a scheduler in every thread runs them: in each round the threads of a warp publish their states, and those with the lowest
 * state go on, as on the CPU device (`src/engine/scalar/schedule.ts`).
 */
import { type Fold, folds, type Inst, type InstOf, type Kernel, type MaskedInst, type Type, type Value } from '../../ir/index.ts';
import { atom, binary, type Expression, operand, strength } from '../expression.ts';
import type { Printer } from '../language.ts';

export const fenceFlags = 'CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE';
export const barrierLine = `barrier(${fenceFlags});`;

/** The type of a cell, through which threads of a warp exchange values of a type. */
const cellOf: Readonly<Record<string, readonly [to: string, from: string]>> = {
  i1: ['(ulong)', '(bool)'],
  i8: ['(ulong)', '(uchar)'],
  i16: ['(ulong)', '(ushort)'],
  i32: ['(ulong)', '(uint)'],
  i64: ['', ''],
  f16: ['(ulong)', '(ushort)'],
  bf16: ['(ulong)', '(ushort)'],
};

/** A value as the contents of a cell. */
export function intoCell(type: Type, { text }: Expression): string {
  if (type === 'f32') return `(ulong)as_uint(${text})`;
  if (type === 'f64') return `as_ulong(${text})`;
  return `${cellOf[type]![0]}(${text})`;
}

/** The contents of a cell as a value. */
export function fromCell(type: Type, text: string): string {
  if (type === 'f32') return `as_float((uint)${text})`;
  if (type === 'f64') return `as_double(${text})`;
  return `${cellOf[type]![1]}${text}`;
}

const signedFold = (name: string, type: string) => (a: string, b: string) => `(${type})${name}((int)${a}, (int)${b})`;

/** How a fold combines two numbers. */
export const foldText: Readonly<Record<Fold, (a: string, b: string) => string>> = {
  add: (a, b) => `${a} + ${b}`,
  and: (a, b) => `${a} & ${b}`,
  or: (a, b) => `${a} | ${b}`,
  xor: (a, b) => `${a} ^ ${b}`,
  smin: signedFold('min', 'uint'),
  smax: signedFold('max', 'uint'),
  umin: (a, b) => `min(${a}, ${b})`,
  umax: (a, b) => `max(${a}, ${b})`,
};

export const neutral: Readonly<Record<Fold, string>> = {
  add: '0',
  and: '~0u',
  or: '0',
  xor: '0',
  smin: '0x7fffffff',
  smax: '0x80000000',
  umin: '~0u',
  umax: '0',
};

/** What a warp operation publishes. */
export const publishedBy = (inst: Inst): Value[] => {
  switch (inst.op) {
    case 'shuffle':
    case 'ballot':
    case 'reduce':
    case 'ballotsync':
    case 'reducesync':
      return [inst.a];
    case 'shufflesync':
      return [inst.a];
    default:
      return [];
  }
};

/** The kind of a rendezvous: threads meet at those of one kind. */
export function kindOf(inst: MaskedInst): number {
  if (inst.op === 'shufflesync') return 0;
  if (inst.op === 'ballotsync') return 1;
  if (inst.op === 'warpsync') return inst.isFence ? 2 : 3;
  return 4 + folds.indexOf(inst.fold);
}

/** Writes a uniform warp operation, between barriers. */
export function writeUniform(p: Printer, inst: Inst, value: Value): void {
  const { lines } = p;
  if (inst.op === 'syncwarp') return lines.add(barrierLine);
  if (inst.op === 'mma') return void p.refuse(value, ...wholeProduct);
  const [published] = publishedBy(inst);
  lines.add(`cells[0][thread_number] = ${intoCell(p.typeOf(published!), p.use(published!))};`);
  lines.add(barrierLine);
  writeResult(p, inst as Collective, value, { slot: 0, takesPart: undefined });
  lines.add(barrierLine);
}

export type Collective = InstOf<'shuffle'> | InstOf<'ballot'> | InstOf<'reduce'>;

/** Where the operands of a collective are, and the condition for the thread `other` to take part. */
export interface Exchange {
  readonly slot: number;
  readonly takesPart: string | undefined;
}

/** A product of matrices that was not expanded: what it is, and why it is refused. */
export const wholeProduct = [
  'a product of matrices by a warp (`mma.sync`, `wmma`)',
  'it was compiled for the CPU device; other targets expand it',
] as const;

/** Writes the result of an exchange to the variable of its value. */
export function writeResult(p: Printer, inst: Collective | MaskedInst, value: Value, { slot, takesPart }: Exchange): void {
  const { lines } = p;
  const cells = `cells[${slot}]`;
  // A product of a warp group stays one (`wgmma`), and would be cut out of its region as other warp operations are.
  if ((inst as Inst).op === 'mma') return void p.refuse(value, ...wholeProduct);
  if (inst.op === 'warpsync') return;
  if (inst.op === 'shuffle')
    return lines.add(
      `${p.variable(value)} = ${fromCell(inst.type, `${cells}[warp_first + (${binary('&', p.use(inst.b), atom('31')).text})]`)};`,
    );
  const name = p.variable(value);
  if (inst.op === 'shufflesync') {
    const from = operand(p.use(inst.b), strength.unary);
    lines.add(`${name} = 0;`);
    lines.add(`if (${from} < 32 && (named >> ${from} & 1) != 0) ${name} = (uint)${cells}[warp_first + ${from}];`);
    return;
  }
  const condition = takesPart === undefined ? '' : `if (${takesPart}) `;
  if (inst.op === 'ballot' || inst.op === 'ballotsync') {
    lines.add(`${name} = 0;`);
    lines.add('for (uint other = warp_first; other < warp_last; other++)');
    return lines.indent(() => lines.add(`${condition}${name} |= (uint)${cells}[other] << (other & 31);`));
  }
  lines.add(`${name} = ${neutral[inst.fold]};`);
  lines.add('for (uint other = warp_first; other < warp_last; other++)');
  lines.indent(() => lines.add(`${condition}${name} = ${foldText[inst.fold](name, `(uint)${cells}[other]`)};`));
}

/** Whether an instruction waits for other threads. */
export const waits = (kernel: Kernel, value: Value): boolean =>
  ['barrier', 'shuffle', 'ballot', 'reduce', 'syncwarp', 'shufflesync', 'ballotsync', 'reducesync', 'warpsync', 'yield'].includes(
    kernel.insts[value]!.op,
  );
