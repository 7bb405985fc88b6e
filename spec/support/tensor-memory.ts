/** Kernels of products in tensor memory, and what they compute by the manual's layouts. Source: PTX ISA 9.0, 9.7.16.2 to 9.7.16.5 and 9.7.16.10. */

export type Kind = 'f16' | 'tf32' | 'i8' | 'f8f6f4' | 'mxf8f6f4' | 'mxf4' | 'mxf4nvf4';

let seed = 2024;
/** A whole number below a limit. */
export const random = (below: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};
const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!;

/** Bytes of shared memory of a block. */
export const imageBytes = 40960;

/** A factor in shared memory. */
export interface Factor {
  readonly start: number;
  readonly leading: number;
  readonly stride: number;
  /** Bytes of a row of the swizzle, 16 for none; 1 is that of 128 bytes which exchanges 32. */
  readonly swizzle: 16 | 32 | 64 | 128 | 1;
  readonly isAcross: boolean;
  readonly format: number;
  readonly isNegated: boolean;
}

export interface Choice {
  readonly kind: Kind;
  readonly by: 'one' | 'pair' | 'stationary';
  readonly m: number;
  readonly n: number;
  readonly a: Factor;
  readonly b: Factor;
  readonly isInTensor: boolean;
  /** Of a sparse product: which columns of metadata. */
  readonly selector?: number;
  /** Whether rows of a are shifted afterwards. */
  readonly isShifted?: boolean;
  readonly isAdded: boolean;
  readonly isSaturated: boolean;
  /** By which power of two d is divided. */
  readonly divided: number | undefined;
  /** Lanes that are not written. */
  readonly masks: readonly number[];
  /** Columns of b that count as zeros: where spans begin in each part, whether with zeros, and the lengths of spans. */
  readonly zeros?: {
    readonly starts: readonly number[];
    readonly areFirst: readonly boolean[];
    readonly used: number;
    readonly zero: number;
  };
  /** Of scale factors: the bytes of the first ones, elements that share one, and whether they are powers of two. */
  readonly scales:
    | { readonly a: number; readonly b: number; readonly block: 16 | 32; readonly arePowers: boolean; readonly word: string }
    | undefined;
}

const depth: Readonly<Record<Kind, number>> = { f16: 16, tf32: 8, i8: 32, f8f6f4: 32, mxf8f6f4: 32, mxf4: 64, mxf4nvf4: 64 };
/** Formats by their numbers: exponent and mantissa bits. */
const small: Readonly<Record<number, readonly [number, number]>> = { 0: [4, 3], 1: [5, 2], 3: [2, 3], 4: [3, 2], 5: [2, 1] };

/** The bits of an element. */
function widthOf(kind: Kind, format: number): number {
  if (kind === 'f16') return 16;
  if (kind === 'tf32') return 32;
  if (kind === 'i8') return 8;
  if (kind === 'mxf4' || kind === 'mxf4nvf4') return 4;
  return 1 + small[format]![0] + small[format]![1];
}

/** Offsets of the rows of the other dimension, and along k, of a factor of so many rows. */
function chosenFactor(kind: Kind, start: number, format: number): Factor {
  const width = widthOf(kind, format);
  const isAcross = width >= 8 && random(2) === 1;
  // The swizzle that exchanges 32 bytes is for what is contiguous across.
  const swizzle = isAcross && kind === 'tf32' ? 1 : oneOf([16, 32, 64, 128] as const);
  const line = swizzle === 1 ? 128 : swizzle;
  const gap = 16 * random(2) * (line === 16 ? 1 : 0);
  const common = { start, swizzle, isAcross, format, isNegated: kind !== 'i8' && random(2) === 1 } as const;
  if (!isAcross) {
    const leading = 128 + gap;
    return { ...common, leading, stride: line === 16 ? 2 * leading : 8 * line };
  }
  // Lines of `line` bytes along the other dimension, eight (or four) along k.
  const deep = swizzle === 1 ? 4 : 8;
  const block = deep * line;
  const blocksAlongK = depth[kind] / deep;
  const [other, k] = [blocksAlongK * block, block];
  return swizzle === 16 ? { ...common, leading: k, stride: other } : { ...common, leading: other, stride: k };
}

