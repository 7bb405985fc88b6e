/**
 * Strided and interleaved access: lanes that are not contiguous, and vector-typed values. A lane moves chunks of up to 8 bytes, two to a
 * vector, and shuffles separate the elements. That takes a quarter of the accesses of 4 bytes each.
 */

import { affine, bytesOf, elementOf, lanesOf, type Type, type Value } from '../../../ir/index.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { type LaneGroup, shapeOf, typeOf } from '../lanes/lane-group.ts';
import { evenWords, laneLoad, laneStore, oddWords, wordBytes, words } from '../lanes/vectors.ts';
import { bias } from '../rules/scalar.ts';

/** The addresses of the lanes of a pack. */
export interface LaneAddresses {
  /** Pushes the base address of a lane. */
  push(lane: number): void;
  /** The byte offset of a lane of the pack, 0 to 3, to its base. */
  offset(lane: number): number;
  /** Bytes from lane to lane, where that is constant. */
  readonly stride?: number;
}

/** The bytes of a lane, and the chunks that they are moved in. */
interface Chunking {
  readonly element: number;
  readonly count: number;
  /** Bytes of a chunk. */
  readonly piece: number;
}

function chunkingOf(type: Type): Chunking {
  const element = bytesOf(elementOf(type));
  const count = lanesOf(type);
  return { element, count, piece: Math.min(8, element * count) };
}

/** Addresses with the constant stride of `strideOf`, from the base that `push` puts on the stack. */
export function stridedAddresses(s: LaneGroup, addr: Value, push: () => void, pack: number): LaneAddresses {
  const stride = s.plan.shapes.stride[addr]!;
  return {
    push,
    offset: (lane) => bias + (4 * pack + lane) * stride,
    stride,
  };
}

/** The stride of an address in bytes, where the first lane and the stride give the addresses of all lanes. */
export function strideOf(s: LaneGroup, addr: Value): number | undefined {
  if (shapeOf(s, addr) !== affine) return undefined;
  const stride = s.plan.shapes.stride[addr]!;
  return Math.abs(stride) * s.plan.lanes < bias ? stride : undefined;
}

/** Addresses in a vector local. */
export const gatheredAddresses = ({ code }: LaneGroup, addresses: number): LaneAddresses => ({
  push(lane) {
    code.at('local.get', addresses);
    code.lane('i32x4.extract_lane', lane);
  },
  offset: () => bias,
});

// ── loads ──

/** Loads the elements of a pack. `put` pops one vector of an element; `half` is 0 or 1 where elements have 8 bytes. */
export function loadInterleaved(s: LaneGroup, type: Type, addresses: LaneAddresses, put: (element: number, half: number) => void): void {
  const { element, count, piece } = chunkingOf(type);
  for (let at = 0; at < element * count; at += piece) {
    const first = at / element;
    if (element === 8) {
      for (const half of [0, 1]) {
        loadPair(s, addresses, at, half);
        put(first, half);
      }
    } else if (piece === 8) {
      withScratch(s, 'v128', 2, (pairs) => {
        for (const half of [0, 1]) {
          loadPair(s, addresses, at, half);
          s.code.at('local.set', pairs[half]!);
        }
        for (const [which, bytes] of [evenWords, oddWords].entries()) {
          for (const pair of pairs) s.code.at('local.get', pair);
          s.code.shuffle(bytes);
          deinterleave(s, element, 4, (k) => put(first + (which * 4) / element + k, 0));
        }
      });
    } else {
      loadWords(s, addresses, piece);
      deinterleave(s, element, piece, (k) => put(first + k, 0));
    }
  }
}

/** Splits a vector of 32-bit chunks on the stack into its elements. */
function deinterleave(s: LaneGroup, element: number, bytes: number, put: (element: number) => void): void {
  const count = bytes / element;
  if (count === 1) return put(0);
  withScratch(s, 'v128', 1, ([whole]) => {
    s.code.at('local.set', whole);
    for (let k = 0; k < count; k++) {
      s.code.at('local.get', whole);
      if (k > 0) {
        s.code.i32(8 * element * k);
        s.code.op('i32x4.shr_u');
      }
      if (k < count - 1 || bytes < 4) {
        s.code.v128(words(2 ** (8 * element) - 1));
        s.code.op('v128.and');
      }
      put(k);
    }
  });
}

