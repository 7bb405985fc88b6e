/** Instruction selection: a function in SSA form as machine instructions with virtual registers. */
import type { MachineBlock, MachineFunction, MachineInst } from '../machine/types.ts';
import { effectOf } from '../ssa/signature.ts';
import { type Block, edgesOf, type Inst, isGather, type SsaFunction } from '../ssa/types.ts';
import type { Features } from '../x64/types.ts';
import { planBounds } from './bounds.ts';
import { addParameters, importRegistersOf } from './call.ts';
import { selectEnd, splitEdges } from './control.ts';
import type { ImportLayout, ModuleLayout } from './layout.ts';
import { addDeadLoad } from './memory.ts';
import { rules } from './rules.ts';
import type { Scope } from './scope.ts';
import { newSelection } from './selection.ts';

/** Why a function has no machine code; undefined if `select` takes it. */
export function unsupported(fn: SsaFunction, layout: ModuleLayout): string | undefined {
  if (fn.results.length > 1) return 'a function with several results';
  for (const { insts } of fn.blocks)
    for (const { op, index } of insts) {
      if (!rules.has(op)) return `the instruction ${op}`;
      if (op !== 'call') continue;
      const callee = layout.functions[index!]!;
      if ('offset' in callee && !isImportable(callee)) return 'an imported function with this signature';
    }
  return undefined;
}

const isImportable = ({ signature: { params, results } }: ImportLayout): boolean =>
  importRegistersOf(params) !== undefined && results.length < 2 && !results.includes('v128');

/** The machine instructions of a function, all of whose instructions have rules (`unsupported`). */
export function select(fn: SsaFunction, layout: ModuleLayout, features: Features): MachineFunction {
  const split = splitEdges(fn);
  const s = newSelection(split, layout, features, (definition) => planBounds(split, definition));
  const blocks: MachineBlock[] = new Array(split.blocks.length);
  for (let number = split.blocks.length - 1; number >= 0; number--) {
    s.enter(number);
    blocks[number] = selectBlock(s, split.blocks[number]!, number === 0);
  }
  return { registers: s.registers, blocks, outgoingBytes: s.outgoingBytes };
}

function selectBlock(s: Scope, block: Block, isEntry: boolean): MachineBlock {
  /** The instructions of each instruction, the last one first. */
  const groups: MachineInst[][] = [];
  const edges = edgesOf(block.end).map(({ block: to, args }) => ({ block: to, args: args.map((arg) => s.register(arg)) }));
  const end = selectEnd(s, block.end);
  groups.push(s.take());
  for (let i = block.insts.length - 1; i >= 0; i--) {
    s.pass(block.insts[i]!);
    selectInst(s, block.insts[i]!);
    groups.push(s.take());
  }
  if (isEntry) {
    addParameters(s, block.params);
    groups.push(s.take());
  }
  const params = isEntry ? [] : block.params.map((param) => s.register(param));
  const { loopDepth, isRare } = block;
  return { params, insts: groups.reverse().flat(), end, edges, loopDepth, isRare: isRare === true };
}

/** An instruction without effects is selected if its result was asked for. */
function selectInst(s: Scope, inst: Inst): void {
  const { result } = inst;
  if (result !== undefined && !s.isAsked(result)) {
    const effect = effectOf(inst.op);
    if (effect === 'load' && !isGather(inst.op)) return addDeadLoad(s, inst);
    if (effect === 'pure' || effect === 'constant' || effect === 'global.get') return;
  }
  rules.get(inst.op)!(s, inst);
}
