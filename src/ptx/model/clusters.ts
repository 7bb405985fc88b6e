/**
 * Values of clusters of blocks, from what the launch has for them (`src/ir/services.ts`): the places of blocks and clusters, and addresses in the
 * shared memory of other blocks. Source: PTX ISA 9.0, 9.7.9.22, 9.7.9.23 and 10.
 */

import type { Builder, Sreg, Value } from '../../ir/index.ts';
import { clusterHead } from '../../ir/services.ts';
import type { RowBuilder } from './row-builder.ts';

export type Axis = 'x' | 'y' | 'z';
const axes = ['x', 'y', 'z'] as const;

/** The address, a pointer, of a byte of what the launch has for clusters. */
const placeIn = (ir: RowBuilder, offset: Value): Value => ir.inttoptr('ptr.global', ir.add(ir.service('cluster'), offset));

const wordAt = (ir: RowBuilder, offset: number): Value => ir.once(`cluster ${offset}`, () => ir.clusterWord(offset));
const own = (ir: RowBuilder, name: 'ctaid' | 'nctaid' | 'ntid', axis: Axis): Value => ir.sreg('i32', { name: `${name}.${axis}` as Sreg });
const product = (ir: RowBuilder, of: (axis: Axis) => Value): Value => ir.mul(ir.mul(of('x'), of('y')), of('z'));
/** The number of a place among as many along each axis, x fastest. */
const numberOf = (ir: RowBuilder, at: (axis: Axis) => Value, count: (axis: Axis) => Value): Value =>
  ir.add(at('x'), ir.mul(count('x'), ir.add(at('y'), ir.mul(count('y'), at('z')))));

/** Blocks of a cluster along an axis. */
export const blocksAlong = (ir: RowBuilder, axis: Axis): Value => wordAt(ir, clusterHead.blocks[axes.indexOf(axis)]!);
/** The block in its cluster. */
export const blockInCluster = (ir: RowBuilder, axis: Axis): Value => ir.urem(own(ir, 'ctaid', axis), blocksAlong(ir, axis));
/** The cluster in the grid. */
export const clusterAt = (ir: RowBuilder, axis: Axis): Value => ir.udiv(own(ir, 'ctaid', axis), blocksAlong(ir, axis));
/** Clusters of the grid along an axis. */
export const clustersAlong = (ir: RowBuilder, axis: Axis): Value => ir.udiv(own(ir, 'nctaid', axis), blocksAlong(ir, axis));
/** Blocks of a cluster. */
export const clusterSize = (ir: RowBuilder): Value => ir.once('cluster size', () => product(ir, (axis) => blocksAlong(ir, axis)));
/** The number of the block in its cluster. */
export const clusterRank = (ir: RowBuilder): Value =>
  ir.once('cluster rank', () =>
    numberOf(
      ir,
      (axis) => blockInCluster(ir, axis),
      (axis) => blocksAlong(ir, axis),
    ),
  );
/** Whether the launch or the kernel says how large clusters are, an i1. */
export const isExplicitCluster = (ir: RowBuilder): Value => ir.icmp(wordAt(ir, clusterHead.isExplicit), ir.const('i32', 0), { pred: 'ne' });
/** Threads of a cluster. */
export const clusterThreads = (ir: RowBuilder): Value =>
  ir.once('cluster threads', () =>
    ir.mul(
      clusterSize(ir),
      product(ir, (axis) => own(ir, 'ntid', axis)),
    ),
  );

/** The address, a pointer, of the word of the barrier of the cluster. */
export const clusterBarrierWord = (ir: RowBuilder): Value => ir.once('cluster barrier', () => barrierWord(ir));

const barrierWord = (ir: RowBuilder): Value =>
  placeIn(ir, ir.add(ir.const('i64', clusterHead.barriers), ir.shl(clusterPlace(ir), ir.const('i64', 3))));

/** The place of the cluster among those whose blocks have areas, an i64. */
const clusterPlace = (ir: RowBuilder): Value =>
  ir.once('cluster place', () => {
    const cluster = numberOf(
      ir,
      (axis) => clusterAt(ir, axis),
      (axis) => clustersAlong(ir, axis),
    );
    return ir.zext('i64', ir.urem(cluster, wordAt(ir, clusterHead.places)));
  });

/**
 * The number of the block of a mapped address is in its bits from here on, plus 1; below are the bytes from the start of the shared memory of the
 * block. An address without such bits is one of the block itself. So all blocks of a cluster mean the same by a mapped address.
 */
const rankBit = 24;
const rankBits = 8;
const offsetMask = (1 << rankBit) - 1;
/** The bits of an address that are no number of a block. */
export const sharedOffsetMask = offsetMask;

