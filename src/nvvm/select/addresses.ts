/** Address arithmetic: constant offsets stay with the address, and accesses contain them. Source: LLVM Language Reference, "getelementptr". */
import type { InstructionOf } from '../../bitcode/index.ts';
import { elementOf, offsetOf, sizeOf } from '../layout.ts';
import { refuse } from '../refused.ts';
import { type FunctionState, into, type Place } from '../state.ts';
import { inRegister, materialize, operand, placeOf } from '../values.ts';
import { resized } from './integers.ts';

/** The address of an element. */
export function selectGep(s: FunctionState, inst: InstructionOf<'gep'>): Place {
  if (inst.type.kind !== 'pointer') return refuse('a vector of addresses');
  let at = placeOf(s, inst.base);
  let type = inst.sourceType;
  for (const [i, index] of inst.indices.entries()) {
    if (i > 0 && type.kind === 'struct') {
      const n = index.kind === 'constant' && index.form === 'int' ? Number(index.value) : refuse('a variable index of a struct');
      at = { ...at, offset: at.offset + offsetOf(type, n) };
      type = elementOf(type, n);
      continue;
    }
    if (i > 0) type = elementOf(type, 0);
    const size = sizeOf(type);
    if (index.kind === 'constant' && index.form === 'int')
      at = { ...at, offset: at.offset + Number(BigInt.asIntN(index.type.bits, index.value)) * size };
    else at = moved(s, at, index, size);
  }
  return at;
}

/** The address behind a variable number of elements; its constant offset stays apart. */
function moved(s: FunctionState, at: Place, index: InstructionOf<'gep'>['base'], size: number): Place {
  const bits = index.type.kind === 'int' ? index.type.bits : refuse('an index that is no integer');
  if (bits > 64) return refuse('an index of more than 64 bits');
  const n = bits === 64 ? operand(s, index) : resized(s, operand(s, index), bits, 64, true);
  const bytes =
    size === 1
      ? n
      : Number.isInteger(Math.log2(size))
        ? into(s, 'rd', 'shl.b64', n, Math.log2(size))
        : into(s, 'rd', 'mul.lo.s64', n, size);
  const base = inRegister(s, materialize(s, { ...at, offset: 0 }), { kind: 'pointer', space: 0 });
  return { base: into(s, 'rd', 'add.s64', base, bytes), offset: at.offset, space: at.space };
}
