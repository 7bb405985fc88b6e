/**
 * An independent model of `wgmma`: a kernel of one warp group that multiplies matrices in an image of shared memory, and the product in plain doubles
 * and integers, from the layouts of the manual in units of 16 bytes. Source: PTX ISA 9.0, 9.7.15.5; the canonical layouts in the comments of
 * CUTLASS, include/cute/atom/mma_traits_sm90_gmma.hpp.
 */
import { randomFractions } from './lcg.ts';

export type Element = 'f16' | 'bf16' | 'tf32' | 'e4m3' | 'e5m2' | 's8' | 'u8' | 'b1';
export type Sum = 'f16' | 'f32' | 's32';

export interface Descriptor {
  readonly start: number;
  readonly leading: number;
  readonly stride: number;
  readonly base: number;
  /** 0 none, 1 of 128 bytes, 2 of 64, 3 of 32. */
  readonly mode: 0 | 1 | 2 | 3;
}

export interface Trial {
  readonly n: number;
  readonly a: Element;
  readonly b: Element;
  readonly d: Sum;
  /** The descriptor of a, or none for a in registers. */
  readonly left: Descriptor | undefined;
  readonly right: Descriptor;
  readonly isLeftTransposed: boolean;
  readonly isRightTransposed: boolean;
  readonly signs: readonly [1 | -1, 1 | -1];
  readonly isAdded: boolean;
  readonly isSaturated: boolean;
  readonly isSparse: boolean;
  readonly selector: number;
}

const bits: Record<Element, number> = { f16: 16, bf16: 16, tf32: 32, e4m3: 8, e5m2: 8, s8: 8, u8: 8, b1: 1 };
const isInteger = (element: Element): boolean => ['s8', 'u8', 'b1'].includes(element);

/** The extent along k: 32 bytes, and twice that of a sparse product. */
export const depthOf = ({ a, isSparse }: Trial): number => (256 / bits[a]) * (isSparse ? 2 : 1);

const encode = ({ start, leading, stride, base, mode }: Descriptor): bigint =>
  BigInt(start >> 4) | (BigInt(leading >> 4) << 16n) | (BigInt(stride >> 4) << 32n) | (BigInt(base) << 49n) | (BigInt(mode) << 62n);

export const imageBytes = 1 << 16;

/** The instruction, and the registers of a thread for a and d. */
function instructionOf(trial: Trial): string {
  const { n, a, b, d, left, isAdded, isSaturated, isSparse, selector, signs, isLeftTransposed, isRightTransposed } = trial;
  const list = (letter: string, count: number): string => `{${Array.from({ length: count }, (_, i) => `%${letter}${i}`).join(', ')}}`;
  const shape = `m64n${n}k${depthOf(trial)}`;
  const flag = (on: boolean): string => (on ? '1' : '0');
  const orders = bits[a] === 16 ? [...(left ? [flag(isLeftTransposed)] : []), flag(isRightTransposed)] : [];
  const operands = [
    list('d', registersOf(trial)),
    left ? '%adesc' : list('a', 4),
    '%bdesc',
    ...(isSparse ? ['%meta', String(selector)] : []),
    isAdded ? 'PA' : 'PN',
    ...(isInteger(a) ? [] : signs.map(String)),
    ...orders,
  ].map((each) => each.replace('PA', '%yes').replace('PN', '%no'));
  const types = isInteger(a) ? `${isSaturated ? '.satfinite' : ''}.s32.${a}.${b}${a === 'b1' ? '.and.popc' : ''}` : `.${d}.${a}.${b}`;
  return `wgmma.mma_async${isSparse ? '.sp' : ''}.sync.aligned.${shape}${types} ${operands.join(', ')};`;
}

export const registersOf = ({ n, d }: Trial): number => (d === 'f16' ? n / 4 : n / 2);

