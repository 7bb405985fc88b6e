/**
 * State spaces of pointers. Generic pointers that come from one space alone are kept as addresses of that space, so that accesses
 * name it. Kernel parameters point to global memory.
 * Source: PTX ISA 9.0, 5.1 and 6.4.1; the method is that of LLVM's InferAddressSpaces: a fixpoint over phis and selections.
 */
import type { Argument, Constant, Instruction, Function as LlvmFunction, Value } from '../bitcode/index.ts';

/** The numbers of LLVM's NVPTX target. `param` is the space of a kernel's parameters. */
export const spaceNumbers = { generic: 0, global: 1, shared: 3, constant: 4, local: 5, cluster: 7, param: 101 } as const;

/** The word of each space in an instruction. */
export const spaceWords: Readonly<Record<number, string>> = {
  0: '',
  1: '.global',
  3: '.shared',
  4: '.const',
  5: '.local',
  7: '.shared::cluster',
  101: '.param',
};

/** The space of an address: of the value's type, or the one that it always comes from. */
export interface Spaces {
  of(value: Value): number;
}

/** `none` is known of no path yet; `null` is the null pointer, which is 0 in generic and global memory alone. */
type Known = number | 'none' | 'null';

/** The spaces of a function's pointers. `ofArgument`: the space that the argument of a kernel points to. */
export function inferSpaces(fn: LlvmFunction, ofArgument: (arg: Argument) => number): Spaces {
  const known = new Map<Value, Known>();
  const of = (value: Value): Known => {
    if (value.type.kind === 'pointer' && value.type.space !== 0) return value.type.space;
    if (value.kind === 'argument') return ofArgument(value);
    if (value.kind === 'instruction') return known.get(value) ?? 'none';
    return ofConstant(value);
  };
  const pointers = fn.blocks.flatMap(({ body }) => body.filter(({ type }) => type.kind === 'pointer' && type.space === 0));
  for (let isStable = false; !isStable; ) {
    isStable = true;
    for (const inst of pointers) {
      const found = ofInstruction(inst, of);
      if (found === known.get(inst)) continue;
      known.set(inst, found);
      isStable = false;
    }
  }
  return {
    of(value) {
      const space = of(value);
      return typeof space === 'number' ? space : spaceNumbers.generic;
    },
  };
}

function ofConstant(value: Constant): Known {
  if (value.type.kind === 'pointer' && value.type.space !== 0) return value.type.space;
  // Variables without a space are in global memory.
  if (value.kind === 'global') return value.linkage === 'extern_weak' && !value.init ? 'null' : spaceNumbers.global;
  if (value.kind === 'function') return spaceNumbers.generic;
  switch (value.form) {
    case 'null':
      return 'null';
    case 'undef':
    case 'poison':
      return 'none';
    case 'gep':
      return ofConstant(value.base);
    case 'cast':
      return value.opcode === 'addrspacecast' || value.opcode === 'bitcast' ? ofConstant(value.value) : spaceNumbers.generic;
    default:
      return spaceNumbers.generic;
  }
}

function ofInstruction(inst: Instruction, of: (value: Value) => Known): Known {
  switch (inst.op) {
    case 'alloca':
      return spaceNumbers.local;
    case 'gep':
      return of(inst.base);
    case 'freeze':
      return of(inst.value);
    case 'cast':
      return inst.opcode === 'addrspacecast' || inst.opcode === 'bitcast' ? of(inst.value) : spaceNumbers.generic;
    case 'select':
      return meet(of(inst.a), of(inst.b));
    case 'phi':
      return inst.incoming.reduce<Known>((space, { value }) => meet(space, of(value)), 'none');
    default:
      return spaceNumbers.generic;
  }
}

function meet(a: Known, b: Known): Known {
  if (a === b || b === 'none') return a;
  if (a === 'none') return b;
  const other = a === 'null' ? b : b === 'null' ? a : undefined;
  return other === spaceNumbers.global ? other : spaceNumbers.generic;
}
