/** Parameters of an entry as the kernel's: parameter i is slot i, each by value until `classify-params` finds the pointers. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { KernelParam } from '../ir/index.ts';
import { registerTypes } from '../ptx/index.ts';
import type { PtxFunction, Variable } from '../ptx/syntax/ast.ts';
import { layoutFault, layoutOf } from './initializer.ts';

/** Buffer slots of a pipeline. */
export const slotLimit = 31;

/** Types whose values may be addresses. */
const addressTypes = new Set(['b64', 'u64', 's64']);

/** Reports CM2044, CM2045 and CM2050 for parameters that cannot be bound. */
export function lowerParams(entry: PtxFunction, diagnostics: Diagnostics): KernelParam[] {
  return entry.params.map((param, slot) => lowerParam(param, slot, diagnostics));
}

function lowerParam(param: Variable, slot: number, diagnostics: Diagnostics): KernelParam {
  const layout = layoutOf(param);
  if (!layout || param.regCount !== undefined)
    diagnostics.report('CM2045', { name: param.name, type: param.type }, { span: param.nameSpan });
  const fault = layout && layoutFault(param, layout);
  if (fault) diagnostics.report('CM2050', { name: param.name, why: fault }, { span: param.nameSpan });
  const space = param.ptr?.space;
  if (space !== undefined && space !== 'global') diagnostics.report('CM2044', { name: param.name, space }, { span: param.nameSpan });
  const isScalar = param.dims.length === 0 && param.vector === undefined;
  return {
    name: param.name,
    kind: 'value',
    space: 'param',
    size: layout?.size ?? 0,
    align: layout?.align ?? 1,
    slot,
    element: isScalar ? registerTypes[param.type] : undefined,
    signed: param.type.startsWith('s'),
    access: undefined,
    span: param.nameSpan,
  };
}

/** Positions of parameters that may be pointers, of those declared so, and of numbers that are declared as bits. */
export function pointerParams(entry: PtxFunction): Record<'candidates' | 'declared' | 'untyped', ReadonlySet<number>> {
  const candidates = new Set<number>();
  const declared = new Set<number>();
  const untyped = new Set<number>();
  entry.params.forEach((param, index) => {
    if (param.type.startsWith('b')) untyped.add(index);
    if (!addressTypes.has(param.type) || param.dims.length > 0 || param.vector !== undefined) return;
    candidates.add(index);
    if (param.ptr) declared.add(index);
  });
  return { candidates, declared, untyped };
}
