/**
 * A model of a warp by the manual: it interprets the text of a program of `random-warps.ts`, each lane with a program counter of its own,
 * in a random order of lanes. Lanes wait at a collective until all lanes of the mask that have not exited are at one with the same
 * qualifiers and the same mask, wherever it is.
 *
 * It is also the judge of a program: it throws if a lane is not of its mask, if lanes wait for each other for ever, if an undefined register
 * is read or if two threads access a word of shared memory without an order between them; what the manual leaves open gets random
 * values, so that results differ between two orders.
 * Source: PTX ISA 9.0, 9.7.9.6, 9.7.13.1, 9.7.13.2 and 9.7.13.9 to 9.7.13.14.
 */
import { splitMix64 } from '../../../src/runtime/rand.ts';
import { apply } from './model-ops.ts';
import { type Instruction, type ModelProgram, parse } from './parse.ts';
import { Races } from './races.ts';

export interface ModelLaunch {
  readonly ptx: string;
  readonly blocks: number;
  readonly block: readonly [number, number];
  readonly input: Uint32Array;
  /** Words of the output; they start as `poison`. */
  readonly words: number;
  /** The order of lanes. */
  readonly seed: number;
}

/** What words of the output hold that no thread writes. */
export const poison = 0xa5a5_a5a5;
/** Where the addresses of the output start; those of the input start at 0. */
export const outAt = 2 ** 40;

export type Word = number | bigint;

/** One thread. */
export interface Lane {
  readonly tid: number;
  readonly x: number;
  readonly y: number;
  readonly lane: number;
  readonly warp: Lane[];
  readonly registers: (Word | boolean | undefined)[];
  readonly params: Map<string, Word>;
  readonly local: number[];
  pc: number;
  readonly returns: number[];
  state: 'ready' | 'collective' | 'barrier' | 'exited';
  mask: number;
}

/** The output of a program. */
export function runModel({ ptx, blocks, block, input, words, seed }: ModelLaunch): Uint32Array {
  const program = parse(ptx);
  const output = new Uint32Array(words).fill(poison);
  const draw = splitMix64(BigInt(seed) + 5n);
  for (let i = 0; i < blocks; i++) new BlockModel(program, { block, blocks, number: i, input, output, draw }).run();
  return output;
}

interface Surroundings {
  readonly block: readonly [number, number];
  readonly blocks: number;
  readonly number: number;
  readonly input: Uint32Array;
  readonly output: Uint32Array;
  readonly draw: () => bigint;
}

/** Steps of all lanes of a block after which it counts as endless. */
const maxSteps = 4_000_000;

/** One block. */
export class BlockModel {
  readonly program: ModelProgram;
  readonly around: Surroundings;
  readonly shared: Uint32Array;
  readonly lanes: Lane[] = [];
  readonly races: Races;
  #random: number;

  constructor(program: ModelProgram, around: Surroundings) {
    this.program = program;
    this.around = around;
    const [width, height] = around.block;
    const threads = width * height;
    this.#random = Number(around.draw() & 0xffff_ffffn) | 1;
    this.shared = Uint32Array.from({ length: program.sharedBytes / 4 }, () => this.random());
    this.races = new Races(threads, this.shared.length);
    const warps: Lane[][] = [];
    for (let tid = 0; tid < threads; tid++) {
      warps[tid >> 5] ??= [];
      const warp = warps[tid >> 5]!;
      const place = { tid, x: tid % width, y: Math.floor(tid / width), lane: tid & 31, warp };
      const params = new Map<string, Word>([
        ['pin', 0],
        ['pout', outAt],
      ]);
      const lane: Lane = { ...place, registers: [], params, local: [], pc: program.entry, returns: [], state: 'ready', mask: 0 };
      warp.push(lane);
      this.lanes.push(lane);
    }
  }

  /** A random word: xorshift32 (Marsaglia). */
  random(): number {
    let x = this.#random;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#random = x;
    return x >>> 0;
  }

