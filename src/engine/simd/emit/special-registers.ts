/** Special registers of a lane group: locals that are set when a group starts. */
import type { Sreg } from '../../../ir/index.ts';
import type { Code, NameWith } from '../../../wasm/index.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import type { GroupFrame } from '../lanes/lane-group.ts';
import type { LeafLocals } from '../lanes/leaf-values.ts';
import { quotient, remainder } from '../rules/divide-by-constant.ts';

interface SpecialRegisters {
  readonly plan: SimdPlan;
  readonly code: Code;
  readonly frame: GroupFrame;
  readonly starts: LeafLocals;
}

/** Sets the locals of a special register. */
export function setSpecialRegister(s: SpecialRegisters, name: Sreg): void {
  const { code, starts, frame } = s;
  const base = starts.base.get(name);
  if (base !== undefined) {
    code.at('local.get', frame.first);
    pushOfThread(s, name);
    code.at('local.set', base);
  }
  const vectors = starts.vectors.get(name) ?? [];
  for (const [pack, vector] of vectors.entries()) {
    code.v128([0, 0, 0, 0]);
    for (let lane = 0; lane < 4; lane++) {
      code.at('local.get', frame.first);
      code.i32(4 * pack + lane);
      code.op('i32.add');
      pushOfThread(s, name);
      code.lane('i32x4.replace_lane', lane);
    }
    code.at('local.set', vector);
  }
}

/** Pushes a special register of the thread whose number is on the stack. */
function pushOfThread({ code, plan, starts }: SpecialRegisters, name: Sreg): void {
  const [nx, ny] = plan.block;
  const by = (op: NameWith<'none'>, count: number): void => {
    code.i32(count);
    code.op(op);
  };
  const [what, axis] = name.split('.');
  if (what === 'laneid') return by('i32.and', 31);
  if (what === 'warpid') return by('i32.shr_u', 5);
  if (name === 'tid.linear') return;
  if (axis === 'x' && plan.block[1] * plan.block[2] > 1) remainder(code, nx);
  if (axis === 'y') {
    quotient(code, nx);
    if (plan.block[2] > 1) remainder(code, ny);
  }
  if (axis === 'z') quotient(code, nx * ny);
  if (what !== 'gid') return;
  code.at('local.get', starts.blocks.get(`ctaid.${axis}` as Sreg)!);
  code.i32(plan.block['xyz'.indexOf(axis!)]!);
  code.op('i32.mul');
  code.op('i32.add');
}
