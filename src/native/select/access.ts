/** What accesses of memory there are, by the names of their instructions. */
import { bytesOfType, type Inst, isGather, partsOfType, type SsaFunction, type SsaType } from '../ssa/types.ts';

interface Shape {
  readonly isStore: boolean;
  readonly isAtomic: boolean;
  /** Bytes, or those of a vector of 128 bits with `perPart`; undefined for those of the type. */
  readonly bytes: number | undefined;
  readonly perPart: boolean;
}

export interface Access {
  readonly bytes: number;
  readonly isStore: boolean;
  readonly isAtomic: boolean;
}

const pattern = /^\w+\.(atomic\.)?(load|store|rmw)(\d+)?(?:x(\d+))?(?:[._].*)?$/;
const shapes = new Map<string, Shape | undefined>();

function shapeOf(op: string): Shape | undefined {
  const found = pattern.exec(op);
  if (!found) return undefined;
  const [, atomic, what, bits, lanes] = found;
  return {
    isAtomic: atomic !== undefined,
    isStore: what !== 'load',
    bytes: bits === undefined ? undefined : (Number(bits) / 8) * Number(lanes ?? 1),
    perPart: lanes !== undefined,
  };
}

/** The access that an instruction makes; undefined for one that makes none. */
export function accessOf(fn: SsaFunction, inst: Inst): Access | undefined {
  // Gathers check all of their addresses themselves.
  if (isGather(inst.op)) return undefined;
  let shape = shapes.get(inst.op);
  if (shape === undefined) {
    if (shapes.has(inst.op)) return undefined;
    shape = shapeOf(inst.op);
    shapes.set(inst.op, shape);
    if (shape === undefined) return undefined;
  }
  const type: SsaType = fn.types[inst.result ?? inst.args[1]!]!;
  const bytes = (shape.bytes ?? bytesOfType(type)) * (shape.perPart ? partsOfType(type) : 1);
  return { bytes, isStore: shape.isStore, isAtomic: shape.isAtomic };
}