/** The descriptor of a factor; the address is added by the kernel. */
export function smem({ start, leading, stride, swizzle }: Factor): bigint {
  const mode = { 16: 0n, 1: 1n, 128: 2n, 64: 4n, 32: 6n }[swizzle];
  return (BigInt(start) >> 4n) | ((BigInt(leading) >> 4n) << 16n) | ((BigInt(stride) >> 4n) << 32n) | (1n << 46n) | (mode << 61n);
}

/** The instruction descriptor. */
export function instruction({ kind, m, n, a, b, isSaturated, scales, selector }: Choice): number {
  const formats = (a.format << 7) | (b.format << 10) | ((a.isNegated ? 1 : 0) << 13) | ((b.isNegated ? 1 : 0) << 14);
  const orders = ((a.isAcross ? 1 : 0) << 15) | ((b.isAcross ? 1 : 0) << 16);
  const common = (selector === undefined ? 0 : 4 | selector) | formats | orders | ((n >> 3) << 17) | ((m >> 4) << 24);
  if (scales) return (common | (scales.b << 4) | (scales.a << 29) | ((scales.arePowers ? 1 : 0) << 23)) >>> 0;
  return (common | ((isSaturated ? 1 : 0) << 3) | ((kind === 'i8' ? 2 : 1) << 4)) >>> 0;
}

/** The offset in shared memory of a bit of an element. */
function bitOf({ start, leading, stride, swizzle, isAcross }: Factor, width: number, kind: Kind, row: number, k: number): number {
  const line = swizzle === 1 ? 128 : swizzle;
  const deep = swizzle === 1 ? 4 : 8;
  // Sixteen elements of fewer than 8 bits are at the start of 16 bytes, unless the kind is of 4 bits alone.
  const bit = width < 8 && !/^mxf4/.test(kind) ? 128 * (k >> 4) + (k & 15) * width : k * width;
  let offset: number;
  if (isAcross) {
    const at = (row * width) / 8;
    const [other, along] = swizzle === 16 ? [stride, leading] : [leading, stride];
    offset = (at % line) + Math.floor(at / line) * other + (k % deep) * line + Math.floor(k / deep) * along;
  } else {
    const at = bit >> 3;
    offset = (row % 8) * line + (row >> 3) * stride + (swizzle === 16 ? (at >> 4) * leading + (at & 15) : at);
  }
  const address = start + offset;
  const row128 = address >> 7;
  const moved = swizzle === 1 ? address ^ ((row128 & 3) << 5) : address ^ ((row128 & (line / 16 - 1)) << 4);
  return 8 * moved + (isAcross ? 0 : bit & 7);
}

function floatOf(bits: number, exponent: number, mantissa: number): number {
  const sign = (bits >> (exponent + mantissa)) & 1 ? -1 : 1;
  const [field, fraction] = [(bits >> mantissa) & (2 ** exponent - 1), bits & (2 ** mantissa - 1)];
  const bias = 2 ** (exponent - 1) - 1;
  if (field === 0) return sign * fraction * 2 ** (1 - bias - mantissa);
  return sign * (2 ** mantissa + fraction) * 2 ** (field - bias - mantissa);
}

function numberOf(kind: Kind, format: number, bits: number): number {
  if (kind === 'f16') return format === 0 ? floatOf(bits, 5, 10) : floatOf(bits, 8, 7);
  if (kind === 'tf32') return new Float32Array(Uint32Array.of((bits & 0xffffe000) >>> 0).buffer)[0]!;
  if (kind === 'i8') return format === 1 ? (bits << 24) >> 24 : bits;
  if (kind.startsWith('mxf4')) return floatOf(bits, 2, 1);
  return floatOf(bits, ...small[format]!);
}

