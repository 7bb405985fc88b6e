/** Cubes: the face that a direction meets, and where. Source: CUDA C++ Programming Guide, "Cubemap Textures". */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { int, single } from './descriptor.ts';

/** A place on a face: its number, and coordinates from 0 to 1. */
export interface OnFace {
  readonly face: Value;
  readonly coordinates: readonly [Value, Value];
}

/** Where a direction meets the cube around the origin: on the face of its greatest coordinate, of equal ones of z, then of y. */
export function onFace(ir: RowBuilder, [x, y, z]: readonly [Value, Value, Value]): OnFace {
  const [ax, ay, az] = [ir.fabs(x), ir.fabs(y), ir.fabs(z)];
  const isZ = ir.and(ir.fcmp(az, ax, { pred: 'oge' }), ir.fcmp(az, ay, { pred: 'oge' }));
  const isY = ir.fcmp(ay, ax, { pred: 'oge' });
  const major = ir.select(isZ, z, ir.select(isY, y, x));
  const isNegative = ir.icmp(ir.bitcast('i32', major), int(ir, 0), { pred: 'slt' });
  const base = ir.select(isZ, int(ir, 4), ir.select(isY, int(ir, 2), int(ir, 0)));
  const flipped = (value: Value, condition: Value): Value => ir.select(condition, ir.fneg(value), value);
  const isPositive = ir.xor(isNegative, ir.const('i1', 1));
  const s = ir.select(isZ, flipped(x, isNegative), ir.select(isY, x, flipped(z, isPositive)));
  const t = ir.select(isZ, ir.fneg(y), ir.select(isY, flipped(z, isNegative), ir.fneg(y)));
  const size = ir.fabs(major);
  const place = (value: Value): Value => ir.fma(ir.fdiv(value, size), single(ir, 0.5), single(ir, 0.5));
  return { face: ir.add(base, ir.zext('i32', isNegative)), coordinates: [place(s), place(t)] };
}
