/** The registers that live at a point of a block, with the distances of their next uses from the block's beginning, on a walk from its end to its beginning. */
import type { Register, RegisterInfo } from './types.ts';

/** The distance of a register without a further use. */
export const dead = 0x7fff_ffff;
const longest = 0x3fff_ffff;

/** Registers that live at the beginning of a block, and the distances of their next uses. */
export interface LiveIn {
  readonly registers: Int32Array;
  readonly distances: Int32Array;
  /** Of the block's parameters; `dead` if one has no use. */
  readonly params: Int32Array;
}

export class LiveSet {
  /** The distance of the next use of each register that lives. */
  readonly next: Int32Array;
  /** How many registers of each class live. */
  readonly count: [general: number, vector: number] = [0, 0];
  /** The linear position behind which a register does not live, as far as known. */
  readonly ends: Int32Array;
  private readonly classes: Uint8Array;
  /** The number of the walk in which a register lives. */
  private readonly livesIn: Int32Array;
  private readonly list: Int32Array;
  private size = 0;
  private walk = 0;

  constructor(registers: readonly RegisterInfo[], next: Int32Array, ends: Int32Array) {
    this.next = next;
    this.ends = ends;
    this.classes = Uint8Array.from(registers, (info) => (info.class === 'general' ? 0 : 1));
    this.livesIn = new Int32Array(registers.length);
    this.list = new Int32Array(registers.length);
  }

  /** Empties the set for the walk over another block. */
  begin(): void {
    this.walk++;
    this.size = 0;
    this.count[0] = 0;
    this.count[1] = 0;
  }

  lives(register: Register): boolean {
    return this.livesIn[register] === this.walk;
  }

  /** Adds what lives at the beginning of a block behind the end: `start` is added to the distances, and the end has the linear position `end`. */
  addBlock({ registers, distances, params }: LiveIn, args: readonly Register[], start: number, end: number): void {
    for (let i = 0; i < registers.length; i++) this.add(registers[i]!, start + distances[i]!, end);
    for (let i = 0; i < args.length; i++) {
      // A block that has not been visited yet has no parameters: what is live only grows from round to round.
      const distance = params[i] ?? dead;
      if (distance !== dead) this.add(args[i]!, start + distance, end);
    }
  }

  private add(register: Register, distance: number, end: number): void {
    if (distance > longest) distance = longest;
    if (this.livesIn[register] !== this.walk) this.insert(register, distance, end);
    else if (distance < this.next[register]!) this.next[register] = distance;
  }

  private insert(register: Register, distance: number, end: number): void {
    this.livesIn[register] = this.walk;
    this.list[this.size++] = register;
    this.next[register] = distance;
    this.count[this.classes[register] as 0 | 1]++;
    if (end > this.ends[register]!) this.ends[register] = end;
  }

  /** A use at a distance that is smaller than those that are known. */
  use(register: Register, distance: number, position: number): void {
    if (this.livesIn[register] === this.walk) this.next[register] = distance;
    else this.insert(register, distance, position);
  }

  remove(register: Register): void {
    if (this.livesIn[register] !== this.walk) return;
    this.livesIn[register] = 0;
    this.count[this.classes[register] as 0 | 1]--;
  }

  /** The registers that live. */
  get liveIn(): Pick<LiveIn, 'registers' | 'distances'> {
    const { list, livesIn, walk, next } = this;
    const registers = new Int32Array(this.count[0] + this.count[1]);
    const distances = new Int32Array(registers.length);
    let count = 0;
    for (let i = 0; i < this.size; i++) {
      const register = list[i]!;
      if (livesIn[register] !== walk) continue;
      registers[count] = register;
      distances[count++] = next[register]!;
    }
    return { registers, distances };
  }
}