/** Random bits of an element that is no infinity or NaN, and of a float that is not far from 1. */
function randomBits(kind: Kind, format: number): number {
  const sign = random(2);
  if (kind === 'f16')
    return format === 0 ? (sign << 15) | ((10 + random(8)) << 10) | random(1024) : (sign << 15) | ((122 + random(8)) << 7) | random(128);
  if (kind === 'tf32') return ((sign << 31) | ((122 + random(8)) << 23) | random(2 ** 23)) >>> 0;
  const width = widthOf(kind, format);
  const bits = random(2 ** width);
  // Infinities and NaNs of the formats of 8 bits.
  if (width === 8 && kind !== 'i8' && (format === 1 ? (bits & 0x7c) === 0x7c : (bits & 0x7f) === 0x7f)) return bits & 0xbf;
  return bits;
}

function putBits(bytes: Uint8Array, at: number, width: number, value: number): void {
  for (let bit = 0; bit < width; bit++) {
    const place = at + bit;
    const mask = 1 << (place & 7);
    bytes[place >> 3] = Math.floor(value / 2 ** bit) % 2 ? bytes[place >> 3]! | mask : bytes[place >> 3]! & ~mask;
  }
}

function getBits(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let bit = 0; bit < width; bit++) value += ((bytes[(at + bit) >> 3]! >> ((at + bit) & 7)) & 1) * 2 ** bit;
  return value;
}

const rowsOf = ({ m, n, by }: Choice): { a: number; b: number } => (by === 'pair' ? { a: m / 2, b: n / 2 } : { a: m, b: n });

/** Shared memory with random factors. */
export function randomImage(choice: Choice): Uint8Array {
  const image = Uint8Array.from({ length: imageBytes }, () => random(256));
  const rows = rowsOf(choice);
  for (const side of ['a', 'b'] as const) {
    const factor = choice[side];
    const width = widthOf(choice.kind, factor.format);
    for (let row = 0; row < rows[side]; row++)
      for (let k = 0; k < depth[choice.kind]; k++)
        putBits(image, bitOf(factor, width, choice.kind, row, k), width, randomBits(choice.kind, factor.format));
  }
  return image;
}

/** Where tests have a factor and scale factors in tensor memory. */
export const [leftColumn, leftScales, rightScales, metadataColumn] = [256, 320, 336, 352];

/** The lane of a row of d, of which a in tensor memory has the same. */
const spread = (row: number): number => 32 * (row >> 4) + (row & 15);

/** The lane and column of an element of d, in which block. */
function placeOf({ by, m, n }: Choice, row: number, column: number): [number, number, number] {
  if (by === 'one') return [0, m === 64 ? spread(row) : row, column];
  const own = by === 'pair' ? m / 2 : m;
  const [part, inside] = [Math.floor(row / own), row % own];
  const each = n / (128 / own);
  return [part, inside + own * Math.floor(column / each), column % each];
}

/** Which columns of b count as zeros: spans take turns, from the first that is not skipped. Source: PTX ISA 9.0, 9.7.16.4.3. */
function zeroColumns({ m, n, zeros }: Choice): boolean[] {
  if (!zeros) return new Array<boolean>(n).fill(false);
  const parts = 128 / m;
  return Array.from({ length: parts }, (_, part) => {
    const turns: boolean[] = [];
    for (let isZero = zeros.areFirst[part]!; turns.length < 256 + n; isZero = !isZero)
      turns.push(...new Array<boolean>(isZero ? zeros.zero : zeros.used).fill(isZero));
    return turns.slice(zeros.starts[part]!, zeros.starts[part]! + n / parts);
  }).flat();
}

/** The descriptor of columns that count as zeros, as two words. */
export function zeroMask({ zeros }: Choice): number[] {
  if (!zeros) return [];
  const starts = zeros.starts.reduce((word, start, i) => word + start * 256 ** i, 0);
  const first = zeros.areFirst.reduce((word, is, i) => word + (is ? 2 ** i : 0), 0);
  return [starts, first + 0x80 + (zeros.used - 1) * 2 ** 8 + (zeros.zero - 1) * 2 ** 16];
}

