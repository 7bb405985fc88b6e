/** Groups of conversions of the lower and the upper half of vectors, which one `vector.widen` does. */
import type { Inst, Value } from '../ssa/types.ts';
import type { Node, Numbering } from './numbering.ts';

/** The vectors whose halves some members convert, each lower half before its upper half, and how; undefined if they are something else. */
export function halvesOf(
  numbering: Numbering,
  members: readonly Node[],
): { readonly sources: readonly Value[]; readonly conversion: string } | undefined {
  const sources: Value[] = [];
  const conversion = numbering.insts[members[0]!]!.op;
  if (!conversion.includes('_low_')) return undefined;
  for (let i = 0; i < members.length; i += 2) {
    const [low, high] = [numbering.insts[members[i]!]!, numbering.insts[members[i + 1]!]!];
    if (low.op !== conversion) return undefined;
    const source = low.args.length === 1 ? upperHalfSource(numbering, conversion, high) : undefined;
    if (source === undefined || source !== low.args[0]) return undefined;
    sources.push(source);
  }
  return { sources, conversion };
}

/** The vector whose upper half an instruction converts as `conversion` does the lower half. */
function upperHalfSource({ insts, nodeOf }: Numbering, conversion: string, { op, args }: Inst): Value | undefined {
  if (op === conversion.replace('_low_', '_high_') && op !== conversion) return args[0];
  if (op !== conversion) return undefined;
  const moved = insts[nodeOf[args[0]!]!];
  if (moved?.op !== 'i8x16.shuffle' || !moved.bytes!.slice(0, 8).every((byte, i) => byte === 8 + i)) return undefined;
  return moved.args[0];
}