/** The kernel of a trial: parameters are the image, the registers of a and of the metadata, and those of d. */
export function kernelOf(trial: Trial, threads = 128): string {
  const count = registersOf(trial);
  const each = Array.from({ length: count }, (_, i) => i);
  const type = trial.d === 'f32' ? 'f32' : 'b32';
  return `.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 image[];
.visible .entry k(.param .u64 pi, .param .u64 pa, .param .u64 pd) .reqntid ${threads}
{
  .reg .b32 %r<8>, %a<4>, %meta; .reg .${type} %d<${count}>; .reg .b64 %p<8>, %adesc, %bdesc; .reg .pred %q, %yes, %no;
  ld.param.u64 %p0, [pi]; ld.param.u64 %p1, [pa]; ld.param.u64 %p2, [pd];
  mov.u32 %r0, %tid.x; mov.u32 %r1, image;
  mov.u32 %r2, %r0;
L:
  mul.wide.u32 %p3, %r2, 4; add.u64 %p4, %p0, %p3; ld.global.u32 %r3, [%p4];
  shl.b32 %r4, %r2, 2; add.u32 %r4, %r4, %r1; st.shared.u32 [%r4], %r3;
  add.u32 %r2, %r2, ${threads}; setp.lt.u32 %q, %r2, ${imageBytes / 4}; @%q bra L;
  mul.wide.u32 %p3, %r0, 32; add.u64 %p1, %p1, %p3;
  ld.global.u32 %a0, [%p1]; ld.global.u32 %a1, [%p1+4]; ld.global.u32 %a2, [%p1+8]; ld.global.u32 %a3, [%p1+12]; ld.global.u32 %meta, [%p1+16];
  mul.wide.u32 %p3, %r0, ${4 * count}; add.u64 %p2, %p2, %p3;
  ${each.map((i) => `ld.global.${type} %d${i}, [%p2+${4 * i}];`).join(' ')}
  mov.u64 %adesc, ${trial.left ? encode(trial.left) : 0n}; mov.u64 %bdesc, ${encode(trial.right)};
  cvt.u64.u32 %p5, %r1; shr.u64 %p5, %p5, 4; add.u64 %adesc, %adesc, %p5; add.u64 %bdesc, %bdesc, %p5;
  setp.eq.u32 %yes, %r1, %r1; setp.ne.u32 %no, %r1, %r1;
  fence.proxy.async;
  bar.sync 0;
  wgmma.fence.sync.aligned;
  ${instructionOf(trial)}
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  ${each.map((i) => `st.global.${type} [%p2+${4 * i}], %d${i};`).join(' ')}
  ret;
}
`;
}

// ── memory ──

/** The byte of element (row, k) of a factor in shared memory, in units of 16 bytes as the canonical layouts have them. */
export function byteOf(
  { start, leading, stride, base, mode }: Descriptor,
  element: Element,
  isTransposed: boolean,
  row: number,
  k: number,
): number {
  const width = [1, 8, 4, 2][mode]!;
  const perUnit = 128 / bits[element];
  let offset: number;
  if (!isTransposed) {
    // ((8, m), (T, 2)): ((width T, stride), (1, leading or T))
    const unit = Math.floor(k / perUnit);
    offset =
      (row % 8) * width * 16 +
      Math.floor(row / 8) * stride +
      unit * (mode === 0 ? leading : 16) +
      Math.floor(((k % perUnit) * bits[element]) / 8);
  } else {
    // ((T, width, m), (8, k)): ((1, T, leading), (width T, stride)), and for none ((T, 1, m), (8, k)): ((1, T, stride), (1 T, leading))
    const unit = Math.floor(row / 8);
    const far = mode === 0 ? unit * stride : (unit % width) * 16 + Math.floor(unit / width) * leading;
    offset = far + (k % 8) * width * 16 + Math.floor(k / 8) * (mode === 0 ? leading : stride) + (row % 8) * 2;
  }
  const address = start + offset;
  // Swizzle<log2(width), 4, 3>.
  return address ^ ((((address >> 7) - base) & (width - 1)) << 4);
}

const view = new DataView(new ArrayBuffer(8));

/** The number with the bits of an element. */
export function numberOf(element: Element, word: number): number {
  const small = (exponent: number, mantissa: number, hasInfinity: boolean): number => {
    const sign = (word >> (exponent + mantissa)) & 1 ? -1 : 1;
    const e = (word >> mantissa) & (2 ** exponent - 1);
    const m = word & (2 ** mantissa - 1);
    const bias = 2 ** (exponent - 1) - 1;
    if (hasInfinity && e === 2 ** exponent - 1) return m === 0 ? sign * Infinity : NaN;
    if (!hasInfinity && e === 2 ** exponent - 1 && m === 2 ** mantissa - 1) return NaN;
    return sign * (e === 0 ? m * 2 ** (1 - bias - mantissa) : (1 + m / 2 ** mantissa) * 2 ** (e - bias));
  };
  switch (element) {
    case 'f16':
      return small(5, 10, true);
    case 'bf16':
      return small(8, 7, true);
    case 'e5m2':
      return small(5, 2, true);
    case 'e4m3':
      return small(4, 3, false);
    case 'tf32':
      view.setUint32(0, (word & 0xffffe000) >>> 0);
      return view.getFloat32(0);
    case 's8':
      return (word << 24) >> 24;
    default:
      return word;
  }
}

/** The bits of an element at a byte, for `b1` at the bit of that number in the byte. */
function elementAt(bytes: Uint8Array, element: Element, byte: number, bit = 0): number {
  if (element === 'b1') return (bytes[byte]! >> bit) & 1;
  let word = 0;
  for (let i = bits[element] / 8 - 1; i >= 0; i--) word = (word << 8) | bytes[byte + i]!;
  return word >>> 0;
}

/** Bytes whose elements of a type are of moderate size, and seldom special. */
export function randomBytes(element: Element, count: number, seed: number): Uint8Array {
  const next = randomFractions(seed);
  const out = Uint8Array.from({ length: count }, () => 256 * next());
  const top = { f16: 0x43, bf16: 0x40, tf32: 0x40, e4m3: 0x4f, e5m2: 0x47 }[element as 'f16'];
  const step = bits[element] / 8;
  if (top !== undefined)
    for (let i = step - 1; i < count; i += step) {
      // Exponents near that of 1.
      out[i] = (out[i]! & 0x80) | (top - (out[i]! & (step === 1 ? 0x1f : 7)));
    }
  return out;
}