/** What the product makes of words of tensor memory, by their numbers. */
export function expectedSums(choice: Choice, images: readonly Uint8Array[], before: Uint32Array, columns: number): Map<number, number> {
  const { kind, m, n, scales } = choice;
  const rows = rowsOf(choice);
  const floats = new Float32Array(before.buffer, before.byteOffset, before.length);
  const wordAt = (part: number, lane: number, column: number): number => (part * 128 + lane) * columns + column;
  const bytes = new Uint8Array(before.buffer, before.byteOffset, before.byteLength);
  const scaleOf = (address: number, first: number, row: number, k: number, part: number): number => {
    if (!scales) return 1;
    const bits = bytes[4 * wordAt(part, row % 32, address + (row >> 5)) + ((first + Math.floor(k / scales.block)) & 3)]!;
    return scales.arePowers ? 2 ** (bits - 127) : floatOf(bits & 0x7f, 4, 3);
  };
  const element = (side: 'a' | 'b', row: number, k: number): number => {
    const factor = choice[side];
    const width = widthOf(kind, factor.format);
    const [part, inside] = [Math.floor(row / rows[side]), row % rows[side]];
    const lane = choice.by === 'one' && m === 64 ? spread(inside) : inside;
    const bits =
      side === 'a' && choice.isInTensor
        ? getBits(bytes, 32 * wordAt(part, lane, leftColumn) + k * width, width)
        : getBits(images[part]!, bitOf(factor, width, kind, inside, k), width);
    const value = numberOf(kind, factor.format, bits) * (factor.isNegated ? -1 : 1);
    if (side === 'a') return value * scaleOf(leftScales, scales?.a ?? 0, inside, k, part);
    return value * scaleOf(rightScales, scales?.b ?? 0, row, k, 0);
  };
  const numbers = Array.from({ length: depth[kind] }, (_, k) => k);
  const left = Array.from({ length: m }, (_, row) => numbers.map((k) => element('a', row, k)));
  const right = Array.from({ length: n }, (_, row) => numbers.map((k) => element('b', row, k)));
  for (const [column, isZero] of zeroColumns(choice).entries()) if (isZero) right[column]!.fill(0);
  const found = new Map<number, number>();
  for (let row = 0; row < m; row++)
    for (let column = 0; column < n; column++) {
      const [part, lane, at] = placeOf(choice, row, column);
      const mask = choice.masks[4 * part + (lane >> 5)] ?? 0;
      if ((mask >>> (lane & 31)) & 1) continue;
      const index = wordAt(part, lane, at);
      const product = numbers.reduce((sum, k) => sum + left[row]![k]! * right[column]![k]!, 0);
      const old = choice.isAdded ? (kind === 'i8' ? before[index]! | 0 : floats[index]! / 2 ** (choice.divided ?? 0)) : 0;
      const sum = old + product;
      if (kind !== 'i8') found.set(index, sum);
      else found.set(index, choice.isSaturated ? Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, sum)) : Number(BigInt.asIntN(32, BigInt(sum))));
    }
  return found;
}

/** A kernel of a block whose tensor memory is what a buffer has in so many columns, and goes back there. */
function around(body: string, columns: number): string {
  const registers = Array.from({ length: 16 }, (_, i) => `w${i}`);
  const list = `{${registers.join(', ')}}`;
  const load = `${registers.map((r, i) => `ld.global.u32 ${r}, [o+${4 * i}];`).join(' ')} tcgen05.st.sync.aligned.32x32b.x16.b32 [c], ${list};`;
  const store = `tcgen05.ld.sync.aligned.32x32b.x16.b32 ${list}, [c]; ${registers.map((r, i) => `st.global.u32 [o+${4 * i}], ${r};`).join(' ')}`;
  const eachChunk = (label: string, body: string): string => `mov.u64 o, m; mov.u32 c, a; mov.u32 b, 0;
${label}: ${body}
add.u64 o, o, 64; add.u32 c, c, 16; add.u32 b, b, 16; setp.lt.u32 p, b, ${columns}; @p bra ${label};`;
  return frame(
    `ld.param.u64 m, [p1]; mad.lo.u32 b, rank, 128, t; mul.wide.u32 %w, b, ${4 * columns}; add.u64 m, m, %w;
setp.ge.u32 p, t, 32; @p bra HERE;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;
HERE: bar.sync 0;
and.b32 a, t, 96; shl.b32 a, a, 16;
${eachChunk('IN', load)}
tcgen05.wait::st.sync.aligned;
${body}
${eachChunk('OUT', store)}
bar.sync 0;
setp.ge.u32 p, t, 32; @p bra THERE;
mov.u32 a, 0; tcgen05.dealloc.cta_group::1.sync.aligned.b32 a, 512;
THERE:`,
    '.reg .b32 w<16>; .reg .b64 m, o;',
  );
}

