/** Raises calls: of the module's own functions, of AIR's and of LLVM's. An unknown function is refused by name. */
import type { InstructionOf } from '../../bitcode/model.ts';
import { spell } from '../../bitcode/types.ts';
import type { Value } from '../../ir/index.ts';
import { isHint } from '../hints.ts';
import { fenceOperands, hasSignature, type Intrinsic, intrinsicOf } from '../intrinsics.ts';
import { type Lanes, Refused } from '../types.ts';
import { raiseAtomic } from './atomics.ts';
import { applyOp, raiseElements } from './elements.ts';
import { raiseMatrix, raiseMma } from './matrices.ts';
import { shapedFunctionOf } from './shaped-functions.ts';
import type { RaiseState } from './state.ts';
import { raiseWarp } from './warp.ts';

/** The result of a call; undefined if there is none. */
export function raiseCall(state: RaiseState, inst: InstructionOf<'call'>): Lanes | undefined {
  const { callee } = inst;
  if (callee.kind !== 'function') throw new Refused('an indirect call');
  if (callee.blocks.length > 0) return state.place.inline(state, inst, callee);
  const { name } = callee;
  if (isHint(name)) return undefined;
  const row = intrinsicOf(name);
  if (row) return raiseIntrinsic(state, row, inst);
  const shaped = shapedFunctionOf(name);
  if (shaped) return shaped(state, inst);
  return raiseElements(state, inst) ?? refuseFunction(name);
}

function raiseIntrinsic(state: RaiseState, row: Intrinsic, inst: InstructionOf<'call'>): Lanes | undefined {
  if (!hasSignature(row, inst.functionType)) throw new Refused(`the function \`${row.name}\` of type ${spell(inst.functionType)}`);
  if (row.atomic) return raiseAtomic(state, row, inst);
  if (row.warp) return raiseWarp(state, row, inst);
  if (row.matrix) return raiseMatrix(state, row, inst);
  if (row.form !== undefined) return raiseMma(state, row.form, inst);
  if (row.clock) return [state.b.clock('i64', { name: row.clock })];
  if (row.op === 'fence') {
    raiseFence(state, inst);
    return undefined;
  }
  const masked = raiseMasked(state, row, valueArguments(inst).map(state.scalar));
  if (masked) return masked.lanes;
  if (row.op === 'mark') {
    state.b.mark();
    return undefined;
  }
  if (row.op === 'barrier') {
    state.b.barrier();
    return undefined;
  }
  return [applyOp(state.b, row, valueArguments(inst).map(state.scalar))];
}

/** The result of a collective by a member mask; undefined for another function. */
function raiseMasked({ b }: RaiseState, row: Intrinsic, args: readonly Value[]): { readonly lanes: Lanes | undefined } | undefined {
  const [first, second, third] = args as [Value, Value, Value];
  switch (row.op) {
    case 'shufflesync':
      return { lanes: [b.shufflesync(first, second, third)] };
    case 'ballotsync':
      return { lanes: [b.ballotsync('i32', first, second)] };
    case 'reducesync':
      return { lanes: [b.reducesync(first, second, { fold: row.fold! })] };
    case 'warpsync':
      b.warpsync(first, { isFence: row.isFence! });
      return { lanes: undefined };
    default:
      return undefined;
  }
}

function refuseFunction(name: string): never {
  throw new Refused(`the function \`${name}\``);
}

const valueArguments = ({ args }: InstructionOf<'call'>) =>
  args.flatMap((arg) => (arg.kind === 'metadata' || arg.type.kind === 'metadata' ? [] : [arg]));

/** A fence of a scope below the device is treated as a fence of the block. */
function raiseFence({ b }: RaiseState, { args }: InstructionOf<'call'>): void {
  const scope = args[2];
  const isDevice = scope?.kind === 'constant' && scope.form === 'int' && Number(scope.value) === fenceOperands.scope.device;
  b.fence({ scope: isDevice ? 'device' : 'block' });
}