  run(): void {
    let steps = 0;
    let ready = this.lanes;
    while (ready.length > 0) {
      const lane = ready[this.random() % ready.length]!;
      for (let burst = this.random() % 64; burst >= 0 && lane.state === 'ready'; burst--) {
        this.#step(lane);
        if (++steps > maxSteps) throw new Error('the program does not end');
      }
      ready = this.lanes.filter(({ state }) => state === 'ready');
    }
    const waiting = this.lanes.find(({ state }) => state !== 'exited');
    if (waiting) throw new Error(`thread ${waiting.tid} waits for ever at: ${this.#at(waiting).text}`);
  }

  readonly #at = (lane: Lane): Instruction => this.program.instructions[lane.pc]!;

  #step(lane: Lane): void {
    const { guard, negated, opcode } = this.#at(lane);
    if (guard !== undefined && this.predicate(lane, guard) === negated) {
      lane.pc++;
      return;
    }
    if (opcode === 'exit' || (opcode === 'ret' && lane.returns.length === 0)) {
      lane.state = 'exited';
      this.#release(lane);
      this.#releaseBlock();
    } else if (opcode === 'ret') lane.pc = lane.returns.pop()!;
    else if (opcode.startsWith('bar.sync') || opcode.startsWith('barrier.sync')) {
      lane.state = 'barrier';
      this.#releaseBlock();
    } else if (isCollective(opcode)) this.#wait(lane);
    else apply(this, lane, this.#at(lane));
  }

  /** The value of a predicate operand, which may be negated. */
  predicate(lane: Lane, operand: string | number): boolean {
    if (typeof operand === 'string') return !this.predicate(lane, this.program.registers.get(operand.slice(1))!);
    const value = lane.registers[operand];
    if (typeof value !== 'boolean') throw new Error(`undefined predicate: ${this.#at(lane).text}`);
    return value;
  }

  #wait(lane: Lane): void {
    const instruction = this.#at(lane);
    lane.mask = Number(this.word(lane, instruction.operands.at(-1)!)) >>> 0;
    if (((lane.mask >>> lane.lane) & 1) === 0) throw new Error(`lane ${lane.lane} is not of its mask: ${instruction.text}`);
    lane.state = 'collective';
    this.#release(lane);
  }

  /** Lets the lanes go on of which all are there. */
  #release(changed: Lane): void {
    for (const lane of changed.warp) {
      if (lane.state !== 'collective') continue;
      const { opcode } = this.#at(lane);
      const group = changed.warp.filter((each) => (lane.mask >>> each.lane) & 1 && each.state !== 'exited');
      const isThere = group.every((each) => each.state === 'collective' && each.mask === lane.mask && this.#at(each).opcode === opcode);
      if (isThere) this.#collective(opcode, group);
    }
  }

  #collective(opcode: string, group: readonly Lane[]): void {
    if (opcode === 'bar.warp.sync') this.races.join(group.map(({ tid }) => tid));
    const set = group.reduce((mask, { lane }) => mask | (1 << lane), 0) >>> 0;
    const given = group.map((lane) => ({ lane, instruction: this.#at(lane) }));
    const results = given.map(({ lane, instruction }) => resultOf(this, opcode, lane, instruction, group, set));
    given.forEach(({ lane, instruction }, i) => {
      const { d, p } = results[i]!;
      if (d !== undefined) lane.registers[instruction.operands[0] as number] = d;
      if (p !== undefined && instruction.second !== undefined) lane.registers[instruction.second] = p;
      lane.state = 'ready';
      lane.pc++;
    });
  }

  #releaseBlock(): void {
    const alive = this.lanes.filter(({ state }) => state !== 'exited');
    if (alive.length === 0 || alive.some(({ state }) => state !== 'barrier')) return;
    this.races.join(alive.map(({ tid }) => tid));
    for (const lane of alive) {
      lane.state = 'ready';
      lane.pc++;
    }
  }

  /** The value of an operand: a number of a register, or a constant as text. */
  word(lane: Lane, operand: string | number): Word {
    if (typeof operand === 'string') {
      const special = specials[operand]?.(this, lane);
      if (special !== undefined) return special;
      return Number(operand) >>> 0;
    }
    const value = lane.registers[operand];
    if (value === undefined || typeof value === 'boolean') throw new Error(`undefined register: ${this.#at(lane).text}`);
    return value;
  }
}

const isCollective = (opcode: string): boolean => /^(shfl|vote|match|redux|elect|bar\.warp)\b/.test(opcode);

