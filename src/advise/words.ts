/** Advice that follows from the words of instructions and declarations, without the flow of the kernel. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type Checked, type CheckedFunction, type Instruction, type Operand, partsOf } from '../ptx/index.ts';

/** Reports CM2309, CM2312, CM2313 and the part of CM2315 that a single instruction shows. */
export function adviseOnWords(checked: Checked, diagnostics: Diagnostics): void {
  for (const fn of [...checked.entries, ...checked.functions.values()]) {
    const instructions = instructionsOf(fn);
    literalWarpSizes(instructions, diagnostics);
    for (const instruction of instructions) scopes(instruction, diagnostics);
    fences(fn, diagnostics);
  }
  dynamicArrays(checked, diagnostics);
}

const instructionsOf = ({ items }: CheckedFunction): Instruction[] =>
  items.flatMap((item) => (item.kind === 'instruction' ? [item.match.instruction] : []));

const nameOf = (operand: Operand | undefined): string | undefined => (operand?.kind === 'name' ? operand.name : undefined);

// ── the warp size ──

/** Registers that hold the number of a thread or of a lane. */
const threadNumbers = new Set(['%tid', '%laneid']);

/** By opcode: the literal that stands for the size of a warp. */
const warpLiterals: Readonly<Record<string, bigint>> = { and: 31n, shr: 5n, div: 32n, rem: 32n };

function literalWarpSizes(instructions: readonly Instruction[], diagnostics: Diagnostics): void {
  const numbers = new Set<string>();
  for (const { opcode, operands, span } of instructions) {
    const [to, a, b] = operands;
    const name = nameOf(to);
    if ((opcode === 'mov' || opcode === 'cvt') && name !== undefined && isThreadNumber(a, numbers)) numbers.add(name);
    const literal = warpLiterals[opcode];
    if (literal === undefined || !isThreadNumber(a, numbers) || b?.kind !== 'integer' || b.value !== literal) continue;
    diagnostics.report('CM2309', { literal: String(literal) }, { span });
  }
}

function isThreadNumber(operand: Operand | undefined, numbers: ReadonlySet<string>): boolean {
  if (operand?.kind === 'element' || operand?.kind === 'name') {
    return threadNumbers.has(operand.name) || numbers.has(operand.name);
  }
  return false;
}

// ── scopes ──

const isAtomic = ({ opcode }: Instruction): boolean => opcode === 'atom' || opcode === 'red';
const wordsOf = ({ opcode, modifiers }: Instruction): string => [opcode, ...modifiers].join('.');

function scopes(instruction: Instruction, diagnostics: Diagnostics): void {
  const { modifiers, opcodeSpan: span } = instruction;
  if (!isAtomic(instruction)) return;
  const name = wordsOf(instruction);
  const isShared = modifiers.some((word) => /^shared(::cta)?$/.test(word));
  const wide = ['gpu', 'sys'].find((word) => modifiers.includes(word));
  if (isShared && wide !== undefined)
    diagnostics.report(
      'CM2315',
      { why: `\`${name}\` has the scope \`.${wide}\`, and shared memory is seen by its block alone` },
      { span, help: 'use `.cta`' },
    );
  else if (modifiers.includes('sys')) diagnostics.report('CM2312', { name }, { span });
}

/** A fence of the block directly before an atomic of the device. */
function fences({ items }: CheckedFunction, diagnostics: Diagnostics): void {
  let fence: Instruction | undefined;
  for (const item of items) {
    if (item.kind === 'label') {
      fence = undefined;
      continue;
    }
    const { instruction } = item.match;
    const { opcode, modifiers } = instruction;
    if ((opcode === 'fence' && !modifiers.includes('proxy')) || opcode === 'membar') {
      fence = modifiers.includes('cta') ? instruction : undefined;
      continue;
    }
    if (opcode === 'bar' || opcode === 'barrier' || item.match.row.control !== undefined) fence = undefined;
    if (!fence || !isAtomic(instruction) || !modifiers.includes('global') || modifiers.includes('cta')) continue;
    const why = `\`${wordsOf(fence)}\` orders memory for the block, and \`${wordsOf(instruction)}\` behind it is seen by other blocks`;
    diagnostics.report(
      'CM2315',
      { why },
      { span: fence.span, more: [{ span: instruction.span, text: 'the atomic' }], help: 'use a fence of the scope `.gpu`' },
    );
    fence = undefined;
  }
}

// ── dynamic shared arrays ──

function dynamicArrays(checked: Checked, diagnostics: Diagnostics): void {
  const arrays = checked.module.items.flatMap((item) =>
    item.kind === 'variable' && item.space === 'shared' && item.linkage === 'extern' && item.dims.includes(undefined) ? [item] : [],
  );
  if (arrays.length < 2) return;
  const functions = [...checked.entries, ...checked.functions.values()];
  const used = functions.map((fn) => {
    const names = new Set<string>();
    for (const { operands } of instructionsOf(fn)) for (const operand of operands) addNames(names, operand);
    return names;
  });
  const mentioned = arrays.filter(({ name }) => used.some((names) => names.has(name)));
  const [first, ...others] = mentioned;
  for (const { name, nameSpan } of others)
    diagnostics.report(
      'CM2313',
      { name, other: first!.name },
      { span: nameSpan, more: [{ span: first!.nameSpan, text: 'the first one' }] },
    );
}

function addNames(names: Set<string>, operand: Operand): void {
  if (operand.kind === 'name') names.add(operand.name);
  for (const part of partsOf(operand)) addNames(names, part);
}
