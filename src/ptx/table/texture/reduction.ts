/** Reductions of surfaces: atomic operations on bytes of images (`sured.b`). Source: PTX ISA 9.0, 9.7.11.3. */
import type { AtomicOp, Value } from '../../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { bitsOfType, isSignedType } from '../../model/types.ts';
import { axesOf, coordinatesOf, descriptorOf } from './descriptor.ts';
import { type Mode, placeOf, stopOutside } from './surface.ts';

const geometries = ['1d', '2d', '3d'] as const;
const modes = ['trap', 'clamp', 'zero'] as const;
const doc = 'Outside of the surface `.trap` stops the kernel, `.clamp` takes the nearest place in it, and `.zero` changes nothing.';
const common = {
  vectors: { b: 'some' },
  spaces: { a: 'global' },
  since: { ptx: 2, sm: 20 },
  source: '9.7.11.3',
  status: 'exact',
  cases: () => [],
} as const;

interface Reduced {
  readonly a: AddressOperand;
  readonly b: Value | readonly Value[];
  readonly c: Value;
}

interface Form {
  readonly op: string;
  readonly geom: (typeof geometries)[number];
  readonly mode: Mode;
  readonly ctype: string;
}

/** Combines bytes with a number, atomically. */
function reduce(ir: RowBuilder, { a, b, c }: Reduced, { op, geom, mode, ctype }: Form): void {
  const bytes = bitsOfType(ctype as 'u32') / 8;
  const access = { geometry: geom, coordinates: coordinatesOf(ir, b, geom, axesOf[geom]), mode, bytes };
  const place = placeOf(ir, descriptorOf(ir, a, 'surface'), access);
  const sign = isSignedType(ctype as 'u32') ? 's' : 'u';
  const rmw = (op === 'min' || op === 'max' ? `${sign}${op}` : op) as AtomicOp;
  const change = (): void => void ir.atomic(place.pointer, c, { rmw });
  if (mode === 'trap') stopOutside(ir, place);
  if (mode === 'zero') ir.when(place.isInside, change);
  else change();
}

export const surfaceReductionRows = (): readonly Row[] => [
  row({
    ...common,
    syntax: 'sured.b.op.geom.ctype.mode [a, b], c',
    values: { op: ['add', 'min', 'max'], geom: geometries, ctype: ['u32', 's32', 'u64'], mode: modes },
    types: { a: 'u64', b: 's32', c: '.ctype' },
    doc: `Combines bytes of a surface with a number, atomically. ${doc}`,
    lower: (given, m, ir) => reduce(ir, given, m),
  }),
  row({
    ...common,
    syntax: 'sured.b.op.geom.ctype.mode [a, b], c',
    values: { op: ['min', 'max'], geom: geometries, ctype: ['s64'], mode: modes },
    types: { a: 'u64', b: 's32', c: '.ctype' },
    doc: `Combines bytes of a surface with a signed number, atomically. ${doc}`,
    lower: (given, m, ir) => reduce(ir, given, m),
  }),
  row({
    ...common,
    syntax: 'sured.b.op.geom.b32.mode [a, b], c',
    values: { op: ['and', 'or'], geom: geometries, mode: modes },
    types: { a: 'u64', b: 's32', c: 'b32' },
    doc: `Combines bytes of a surface with bits, atomically. ${doc}`,
    lower: (given, m, ir) => reduce(ir, given, { ...m, ctype: 'b32' }),
  }),
];
