/**
 * Local variables that a block always writes before it reads them, as AIR has for what an exchange expects: what is read is what was
 * written, and no memory is wanted.
 */
import { type Kernel, operandsOf, spaceOf, substitute, substitution, terminatorOperands, type Value } from '../../../ir/index.ts';

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

/** Names of variables that are written before they are read, whole and as one type. */
function slotNames(kernel: Kernel): Set<string> {
  const names = new Set(kernel.variables.filter(({ space, isDynamic }) => space === 'local' && !isDynamic).map(({ name }) => name));
  const types = new Map<string, string>();
  const nameOf = (value: Value): string | undefined => {
    const inst = kernel.insts[value]!;
    return inst.op === 'variable' && inst.type.startsWith('ptr.') && spaceOf(inst.type as 'ptr.local') === 'local' ? inst.name : undefined;
  };
  const refuse = (value: Value): void => {
    const name = nameOf(value);
    if (name !== undefined) names.delete(name);
  };
  for (const { body, end } of kernel.blocks) {
    const written = new Set<string>();
    for (const value of body) {
      const inst = kernel.insts[value]!;
      const name = inst.op === 'load' || inst.op === 'store' ? nameOf(inst.addr) : undefined;
      if (name === undefined || (inst.op !== 'load' && inst.op !== 'store')) {
        operandsOf(inst).forEach(refuse);
        continue;
      }
      if (inst.op === 'store') refuse(inst.value);
      const { type } = inst.op === 'load' ? inst : kernel.insts[inst.value]!;
      if (inst.volatile || (types.get(name) ?? type) !== type || (inst.op === 'load' && !written.has(name))) names.delete(name);
      types.set(name, type);
      if (inst.op === 'store') written.add(name);
    }
    terminatorOperands(end).forEach(refuse);
  }
  return names;
}
