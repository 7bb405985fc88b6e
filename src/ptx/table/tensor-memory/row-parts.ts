/** What rows of tensor memory have in common: words of modifiers, operands, and how these become a product. */
import type { Value } from '../../../ir/index.ts';
import type { AddressOperand, AnyModifiers, RowBuilder } from '../../model/row.ts';
import type { Kind } from './factors.ts';
import { multiplyInTensor, type Product } from './products.ts';
import { addressOf } from './words.ts';

export const since = { ptx: 8.6, sm: 100 } as const;
export const group = ['cta_group::1', 'cta_group::2'] as const;
export const cpu = 'Requires `--target cpu`.';
export const atOnce = `It is performed immediately. ${cpu}`;
export const listOf = (list: Value | readonly Value[]): readonly Value[] => (typeof list === 'number' ? [list] : list);
export const isPair = (group: string): boolean => group === 'cta_group::2';

/** Collector buffers keep `a`, or one of four of `b`, for later products. */
export const collectors = ['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] as const;
export const stationary = ['b0', 'b1', 'b2', 'b3'].flatMap((buffer) =>
  ['fill', 'use', 'lastuse', 'discard'].map((use) => `collector::${buffer}::${use}`),
);
export const floats = ['kind::f16', 'kind::tf32', 'kind::f8f6f4'] as const;
export const scaledKinds = ['kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] as const;
export const factors = ['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] as const;
/** Blocks with a scale factor of their own. */
export const blocks = [
  { kind: ['kind::mxf8f6f4'], scale: ['scale_vec::2X', 'scale_vec::4X', 'block16'] },
  { kind: ['kind::mxf4'], scale: ['scale_vec::1X', 'scale_vec::4X', 'block16'] },
  { kind: ['kind::mxf4nvf4'], scale: ['', 'scale_vec::1X'] },
] as const;
const operands = { c: 'b32', b: 'b64', i: 'b32', e: 'pred', z: 's32', o: 'b32', s: 'b32', t: 'b32', m: 'b32' } as const;
export const inShared = { ...operands, a: 'b64' } as const;
export const inTensor = { ...operands, a: 'b32' } as const;
/** Registers of 32 bits are addresses. */
export const ofShared = { c: 'shared', s: 'shared', t: 'shared', m: 'shared' } as const;
export const ofTensor = { ...ofShared, a: 'shared' } as const;
export const vectors = { o: 'elements' } as const;
export const lanes = { o: ({ group }: AnyModifiers) => (group === 'cta_group::2' ? 8 : 4) } as const;
export const constants = { z: [0, 15] } as const;

export const productCommon = {
  since,
  source: '9.7.16.10',
  cases: () => [],
  status: {
    approximate:
      'exact products, summed in double precision and rounded once, where tensor cores add in an order and with a rounding of their own; layouts are those of the manual and of CUTLASS, and no GPU was compared',
  },
} as const;
export const integerCommon = { ...productCommon, status: 'exact' } as const;
export const kept = 'Collector buffers are ignored.';

interface Given {
  readonly c: AddressOperand;
  readonly a: Value | AddressOperand;
  readonly b: Value;
  readonly i: Value;
  readonly e: Value;
  readonly z?: Value;
  readonly o?: Value | readonly Value[];
  readonly s?: AddressOperand;
  readonly t?: AddressOperand;
  readonly m?: AddressOperand;
}

export const kindOf = (kind: string): Kind => kind.slice('kind::'.length) as Kind;

export function multiplied(ir: RowBuilder, given: unknown, product: Product): void {
  const { c, a, b, i, e, z, o, s, t, m } = given as Given;
  multiplyInTensor(
    ir,
    {
      d: addressOf(ir, c),
      a: product.isInTensor ? addressOf(ir, a as AddressOperand) : (a as Value),
      ...{ b, i, e, z },
      ...(o === undefined ? {} : product.by === 'stationary' ? { zeros: o as Value } : { o: listOf(o) }),
      ...(s === undefined || t === undefined ? {} : { s: addressOf(ir, s), t: addressOf(ir, t) }),
      ...(m === undefined ? {} : { m: addressOf(ir, m) }),
    },
    product,
  );
}

export const byOf = (group: string): Product['by'] => (isPair(group) ? 'pair' : 'one');
export const blockOf = (m: AnyModifiers): 16 | 32 => (m.scale === 'scale_vec::4X' || m.scale === 'block16' ? 16 : 32);
