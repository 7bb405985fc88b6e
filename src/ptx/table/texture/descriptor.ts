/** Descriptors of textures and surfaces as kernels read them (`src/ir/texture.ts`). */

import type { Value } from '../../../ir/index.ts';
import { textureHead, textureImage, textureMagic } from '../../../ir/texture.ts';
import type { AddressOperand, RowBuilder } from '../../model/row.ts';

/** Shapes of textures, by the words of PTX. */
export type Geometry = '1d' | '2d' | '3d' | 'a1d' | 'a2d' | 'cube' | 'acube';

/** Axes of a texel in its plane or box; a cube has the axes of its faces. */
export const axesOf: Readonly<Record<Geometry, 1 | 2 | 3>> = { '1d': 1, '2d': 2, '3d': 3, a1d: 1, a2d: 2, cube: 2, acube: 2 };

export const isCube = (geometry: Geometry): boolean => geometry.endsWith('cube');

/** An operand of one value or a vector of some. */
export type List = Value | readonly Value[];
export const listOf = (value: List): readonly Value[] => (typeof value === 'number' ? [value] : value);

/** The coordinates of an operand, the layer first if there are several, and one for each axis. Refuses a vector that is too short. */
export function coordinatesOf(ir: RowBuilder, operand: List, geometry: Geometry, axes: number): readonly Value[] {
  const list = listOf(operand);
  const wanted = axes + (geometry.startsWith('a') ? 1 : 0);
  if (list.length >= wanted) return list;
  ir.refuse(`${list.length} coordinates, of which ${wanted} are needed`);
  return Array.from({ length: wanted }, (_, i) => list[i] ?? list[0]!);
}

export interface Descriptor {
  readonly pointer: Value;
  word(offset: number): Value;
}

export const int = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

const float = new Float32Array(1);
/** A float constant. */
export function single(ir: RowBuilder, value: number): Value {
  float[0] = value;
  return ir.const('f32', new Uint32Array(float.buffer)[0]!);
}

const access = { align: 4, volatile: false } as const;

/** The word at an offset from a pointer, an i32. */
export const wordAt = (ir: RowBuilder, pointer: Value, offset: number): Value =>
  ir.load('i32', ir.ptradd(pointer, ir.const('i64', offset)), access);

/** The descriptor that a handle is the address of. The kernel stops where it is none, as far as its first word says so. */
export function descriptorOf(ir: RowBuilder, handle: AddressOperand, kind: keyof typeof textureMagic): Descriptor {
  const pointer = ir.pointer(handle, 'global');
  const isNone = ir.icmp(wordAt(ir, pointer, textureHead.magic), int(ir, textureMagic[kind]), { pred: 'ne' });
  ir.when(isNone, () => ir.stop(`a handle that is of no ${kind}`));
  return descriptorAt(ir, pointer);
}

/** The descriptor at an address. */
export const descriptorAt = (ir: RowBuilder, pointer: Value): Descriptor => ({ pointer, word: (offset) => wordAt(ir, pointer, offset) });

/** An image of a texture: its extent by axis, and where its texels are. */
export interface Image {
  readonly address: Value;
  readonly extent: readonly Value[];
  readonly pitch: Value;
  readonly slice: Value;
}

/** The image of a level, which is a number below the count of levels; of the first without one. */
export function imageOf(ir: RowBuilder, { pointer }: Descriptor, level?: Value): Image {
  const offset = level && ir.mul(ir.zext('i64', level), ir.const('i64', textureImage.bytes));
  const image = ir.ptradd(offset ? ir.ptradd(pointer, offset) : pointer, ir.const('i64', textureHead.bytes));
  const word = (at: number): Value => wordAt(ir, image, at);
  return {
    address: ir.inttoptr('ptr.global', ir.load('i64', image, { align: 8, volatile: false })),
    extent: [word(textureImage.width), word(textureImage.height), word(textureImage.depth)],
    pitch: word(textureImage.pitch),
    slice: word(textureImage.slice),
  };
}

/** The sum of products of coordinates and distances in bytes, as an offset. */
export const offsetIn = (ir: RowBuilder, { address }: Image, products: readonly (readonly [Value, Value])[]): Value =>
  ir.ptradd(
    address,
    ir.zext(
      'i64',
      products.map(([a, b]) => ir.mul(a, b)).reduce((a, b) => ir.add(a, b)),
    ),
  );
