/**
 * Slot promotion: local variables that a block always writes before it reads them, as AIR has for the expected value of an exchange. A load
 * is the stored value, and the variable is removed.
 */
import {
  type Inst,
  type Kernel,
  operandsOf,
  spaceOf,
  substitute,
  substitution,
  terminatorOperands,
  type Value,
} from '../../../ir/index.ts';

/** Takes such variables out of a kernel, in place; returns whether there were any. */
export function promoteSlots(kernel: Kernel): boolean {
  const names = slotNames(kernel);
  if (names.size === 0) return false;
  const nameOf = (value: Value): string | undefined => {
    const inst = kernel.insts[value]!;
    return inst.op === 'variable' && names.has(inst.name) ? inst.name : undefined;
  };
  const loaded = substitution();
  for (const block of kernel.blocks) {
    const held = new Map<string, Value>();
    block.body = block.body.filter((value) => {
      const inst = kernel.insts[value]!;
      const name = inst.op === 'load' || inst.op === 'store' ? nameOf(inst.addr) : undefined;
      if (name === undefined) return nameOf(value) === undefined;
      if (inst.op === 'store') held.set(name, loaded.of(inst.value));
      else loaded.replace(value, held.get(name)!);
      return false;
    });
  }
  substitute(kernel, loaded);
  kernel.variables = kernel.variables.filter(({ name }) => !names.has(name));
  return true;
}

/** Local variables that may be slots, and the one type by which each is accessed. */
interface Candidates {
  readonly kernel: Kernel;
  readonly names: Set<string>;
  readonly types: Map<string, string>;
}

/** Names of variables that each block writes before it reads them, whole and as one type. */
function slotNames(kernel: Kernel): Set<string> {
  const names = new Set(kernel.variables.filter(({ space, isDynamic }) => space === 'local' && !isDynamic).map(({ name }) => name));
  const candidates: Candidates = { kernel, names, types: new Map() };
  for (const { body, end } of kernel.blocks) {
    const written = new Set<string>();
    for (const value of body) refuseUses(candidates, kernel.insts[value]!, written);
    for (const operand of terminatorOperands(end)) refuse(candidates, operand);
  }
  return names;
}

/** The name of the local variable that a value is the address of. */
function localName({ insts }: Kernel, value: Value): string | undefined {
  const inst = insts[value]!;
  return inst.op === 'variable' && inst.type.startsWith('ptr.') && spaceOf(inst.type as 'ptr.local') === 'local' ? inst.name : undefined;
}

function refuse({ kernel, names }: Candidates, value: Value): void {
  const name = localName(kernel, value);
  if (name !== undefined) names.delete(name);
}

/** Refuses the variables that an instruction uses in another way than slots are; notes the one that it writes. */
function refuseUses(candidates: Candidates, inst: Inst, written: Set<string>): void {
  const { kernel, names, types } = candidates;
  const name = inst.op === 'load' || inst.op === 'store' ? localName(kernel, inst.addr) : undefined;
  if (name === undefined || (inst.op !== 'load' && inst.op !== 'store')) {
    for (const operand of operandsOf(inst)) refuse(candidates, operand);
    return;
  }
  if (inst.op === 'store') refuse(candidates, inst.value);
  const { type } = inst.op === 'load' ? inst : kernel.insts[inst.value]!;
  const isOther = (types.get(name) ?? type) !== type;
  if (inst.volatile || isOther || (inst.op === 'load' && !written.has(name))) names.delete(name);
  types.set(name, type);
  if (inst.op === 'store') written.add(name);
}
