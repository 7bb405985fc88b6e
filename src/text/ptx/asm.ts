/** Instructions that stay as they are: the operands and results of an `asm` of the IR are registers in its text. */
import { edgesOf, type Kernel, operandsOf, type ScalarType, type Value } from '../../ir/index.ts';
import type { Printer, Rule, Rules } from './printer.ts';
import { moveType } from './registers.ts';

const input: Rule<'input'> = (p, { a, index }) => void p.asm.inputs.set(index, a);

const output: Rule<'output'> = (p, { index }, value) => p.setLanes(value, [p.asm.outputs.get(index)!]);

const asm: Rule<'asm'> = (p, { text, declares, since }) => {
  p.needs(since);
  if (declares !== '') for (const each of declares.split(/(?<=;)\n/)) p.module.declared.set(`asm ${each}`, each);
  p.asm.outputs.clear();
  let isSet = false;
  const given = (index: string): string => p.reg(p.asm.inputs.get(Number(index))!);
  const written = text.replaceAll(/([$#&])(\d+)(?::(\w+))?/g, (_all, kind: string, index: string, type: string) => {
    if (kind === '$') return given(index);
    const before = kind === '&' ? p.asm.inputs.get(Number(index))! : undefined;
    const register = before === undefined ? p.temp(type as ScalarType) : changed(p, before);
    isSet ||= before !== undefined && register !== p.held(before)[0];
    p.asm.outputs.set(Number(index), register);
    return register;
  });
  // Registers that a product takes part in are set before the fence in front of it.
  if (isSet && text.startsWith('wgmma.mma_async')) p.line('wgmma.fence.sync.aligned;');
  for (const line of written.split('\n')) p.line(line);
  p.asm.inputs.clear();
};

/** A register that has a value and takes another one: that of the value, if nothing else needs it. */
function changed(p: Printer, value: Value): string {
  if (isLastUse(p, value)) return p.reg(value);
  const type = p.typeOf(value);
  const own = p.temp(type);
  p.line(`mov.${moveType(type)} ${own}, ${p.operand(value)};`);
  return own;
}

const useCounts = new WeakMap<Kernel, Map<Value, number>>();

function usesOf(kernel: Kernel): Map<Value, number> {
  const known = useCounts.get(kernel);
  if (known) return known;
  const counts = new Map<Value, number>();
  const note = (value: Value): void => void counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const { body, end } of kernel.blocks) {
    for (const value of body) for (const operand of operandsOf(kernel.insts[value]!)) note(operand);
    if (end.op === 'condbr') note(end.cond);
    for (const { args } of edgesOf(end)) for (const arg of args) note(arg);
  }
  useCounts.set(kernel, counts);
  return counts;
}

/** Whether the `asm` at hand is the only use of a value, and is not reached again without the value being set again. */
function isLastUse(p: Printer, value: Value): boolean {
  const { kernel } = p;
  const { op } = kernel.insts[value]!;
  if ((op !== 'arg' && op !== 'output') || usesOf(kernel).get(value) !== 1) return false;
  const here = kernel.blocks[p.block]!;
  const isSetIn = (id: number): boolean => kernel.blocks[id]!.params.includes(value) || kernel.blocks[id]!.body.includes(value);
  if (isSetIn(p.block)) return true;
  const reached = new Set(edgesOf(here.end).map(({ block }) => block.id));
  for (const id of reached) {
    if (id === p.block) return false;
    if (!isSetIn(id)) for (const { block } of edgesOf(kernel.blocks[id]!.end)) reached.add(block.id);
  }
  return true;
}

export const asmRules = { input, asm, output } satisfies Partial<Rules>;
