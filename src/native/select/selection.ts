/**
 * The state of a selection: registers of values, and the instructions of the rule that is at work. Blocks are selected from the last one to the first,
 * and so are the instructions of a block: a value is selected after all of its uses, if one of them asked for its register.
 */
import { traps } from '../context.ts';
import type { MachineInst, Register, RegisterInfo } from '../machine/types.ts';
import { effectOf } from '../ssa/signature.ts';
import { bytesOfType, type Inst, isGather, type SsaFunction, type Value } from '../ssa/types.ts';
import type { Assembler, Features } from '../x64/types.ts';
import type { Anchor, BoundsPlan, Definition } from './bounds.ts';
import type { ModuleLayout } from './layout.ts';
import { addressOf, uncheckedAddress } from './memory.ts';
import { setConstant } from './operands.ts';
import { classOf, type Scope } from './scope.ts';

/** Facts about the values of a function. */
interface Values {
  readonly definitions: readonly (Inst | undefined)[];
  readonly blocks: Int32Array;
  readonly uses: Int32Array;
}

function valuesOf(fn: SsaFunction): Values {
  const definitions: (Inst | undefined)[] = new Array(fn.types.length);
  const blocks = new Int32Array(fn.types.length).fill(-1);
  const uses = new Int32Array(fn.types.length);
  const use = (values: readonly Value[]): void => {
    for (const value of values) uses[value]!++;
  };
  fn.blocks.forEach((block, number) => {
    for (const value of block.params) blocks[value] = number;
    for (const inst of block.insts) {
      use(inst.args);
      if (inst.result === undefined) continue;
      definitions[inst.result] = inst;
      blocks[inst.result] = number;
    }
    const { end } = block;
    if (end.op === 'jump') use(end.to.args);
    else if (end.op === 'branch') use([end.cond, ...end.then.args, ...end.else.args]);
    else if (end.op === 'switch') use([end.index, ...end.edges.flatMap((edge) => edge.args)]);
    else if (end.op === 'return') use(end.values);
  });
  return { definitions, blocks, uses };
}

/** Whether an instruction may change what a load before it has loaded. */
function isWrite({ op }: Inst): boolean {
  const effect = effectOf(op);
  return effect === 'store' || effect === 'call';
}

interface Writes {
  enter(block: number): void;
  pass(inst: Inst): void;
  /** Whether nothing writes memory between the definition of a value of the block and the instruction being selected. */
  isSameMemory(value: Value): boolean;
}

function newWrites(fn: SsaFunction): Writes {
  /** How many instructions that write memory stand before the definition of each value in its block, and before the instruction being selected. */
  const before = new Int32Array(fn.types.length);
  let here = 0;
  return {
    enter(block) {
      here = 0;
      for (const inst of fn.blocks[block]!.insts) {
        if (inst.result !== undefined) before[inst.result] = here;
        if (isWrite(inst)) here++;
      }
    },
    pass(inst) {
      if (isWrite(inst)) here--;
    },
    isSameMemory: (value) => before[value] === here,
  };
}

/** The registers of anchors. */
function newAnchors(newRegister: (info: RegisterInfo) => Register): (anchor: Anchor) => Register {
  const anchors = new Map<Anchor, Register>();
  return (anchor) => {
    const known = anchors.get(anchor) ?? newRegister({ class: 'general', bytes: 4 });
    anchors.set(anchor, known);
    return known;
  };
}

/** An integer constant in a register of its own. */
function newConstants(newRegister: (info: RegisterInfo) => Register) {
  let insts: MachineInst[] = [];
  return {
    register(inst: Inst): Register {
      const remake = (out: Assembler, to: number): void => setConstant(out, to, inst.bits!);
      const def = newRegister({ class: 'general', bytes: inst.op === 'i32.const' ? 4 : 8, remake });
      insts.push({ def, uses: [], emit: (out, places) => setConstant(out, places.def, inst.bits!) });
      return def;
    },
    take(): readonly MachineInst[] {
      const taken = insts;
      insts = [];
      return taken;
    },
  };
}

/** Whether an instruction is a load that another one may do as an operand in memory. */
const isMovableLoad = ({ op }: Inst): boolean => effectOf(op) === 'load' && !isGather(op);

const isIntegerConstant = (inst: Inst | undefined): inst is Inst => inst?.op === 'i32.const' || inst?.op === 'i64.const';

/** An empty selection for a function. */
export function newSelection(
  fn: SsaFunction,
  layout: ModuleLayout,
  features: Features,
  plan: (definition: Definition) => BoundsPlan,
): Scope {
  const { definitions, blocks, uses } = valuesOf(fn);
  const registers: RegisterInfo[] = [];
  const registerOf = new Int32Array(fn.types.length).fill(-1);
  const writes = newWrites(fn);
  let insts: MachineInst[] = [];
  let current = -1;
  let outgoingBytes = 0;
  const newRegister = (info: RegisterInfo): Register => registers.push(info) - 1;
  const constants = newConstants(newRegister);
  const constant = (value: Value): bigint | undefined => {
    const inst = definitions[value];
    return isIntegerConstant(inst) ? inst.bits! : undefined;
  };
  const scope: Scope = {
    fn,
    features,
    layout,
    bounds: plan((value) => definitions[value]),
    registers,
    register(value) {
      const inst = definitions[value];
      // Constants are cheap: each instruction that needs one in a register has its own.
      if (isIntegerConstant(inst)) return constants.register(inst);
      if (registerOf[value]! < 0) {
        const type = fn.types[value]!;
        registerOf[value] = newRegister({ class: classOf(type), bytes: bytesOfType(type) });
      }
      return registerOf[value]!;
    },
    typeOf: (value) => fn.types[value]!,
    fresh: (registerClass, bytes) => newRegister({ class: registerClass, bytes }),
    add: (inst) => insts.push(inst),
    definition: (value) => definitions[value],
    useCount: (value) => uses[value]!,
    constant,
    isLast: (value) => registerOf[value]! < 0,
    isInBlock: (value) => blocks[value] === current,
    isAsked: (value) => registerOf[value]! >= 0,
    remake(register, how) {
      registers[register] = { ...registers[register]!, remake: how };
    },
    anchorRegister: newAnchors(newRegister),
    address: (inst) => addressOf(scope, inst),
    trap: (trap) => layout.traps[traps[trap]]!,
    enter(block) {
      current = block;
      writes.enter(block);
    },
    pass: writes.pass,
    memoryOf(value) {
      const inst = definitions[value];
      const isMovable = inst && isMovableLoad(inst) && uses[value] === 1 && blocks[value] === current && writes.isSameMemory(value);
      return isMovable ? { inst, address: uncheckedAddress(scope, inst) } : undefined;
    },
    take() {
      const taken = [...constants.take(), ...insts];
      insts = [];
      return taken;
    },
    outgoing(bytes) {
      outgoingBytes = Math.max(outgoingBytes, bytes);
    },
    get outgoingBytes() {
      return outgoingBytes;
    },
  };
  return scope;
}