// ── the product ──

export interface Operands {
  readonly image: Uint8Array;
  /** By thread: four words of a, and one of positions. */
  readonly words: Uint32Array;
  /** By thread: the registers of d. */
  readonly before: Uint32Array;
}

/** An element of a dense or of a sparse a that is held. */
function heldLeft({ a, left, isLeftTransposed }: Trial, { image, words }: Operands, row: number, k: number): number {
  if (left) return numberOf(a, elementAt(image, a, byteOf(left, a, isLeftTransposed, row, k), k % 8));
  // Registers: thread 4 g + t of a warp has rows g and g + 8, and 4 t to 4 t + 3 of the bytes of each 16.
  const [warp, inWarp] = [Math.floor(row / 16), row % 16];
  const byte = Math.floor((k * bits[a]) / 8);
  const thread = 32 * warp + 4 * (inWarp % 8) + Math.floor((byte % 16) / 4);
  const register = Math.floor(inWarp / 8) + 2 * Math.floor(byte / 16);
  const word = words[8 * thread + register]!;
  if (a === 'b1') return (word >>> (k % 32)) & 1;
  return numberOf(a, bits[a] === 32 ? word : (word >>> (8 * (byte % 4))) & (2 ** bits[a] - 1));
}

/** The column of a held element of a sparse a. */
function columnOf(trial: Trial, { words }: Operands, row: number, held: number): number {
  const { a, selector } = trial;
  const [warp, inWarp] = [Math.floor(row / 16), row % 16];
  const [group, half] = [inWarp % 8, Math.floor(inWarp / 8)];
  const wordOf = (thread: number): number => words[8 * (32 * warp + 4 * group + thread) + 4]!;
  if (bits[a] === 8) {
    // 32 columns of a row in each thread: rows g and g + 8 in threads 0 and 1, the columns from 32 on in threads 2 and 3.
    const [chunk, index] = [Math.floor(held / 2), held % 2];
    const nibble = (wordOf(half + 2 * Math.floor(chunk / 8)) >>> (4 * (chunk % 8))) & 15;
    return 4 * chunk + ((nibble >> (2 * index)) & 3);
  }
  // 16 bits of each of two rows in each of the two threads that the selector names.
  const chunk = bits[a] === 16 ? Math.floor(held / 2) : held;
  const nibble = (wordOf(2 * selector + Math.floor(chunk / 4)) >>> (16 * half + 4 * (chunk % 4))) & 15;
  if (bits[a] === 32) return 2 * chunk + (nibble === 0b1110 ? 1 : 0);
  return 4 * chunk + ((nibble >> (2 * (held % 2))) & 3);
}

/** Row and column of a register of d: its first element, of two if it holds halves. */
export function placeOf(thread: number, index: number): readonly [row: number, column: number] {
  const [warp, lane] = [Math.floor(thread / 32), thread % 32];
  return [16 * warp + Math.floor(lane / 4) + 8 * (Math.floor(index / 2) % 2), 8 * Math.floor(index / 4) + 2 * (lane % 4) + (index % 2)];
}

/** Calls back with each element of d: what it was, its terms, and where its register is. */
export function eachSum(
  trial: Trial,
  operands: Operands,
  act: (thread: number, index: number, c: number, terms: readonly number[]) => void,
): void {
  const { n, b, d, right, isRightTransposed, isSparse, isAdded, signs } = trial;
  const k = depthOf(trial);
  const held = isSparse ? k / 2 : k;
  const left: number[][] = Array.from({ length: 64 }, (_, row) => {
    const line = new Array<number>(k).fill(0);
    for (let i = 0; i < held; i++) line[isSparse ? columnOf(trial, operands, row, i) : i] = heldLeft(trial, operands, row, i);
    return line;
  });
  const columns: number[][] = Array.from({ length: n }, (_, column) =>
    Array.from({ length: k }, (__, i) => numberOf(b, elementAt(operands.image, b, byteOf(right, b, isRightTransposed, column, i), i % 8))),
  );
  const floats = new Float32Array(operands.before.buffer);
  for (let thread = 0; thread < 128; thread++)
    for (let index = 0; index < n / 2; index++) {
      const [row, column] = placeOf(thread, index);
      const at = thread * registersOf(trial);
      const old =
        d === 'f32'
          ? floats[at + index]!
          : d === 's32'
            ? operands.before[at + index]! | 0
            : numberOf('f16', (operands.before[at + (index >> 1)]! >>> (16 * (index & 1))) & 0xffff);
      const sign = signs[0] * signs[1];
      act(
        thread,
        index,
        isAdded ? old : 0,
        left[row]!.map((each, i) => sign * each * columns[column]![i]!),
      );
    }
}