/** The address of the same place in the shared memory of another block of the cluster. */
export function mapToRank(ir: RowBuilder, address: Value, rank: Value): Value {
  const one = ir.add(rank, ir.const('i32', 1));
  // No block has the last number, and an access at it faults.
  const number = ir.select(ir.icmp(rank, clusterSize(ir), { pred: 'ult' }), one, ir.const('i32', (1 << rankBits) - 1));
  const high = ir.shl(number, ir.const('i32', rankBit));
  if (ir.typeOf(address) === 'i32') return ir.or(ir.and(address, ir.const('i32', offsetMask)), high);
  return ir.or(ir.and(address, ir.const('i64', offsetMask)), ir.zext('i64', high));
}

/** The number of the block whose shared memory an address is in. */
export function rankOfAddress(ir: RowBuilder, address: Value): Value {
  const low = ir.typeOf(address) === 'i64' ? ir.trunc('i32', address) : address;
  const number = ir.lshr(low, ir.const('i32', rankBit));
  return ir.select(ir.icmp(number, ir.const('i32', 0), { pred: 'eq' }), clusterRank(ir), ir.sub(number, ir.const('i32', 1)));
}

/** What is added to the number of a block for its distance, and the bytes of an area: both i64, and the same throughout a kernel. */
export interface Distances {
  readonly bias: Value;
  readonly bytes: Value;
  readonly blocks: Value;
  /** Of blocks whose memory is out of reach when they have ended: who has. */
  readonly over: Ended | undefined;
}

export interface Ended {
  /** The address of the words that count the threads of each block which have ended. */
  readonly counts: Value;
  /** The threads of a block, an i32. */
  readonly threads: Value;
}

/** How far the memory of a block is from that of the others of its cluster; each value is computed once in a kernel. */
export const distancesOf = (ir: RowBuilder): Distances => ({
  bias: ir.once('cluster bias', () => ir.sub(ir.const('i64', -1), ir.zext('i64', clusterRank(ir)))),
  bytes: ir.once('cluster bytes', () => ir.zext('i64', wordAt(ir, clusterHead.areaBytes))),
  blocks: ir.once('cluster blocks', () => ir.zext('i64', clusterSize(ir))),
  over: ir.clustersTakeTurns ? endedOf(ir) : undefined,
});

const endedOf = (ir: RowBuilder): Ended => ({
  counts: ir.once('cluster ended', () => {
    const first = ir.mul(clusterPlace(ir), ir.zext('i64', clusterSize(ir)));
    const start = ir.add(ir.service('cluster'), ir.zext('i64', wordAt(ir, clusterHead.ended)));
    return ir.add(start, ir.shl(first, ir.const('i64', 2)));
  }),
  threads: ir.once('block threads', () => product(ir, (axis) => own(ir, 'ntid', axis))),
});

/** The word, a pointer, that counts the ended threads of the block of a number, an i64. */
export const endedThreads = (ir: Builder, { counts }: Ended, rank: Value): Value =>
  ir.inttoptr('ptr.global', ir.add(counts, ir.shl(rank, ir.const('i64', 2))));

/**
 * An address (i64) that may be mapped, as the distance from the start of the shared memory of the block itself. It is out of reach if the cluster has no
 * such block, or if all threads of the block have ended.
 */
export function ownAddress(ir: Builder, address: Value, distances: Distances): Value {
  const { bias, bytes, blocks, over } = distances;
  const constant = (value: number | bigint): Value => ir.const('i64', value);
  const number = ir.lshr(ir.and(address, constant(0xffff_ffff)), constant(rankBit));
  const by = ir.add(number, bias);
  const rank = ir.sub(number, constant(1));
  const isNone = ir.icmp(rank, blocks, { pred: 'uge' });
  const isOver = over && isEnded(ir, over, ir.select(isNone, constant(0), rank));
  const isOut = isOver === undefined ? isNone : ir.or(isNone, ir.and(isOver, ir.icmp(by, constant(0), { pred: 'ne' })));
  const far = ir.add(ir.mul(by, bytes), ir.and(address, constant(offsetMask)));
  const there = ir.select(isOut, constant(1n << 40n), far);
  return ir.select(ir.icmp(number, constant(0), { pred: 'eq' }), address, there);
}

/** Whether all threads of the block of a number have ended. */
function isEnded(ir: Builder, over: Ended, rank: Value): Value {
  const counted = ir.load('i32', endedThreads(ir, over, rank), { align: 4, volatile: false });
  return ir.icmp(counted, over.threads, { pred: 'eq' });
}

/** The pointer of a place in shared memory for the same place in the block of a number. */
export function pointerInRank(ir: RowBuilder, pointer: Value, rank: Value): Value {
  const mapped = mapToRank(ir, ir.ptrtoint('i64', pointer), rank);
  return ir.inttoptr('ptr.shared', ownAddress(ir, mapped, distancesOf(ir)));
}

/** Emits `body` for the number of each block whose bit is set in a mask, an i16. */
export function eachRank(ir: RowBuilder, mask: Value, body: (rank: Value) => void): void {
  const one = ir.const('i32', 1);
  ir.repeat(ir.const('i32', 16), [], (rank) => {
    const isIn = ir.icmp(ir.and(ir.lshr(ir.zext('i32', mask), rank), one), one, { pred: 'eq' });
    ir.when(isIn, () => body(rank));
    return [];
  });
}
