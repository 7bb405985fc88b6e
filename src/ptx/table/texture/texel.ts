/** Texels: their channels as words, and as the numbers that filters mix. */

import type { Value } from '../../../ir/index.ts';
import { texelDecoders, textureHead } from '../../../ir/texture.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Descriptor, int, single } from './descriptor.ts';

/** What all texels of a texture have in common, read once. */
export interface Format {
  readonly channels: Value;
  readonly channelBytes: Value;
  readonly texelBytes: Value;
  readonly decoder: Value;
  readonly descriptor: Descriptor;
}

export const formatOf = (descriptor: Descriptor): Format => ({
  channels: descriptor.word(textureHead.channels),
  channelBytes: descriptor.word(textureHead.channelBytes),
  texelBytes: descriptor.word(textureHead.texelBytes),
  decoder: descriptor.word(textureHead.decoder),
  descriptor,
});

const isAtLeast = (ir: RowBuilder, a: Value, b: number): Value => ir.icmp(a, int(ir, b), { pred: 'uge' });
const isEqual = (ir: RowBuilder, a: Value, b: number): Value => ir.icmp(a, int(ir, b), { pred: 'eq' });

/** The bits of a channel of a texel at an address, zero-extended to a word. A channel that the format does not have is read as the last. */
function rawChannel(ir: RowBuilder, { channels, channelBytes }: Format, texel: Value, channel: number): Value {
  const last = ir.sub(channels, int(ir, 1));
  const at = channel === 0 ? texel : ir.ptradd(texel, ir.zext('i64', ir.mul(ir.umin(int(ir, channel), last), channelBytes)));
  const part = (type: 'i8' | 'i16', align: number) => (): Value => ir.zext('i32', ir.load(type, at, { align, volatile: false }));
  return ir.either(
    isEqual(ir, channelBytes, 4),
    () => ir.load('i32', at, { align: 4, volatile: false }),
    () => ir.either(isEqual(ir, channelBytes, 1), part('i8', 1), part('i16', 2)),
  );
}

/** A word as a number that results have: integers with their sign, halves as floats, parts of a range as floats of 0 or -1 to 1. */
function decoded(ir: RowBuilder, format: Format, raw: Value, channel: number): Value {
  const { channelBytes, decoder } = format;
  const unused = ir.sub(int(ir, 32), ir.shl(channelBytes, int(ir, 3)));
  const signed = ir.ashr(ir.shl(raw, unused), unused);
  const isSigned = ir.or(isEqual(ir, decoder, texelDecoders.signed), isEqual(ir, decoder, texelDecoders.signedNormalized));
  const whole = ir.select(isSigned, signed, raw);
  const half = (): Value => halfOf(ir, raw);
  const part = (): Value => normalized(ir, whole, isSigned, unused);
  const isSrgb = isEqual(ir, decoder, texelDecoders.srgb);
  const light = (): Value => (channel === 3 ? part() : ir.either(isSrgb, () => linearLight(ir, format, raw), part));
  const float = (): Value => ir.either(isEqual(ir, decoder, texelDecoders.half), half, light);
  return ir.either(isAtLeast(ir, decoder, texelDecoders.half), float, () => whole);
}

/** A half as a float, in whose NaNs bits stay. */
function halfOf(ir: RowBuilder, raw: Value): Value {
  const number = ir.bitcast('i32', ir.fpext('f32', ir.bitcast('f16', ir.trunc('i16', raw))));
  const sign = ir.shl(ir.and(raw, int(ir, 0x8000)), int(ir, 16));
  const special = ir.or(ir.or(sign, int(ir, 0x7f80_0000)), ir.shl(ir.and(raw, int(ir, 0x3ff)), int(ir, 13)));
  return ir.select(isEqual(ir, ir.and(raw, int(ir, 0x7c00)), 0x7c00), special, number);
}

/** An integer over the greatest one of its width, at least -1. */
function normalized(ir: RowBuilder, whole: Value, isSigned: Value, unused: Value): Value {
  const most = ir.lshr(int(ir, 0xffff_ffff), ir.add(unused, ir.zext('i32', isSigned)));
  const quotient = ir.fdiv(ir.sitofp('f32', whole), ir.sitofp('f32', most));
  return ir.bitcast('i32', ir.fmax(quotient, single(ir, -1)));
}

/** The light that a byte of sRGB stands for. */
function linearLight(ir: RowBuilder, { descriptor }: Format, byte: Value): Value {
  const offset = ir.add(descriptor.word(textureHead.table), ir.shl(byte, int(ir, 2)));
  return ir.load('i32', ir.ptradd(descriptor.pointer, ir.zext('i64', offset)), { align: 4, volatile: false });
}

/** The four words of a texel at an address. Channels that the format does not have are 0. Source: recorded on an NVIDIA H200. */
export function texelAt(ir: RowBuilder, format: Format, texel: Value): Value[] {
  return [0, 1, 2, 3].map((channel) => {
    const value = decoded(ir, format, rawChannel(ir, format, texel, channel), channel);
    if (channel === 0) return value;
    return ir.select(ir.icmp(format.channels, int(ir, channel), { pred: 'ugt' }), value, int(ir, 0));
  });
}