const frame = (body: string, more = ''): string => `.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u32 p4, .param .u32 p5, .param .u32 p6, .param .u32 p7, .param .u32 p8, .param .u32 p9, .param .u32 p10, .param .u32 p11, .param .u32 p12)
{ .reg .b32 t, a, b, c, rank; .reg .b64 out, desc, %w; .reg .pred p, first; ${more}
.shared .align 1024 .b8 data[${imageBytes}]; .shared .b32 place; .shared .align 8 .b64 bar;
mov.u32 t, %tid.x; setp.eq.u32 first, t, 0; ld.param.u64 out, [p0]; mov.u32 rank, %cluster_ctarank;
${body}
ret; }`;

/** Copies a buffer of the block into shared memory before a body, which has a descriptor of it. */
const shared = (body: string): string => `mul.wide.u32 %w, rank, ${imageBytes}; add.u64 out, out, %w;
mul.lo.u32 b, t, 4; mov.u32 c, data; add.u32 c, c, b; cvt.u64.u32 %w, b; add.u64 out, out, %w; mov.u32 b, 0;
COPY: { .reg .b32 x; ld.global.u32 x, [out]; st.shared.u32 [c], x; }
add.u64 out, out, 512; add.u32 c, c, 512; add.u32 b, b, 512; setp.lt.u32 p, b, ${imageBytes}; @p bra COPY;
fence.proxy.async;
ld.param.u64 desc, [p2]; mov.u32 b, data; and.b32 b, b, 0x3ffff; shr.u32 b, b, 4; cvt.u64.u32 %w, b; add.u64 desc, desc, %w;
bar.sync 0;
${body}
bar.sync 0;`;

/** The kernel of a product. */
export function kernelOf(choice: Choice, columns: number): string {
  const { kind, by, isInTensor, isAdded, divided, masks, scales, zeros, selector, isShifted } = choice;
  const group = `cta_group::${by === 'pair' ? 2 : 1}`;
  const isSparse = selector !== undefined;
  const name = `tcgen05.mma${by === 'stationary' ? '.ws' : ''}${isSparse ? '.sp' : ''}.${group}.kind::${kind}${scales ? `.block_scale${scales.word}` : ''}${isShifted ? '.ashift' : ''}`;
  const left = isInTensor ? `[left]` : 'desc';
  const lanes = masks.length > 0 ? `, {${masks.map((_, i) => `mask${i}`).join(', ')}}` : '';
  const more = scales ? ', [sa], [sb]' : lanes;
  const z = zeros ? ', zeros' : divided === undefined ? '' : `, ${divided}`;
  const sync = by === 'pair' ? 'barrier.cluster.arrive; barrier.cluster.wait;' : 'bar.sync 0;';
  const leader = by === 'pair' ? 'setp.eq.and.u32 first, rank, 0, first;' : '';
  const commit =
    by === 'pair'
      ? `tcgen05.commit.${group}.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], both;`
      : `tcgen05.commit.${group}.mbarrier::arrive::one.shared::cluster.b64 [bar];`;
  const body = shared(`{ .reg .b32 i, d, left, sa, sb, meta, mask<8>; .reg .b64 right, zeros; .reg .pred e; .reg .b16 both;
ld.param.u64 right, [p3]; add.u64 right, right, %w; ld.param.u32 i, [p4];
${masks.map((_, n) => `ld.param.u32 mask${n}, [p${5 + n}];`).join(' ')}
{ .reg .b32 low, high; ld.param.u32 low, [p5]; ld.param.u32 high, [p6]; mov.b64 zeros, {low, high}; }
mov.u32 d, 0; mov.u32 left, ${leftColumn}; mov.u32 sa, ${leftScales}; mov.u32 sb, ${rightScales}; mov.b16 both, 3; mov.u32 meta, ${metadataColumn};
setp.eq.u32 e, t, ${isAdded ? 't' : '1000'};
@first mbarrier.init.shared.b64 [bar], 1;
tcgen05.fence::before_thread_sync; ${sync} tcgen05.fence::after_thread_sync;
${leader}
@first ${name} [d], ${left}, right,${isSparse ? ' [meta],' : ''} i${more}, e${z};
@first ${commit}
WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [bar], 0; @!p bra WAIT;
tcgen05.fence::after_thread_sync; ${sync} }`);
  return around(body, columns)
    .replace(/^\.visible/m, '.visible')
    .replace('{ .reg .b32 t', by === 'pair' ? '.reqnctapercluster 2, 1, 1\n{ .reg .b32 t' : '{ .reg .b32 t');
}