const specials: Record<string, (block: BlockModel, lane: Lane) => number> = {
  '%tid.x': (_, { x }) => x,
  '%tid.y': (_, { y }) => y,
  '%ntid.x': ({ around }) => around.block[0],
  '%ctaid.x': ({ around }) => around.number,
  '%laneid': (_, { lane }) => lane,
  '%lanemask_lt': (_, { lane }) => (2 ** lane - 1) >>> 0,
  '%lanemask_le': (_, { lane }) => (2 ** (lane + 1) - 1) >>> 0,
  '%lanemask_gt': (_, { lane }) => ~(2 ** (lane + 1) - 1) >>> 0,
};

interface Result {
  readonly d?: Word | boolean;
  readonly p?: boolean;
}

/** What a lane gets of a collective. */
function resultOf(block: BlockModel, opcode: string, lane: Lane, instruction: Instruction, group: readonly Lane[], set: number): Result {
  const a = (of: Lane): Word => block.word(of, operandOf(block, of));
  if (opcode === 'bar.warp.sync') return {};
  if (opcode === 'elect.sync') {
    const first = 31 - Math.clz32(set & -set);
    return { d: first, p: first === lane.lane };
  }
  if (opcode.startsWith('vote')) {
    const votes = group.filter((each) => block.predicate(each, operandOf(block, each)));
    if (opcode.includes('ballot')) return { d: votes.reduce((mask, each) => mask | (1 << each.lane), 0) >>> 0 };
    const [all, any] = [votes.length === group.length, votes.length > 0];
    return { d: opcode.includes('.all') ? all : opcode.includes('.any') ? any : all || !any };
  }
  if (opcode.startsWith('match')) {
    const same = group.filter((each) => a(each) === a(lane));
    if (opcode.includes('.any')) return { d: same.reduce((mask, each) => mask | (1 << each.lane), 0) >>> 0 };
    const isAll = same.length === group.length;
    return { d: isAll ? set : 0, p: isAll };
  }
  if (opcode.startsWith('redux'))
    return {
      d: fold(
        opcode,
        group.map((each) => Number(a(each))),
      ),
    };
  return shuffled(block, opcode, lane, instruction, group);
}

/** The operand a of a lane, at its own instruction. */
const operandOf = (block: BlockModel, lane: Lane): string | number => block.program.instructions[lane.pc]!.operands[1]!;

function fold(opcode: string, values: readonly number[]): number {
  const [, , op, type] = opcode.split('.');
  const numbers = type === 's32' ? values.map((value) => value | 0) : values.map((value) => value >>> 0);
  if (op === 'min') return Math.min(...numbers) >>> 0;
  if (op === 'max') return Math.max(...numbers) >>> 0;
  const ops: Record<string, (x: number, y: number) => number> = {
    add: (x, y) => x + y,
    and: (x, y) => x & y,
    or: (x, y) => x | y,
    xor: (x, y) => x ^ y,
  };
  return numbers.reduce((x, y) => ops[op!]!(x, y) | 0) >>> 0;
}

/** The pseudocode of 9.7.9.6. A source lane that is not in the group gives any word. */
function shuffled(block: BlockModel, opcode: string, lane: Lane, { operands }: Instruction, group: readonly Lane[]): Result {
  const mode = opcode.split('.')[2]!;
  const [bval, cval] = [Number(block.word(lane, operands[2]!)) & 31, Number(block.word(lane, operands[3]!))];
  const [clamp, segments] = [cval & 31, (cval >> 8) & 31];
  const maxLane = (lane.lane & segments) | (clamp & ~segments);
  const minLane = lane.lane & segments;
  const source = {
    up: () => ({ j: lane.lane - bval, isIn: lane.lane - bval >= maxLane }),
    down: () => ({ j: lane.lane + bval, isIn: lane.lane + bval <= maxLane }),
    bfly: () => ({ j: lane.lane ^ bval, isIn: (lane.lane ^ bval) <= maxLane }),
    idx: () => ({ j: minLane | (bval & ~segments), isIn: (minLane | (bval & ~segments)) <= maxLane }),
  }[mode]!();
  const from = source.isIn ? group.find((each) => each.lane === source.j) : lane;
  return { d: from ? block.word(from, operandOf(block, from)) : block.random(), p: source.isIn };
}
