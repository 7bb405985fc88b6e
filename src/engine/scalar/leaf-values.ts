/** Leaf values in the scalar compiler: constants, parameters, variables and special registers, which are rematerialized at every use. */
import type { InstOf, Value, Variable } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';
import type { KernelContext } from '../codegen/kernel-code.ts';
import { heldAs, writeConstant } from '../codegen/values.ts';

/** Locals of a thread. */
export interface LeafFrame {
  readonly context: KernelContext;
  readonly code: Code;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** The number of the thread in its block. */
  readonly thread: number;
}

/** Pushes a value without operands. */
export function writeLeaf(frame: LeafFrame, value: Value): void {
  const { context, code } = frame;
  const { plan, host } = context;
  const inst = plan.kernel.insts[value]!;
  if (inst.op === 'const') writeConstant(code, heldAs(inst.type), inst.bits);
  else if (inst.op === 'param') code.at('global.get', host.params[inst.index]!);
  else if (inst.op === 'variable') writeVariable(frame, inst.name);
  else if (inst.op === 'sreg') writeSreg(frame, inst.name);
}

function writeVariable(frame: LeafFrame, name: string): void {
  const { space } = frame.context.plan.kernel.variables.find((variable) => variable.name === name)!;
  writeWindow(frame, space);
  frame.code.i64(BigInt(frame.context.plan.offsets.get(name)!));
  frame.code.op('i64.add');
}

/** Pushes the address of a window; that of local memory is the part of the thread. */
export function writeWindow({ context, code, thread }: LeafFrame, space: Variable['space']): void {
  const { plan, host } = context;
  code.at('global.get', host.globals[space]);
  if (space === 'local') {
    code.at('local.get', thread);
    code.i32(plan.windows.local);
    code.op('i32.mul');
    code.op('i32.add');
  }
  code.op('i64.extend_i32_u');
}

function writeSreg({ context, code, x, y, z, thread }: LeafFrame, name: InstOf<'sreg'>['name']): void {
  const { globals } = context.host;
  const lanes = { x, y, z };
  const [register, axis] = name.split('.') as [string, 'x' | 'y' | 'z'];
  switch (register) {
    case 'tid':
      return code.at('local.get', name === 'tid.linear' ? thread : lanes[axis]);
    case 'gid':
      code.at('global.get', globals[`ctaid.${axis}`]);
      code.at('global.get', globals[`ntid.${axis}`]);
      code.op('i32.mul');
      code.at('local.get', lanes[axis]);
      return code.op('i32.add');
    case 'laneid':
      code.at('local.get', thread);
      code.i32(31);
      return code.op('i32.and');
    case 'warpid':
      code.at('local.get', thread);
      code.i32(5);
      return code.op('i32.shr_u');
    case 'nwarpid':
      code.at('global.get', globals.threads);
      code.i32(31);
      code.op('i32.add');
      code.i32(5);
      return code.op('i32.shr_u');
    default:
      return code.at('global.get', globals[name as 'ntid.x']);
  }
}
