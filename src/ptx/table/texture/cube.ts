/** Cubes: the face that a direction meets, and where. Source: CUDA C++ Programming Guide, "Cubemap Textures". */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { int, single } from './descriptor.ts';

/** A place on a face: its number, and coordinates from 0 to 1. */
export interface OnFace {
  readonly face: Value;
  readonly coordinates: readonly [Value, Value];
}

/** A direction whose length counts: NaN is 0, and the reciprocal of a greater coordinate than this is, so that there is no direction. */
const longest = 2 ** 126;
function within(ir: RowBuilder, direction: readonly Value[]): [Value, Value, Value] {
  const numbers = direction.map((value) => ir.select(ir.fcmp(value, value, { pred: 'ord' }), value, single(ir, 0)));
  const isLong = numbers.map((value) => ir.fcmp(ir.fabs(value), single(ir, longest), { pred: 'ogt' })).reduce((a, b) => ir.or(a, b));
  return numbers.map((value) => ir.select(isLong, single(ir, 0), value)) as [Value, Value, Value];
}

/** The face of a direction whose z is infinite. Source: recorded on an NVIDIA H200. */
function faceOfInfinite(ir: RowBuilder, [, y, z]: readonly [Value, Value, Value], face: Value): Value {
  const isInfinite = (value: Value): Value => ir.fcmp(ir.fabs(value), single(ir, Number.POSITIVE_INFINITY), { pred: 'oeq' });
  return ir.select(isInfinite(z), ir.select(isInfinite(y), int(ir, 0), int(ir, 2)), face);
}

/**
 * How far the place on a face moves with each of two gradients of a direction: by the quotient rule, since the place is the quotient of a coordinate by
 * the greatest one, halved.
 */
export function alongFace(ir: RowBuilder, direction: readonly Value[], gradients: readonly (readonly Value[])[]): Value[][] {
  const [x, y, z] = within(ir, direction);
  const [ax, ay, az] = [ir.fabs(x), ir.fabs(y), ir.fabs(z)];
  const isZ = ir.and(ir.fcmp(az, ax, { pred: 'oge' }), ir.fcmp(az, ay, { pred: 'oge' }));
  const isY = ir.fcmp(ay, ax, { pred: 'oge' });
  const split = ([p, q, r]: readonly [Value, Value, Value]): [Value, Value, Value] => [
    ir.select(isZ, r, ir.select(isY, q, p)),
    ir.select(ir.or(isZ, isY), p, q),
    ir.select(isZ, q, r),
  ];
  const [major, s, t] = split([x, y, z]);
  const half = ir.fdiv(single(ir, 0.5), ir.fmul(major, major));
  return gradients.map((gradient) => {
    const [along, ds, dt] = split(gradient.slice(0, 3) as unknown as [Value, Value, Value]);
    const moved = (own: Value, by: Value): Value => ir.fmul(ir.fsub(ir.fmul(by, major), ir.fmul(own, along)), half);
    return [moved(s, ds), moved(t, dt)];
  });
}

/** Where a direction meets the cube around the origin: on the face of its greatest coordinate, of equal ones of z, then of y. */
export function onFace(ir: RowBuilder, direction: readonly [Value, Value, Value]): OnFace {
  const [x, y, z] = within(ir, direction);
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
  const isPlace = ir.fcmp(size, single(ir, 0), { pred: 'ogt' });
  const place = (value: Value): Value =>
    ir.select(isPlace, ir.fma(ir.fdiv(value, size), single(ir, 0.5), single(ir, 0.5)), single(ir, 0.5));
  const face = ir.add(base, ir.zext('i32', isNegative));
  return { face: faceOfInfinite(ir, direction, face), coordinates: [place(s), place(t)] };
}