/** Pushes 8 bytes of each of two lanes. */
function loadPair({ code }: LaneGroup, { push, offset, stride }: LaneAddresses, at: number, half: number): void {
  const [first, second] = [2 * half, 2 * half + 1];
  if (stride === 8) {
    push(first);
    return code.access('v128.load', 1, offset(first) + at);
  }
  push(second);
  push(first);
  code.access('v128.load64_zero', 1, offset(first) + at);
  code.accessLane('v128.load64_lane', 1, offset(second) + at, 1);
}

/** Pushes up to 4 bytes of each of four lanes, zero-extended. */
function loadWords({ code }: LaneGroup, { push, offset, stride }: LaneAddresses, bytes: number): void {
  if (stride === bytes && bytes > 1) {
    push(0);
    return code.access(bytes === 4 ? 'v128.load' : 'v128.load16x4_u', 1, offset(0));
  }
  for (const lane of [3, 2, 1, 0]) push(lane);
  if (bytes === 4) code.access('v128.load32_zero', 1, offset(0));
  else code.v128(words(0));
  for (let lane = bytes === 4 ? 1 : 0; lane < 4; lane++) code.accessLane(laneLoad(bytes), 1, offset(lane), (lane * 4) / bytes);
}

/** Pushes one vector of a strided load: two lanes where they have 8 bytes. */
export function loadStrided(s: LaneGroup, type: Type, addresses: LaneAddresses, half: number): void {
  const bytes = bytesOf(elementOf(type));
  if (bytes === 8) loadPair(s, addresses, 0, half);
  else loadWords(s, addresses, bytes);
}

// ── stores ──

/** Stores the elements of a pack; `where` wraps the code of one lane in the test of its mask. */
export function storeInterleaved(
  s: LaneGroup,
  value: Value,
  pack: number,
  addresses: LaneAddresses,
  where?: (lane: number, write: () => void) => void,
): void {
  const { element, count, piece } = chunkingOf(typeOf(s, value));
  for (let at = 0; at < element * count; at += piece) {
    const first = at / element;
    for (const half of piece === 8 ? [0, 1] : [0]) {
      if (element === 8) s.element(value, first, 2 * pack + half);
      else if (piece === 8) {
        for (const which of [0, 1]) interleave(s, value, first + (which * 4) / element, 4 / element, pack);
        s.code.shuffle(wordBytes(half === 0 ? [0, 4, 1, 5] : [2, 6, 3, 7]));
      } else interleave(s, value, first, count, pack);
      withScratch(s, 'v128', 1, ([heldChunk]) => {
        s.code.at('local.set', heldChunk);
        storeHeld(s, heldChunk, { piece, at, half }, addresses, where);
      });
    }
  }
}

/** Pushes 32-bit chunks joined of adjacent elements. */
function interleave(s: LaneGroup, value: Value, first: number, count: number, pack: number): void {
  const bits = 8 * bytesOf(elementOf(typeOf(s, value)));
  for (let k = 0; k < count; k++) {
    s.element(value, first + k, pack);
    if (k === 0) continue;
    s.code.i32(bits * k);
    s.code.op('i32x4.shl');
    s.code.op('v128.or');
  }
}

interface HeldChunk {
  readonly piece: number;
  readonly at: number;
  readonly half: number;
}

function storeHeld(
  { code }: LaneGroup,
  heldChunk: number,
  { piece, at, half }: HeldChunk,
  { push, offset, stride }: LaneAddresses,
  where: ((lane: number, write: () => void) => void) | undefined,
): void {
  const lanes = piece === 8 ? [2 * half, 2 * half + 1] : [0, 1, 2, 3];
  if (!where && stride === piece && piece >= 4) {
    push(lanes[0]!);
    code.at('local.get', heldChunk);
    return code.access('v128.store', 1, offset(lanes[0]!) + at);
  }
  for (const [i, lane] of lanes.entries()) {
    const write = (): void => {
      push(lane);
      code.at('local.get', heldChunk);
      code.accessLane(laneStore(piece), 1, offset(lane) + at, piece < 4 ? (i * 4) / piece : i);
    };
    if (where) where(lane, write);
    else write();
  }
}