const formats: Readonly<Record<Kind, readonly number[]>> = {
  f16: [0, 1],
  tf32: [2],
  i8: [0, 1],
  f8f6f4: [0, 1, 3, 4, 5],
  mxf8f6f4: [0, 1, 3, 4, 5],
  mxf4: [1],
  mxf4nvf4: [1],
};

function choice(kind: Kind, by: Choice['by'], isInTensor: boolean): Choice {
  const isScaled = kind.startsWith('mx');
  const m =
    by === 'pair' ? (isScaled ? 256 : oneOf([128, 256])) : by === 'one' ? oneOf([64, 128]) : isInTensor ? 128 : oneOf([32, 64, 128]);
  const n = by === 'stationary' ? oneOf([64, 128]) : 32 * (1 + random(3));
  const format = oneOf(isInTensor && /f8f6f4/.test(kind) ? [0, 1] : formats[kind]);
  const scales = isScaled ? chosenScales(kind) : undefined;
  return {
    ...{ kind, by, m, n, isInTensor, scales },
    a: chosenFactor(kind, 0, format),
    b: chosenFactor(kind, 20480, oneOf(formats[kind])),
    isAdded: random(4) > 0,
    isSaturated: kind === 'i8' && random(2) === 1,
    divided: (kind === 'f16' || kind === 'tf32') && by !== 'stationary' && random(2) ? random(4) : undefined,
    ...(by === 'stationary' && random(2) ? { zeros: chosenZeros() } : {}),
    masks: by !== 'stationary' && !isScaled && random(2) ? Array.from({ length: by === 'pair' ? 8 : 4 }, () => random(2 ** 32)) : [],
  };
}

const chosenZeros = (): NonNullable<Choice['zeros']> => ({
  starts: Array.from({ length: 4 }, () => random(256)),
  areFirst: Array.from({ length: 4 }, () => random(2) === 1),
  used: 1 + random(20),
  zero: 1 + random(20),
});

function chosenScales(kind: Kind): NonNullable<Choice['scales']> {
  if (kind === 'mxf8f6f4')
    return { a: random(4), b: random(4), block: 32, arePowers: true, word: oneOf(['', '.scale_vec::1X', '.block32']) };
  if (kind === 'mxf4')
    return { a: 2 * random(2), b: 2 * random(2), block: 32, arePowers: true, word: oneOf(['', '.scale_vec::2X', '.block32']) };
  if (random(2)) return { a: 2 * random(2), b: 2 * random(2), block: 32, arePowers: true, word: oneOf(['.scale_vec::2X', '.block32']) };
  return { a: 0, b: 0, block: 16, arePowers: false, word: oneOf(['.scale_vec::4X', '.block16']) };
}

/** Puts a factor and scale factors into the words of tensor memory of a block. */
function tensorPart({ kind, a, isInTensor, scales }: Choice, words: Uint32Array, part: number, columns: number): void {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const width = widthOf(kind, a.format);
  for (let lane = 0; lane < 128; lane++) {
    const row = (part * 128 + lane) * columns;
    for (let k = 0; isInTensor && k < depth[kind]; k++)
      putBits(bytes, 32 * (row + leftColumn) + k * width, width, randomBits(kind, a.format));
    for (let at = 0; scales && at < 64; at++) bytes[4 * (row + leftScales) + at] = scales.arePowers ? 120 + random(12) : random(0x7f);
  }
}

export const encode = { choice, tensorPart, around, shared, bare: (body: string): string => frame(body) };
