/** PTX text with random choices: fresh registers, predicates and labels, and branches in several layouts. One instruction is one line. */

const registerTypes = { r: '.b32', w: '.b64', p: '.pred', d: '.f64', h: '.b16' } as const;

/** The text of one function or kernel, while it is written. */
export class Writer {
  readonly #draw: () => bigint;
  readonly #prefix: string;
  #lines: string[] = [];
  readonly #outOfLine: string[] = [];
  readonly #counts = { r: 0, w: 0, p: 0, d: 0, h: 0 };
  #labels = 0;

  /** `prefix`: starts the names of all registers and labels, so that those of two functions differ. */
  constructor(draw: () => bigint, prefix: string) {
    this.#draw = draw;
    this.#prefix = prefix;
  }

  /** A number from 0 up to below `count`. */
  pick(count: number): number {
    return Number(this.#draw() % BigInt(count));
  }

  /** Whether a choice of one in `count` is taken. */
  once(count: number): boolean {
    return this.pick(count) === 0;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.pick(list.length)]!;
  }

  emit(...lines: string[]): void {
    this.#lines.push(...lines);
  }

  word(): string {
    return this.register('r');
  }

  wide(): string {
    return this.register('w');
  }

  predicate(): string {
    return this.register('p');
  }

  /** A new register of a type, by the letter of its name. */
  register(letter: keyof typeof registerTypes): string {
    return `%${this.#prefix}${letter}${this.#counts[letter]++}`;
  }

  label(): string {
    return `${this.#prefix.toUpperCase()}L${this.#labels++}`;
  }

  /** An instruction whose result is a new word. */
  op(opcode: string, ...operands: (string | number)[]): string {
    const d = this.word();
    this.emit(`${opcode} ${[d, ...operands].join(', ')};`);
    return d;
  }

  /** A comparison: `test('ne.u32', a, 0)`. */
  test(comparison: string, a: string | number, b: string | number): string {
    const p = this.predicate();
    this.emit(`setp.${comparison} ${p}, ${a}, ${b};`);
    return p;
  }

  /** A predicate as a word. */
  asWord(p: string, one: string | number = 1, other: string | number = 0): string {
    return this.op('selp.b32', one, other, p);
  }

  /** The index of the lowest bit that is set; 32 if none is. */
  lowest(mask: string): string {
    return this.op('clz.b32', this.op('brev.b32', mask));
  }

  /** Both arms of a branch on a predicate, in one of four layouts. */
  ifElse(p: string, then: () => void, otherwise?: () => void): void {
    const layout = this.pick(4);
    const [apart, join] = [this.label(), this.label()];
    if (!otherwise || layout === 0) {
      this.emit(`@!${p} bra ${otherwise ? apart : join};`);
      then();
      if (otherwise) {
        this.emit(`bra ${join};`, `${apart}:`);
        otherwise();
      }
    } else if (layout === 1) {
      this.emit(`@${p} bra ${apart};`);
      otherwise();
      this.emit(`bra ${join};`, `${apart}:`);
      then();
    } else {
      const [jumps, falls] = layout === 2 ? [then, otherwise] : [otherwise, then];
      this.emit(`@${layout === 2 ? '' : '!'}${p} bra ${apart};`);
      falls();
      this.#apart(() => {
        this.emit(`${apart}:`);
        jumps();
        this.emit(`bra ${join};`);
      });
    }
    this.emit(`${join}:`);
  }

  /** One of several arms, by a number below their count: a chain of branches, or one through a table. */
  choose(selector: string, arms: readonly (() => void)[]): void {
    const [labels, join] = [arms.map(() => this.label()), this.label()];
    if (this.once(2)) {
      const table = this.label();
      this.emit(`${table}: .branchtargets ${labels.join(', ')};`, `brx.idx ${selector}, ${table};`);
    } else {
      for (const [i, label] of labels.slice(0, -1).entries()) this.emit(`@${this.test('eq.u32', selector, i)} bra ${label};`);
      this.emit(`bra ${labels.at(-1)};`);
    }
    arms.forEach((arm, i) => {
      this.emit(`${labels[i]}:`);
      arm();
      this.emit(`bra ${join};`);
    });
    this.emit(`${join}:`);
  }

  /** Whether a line that was written ends so. */
  has(end: string): boolean {
    return [...this.#lines, ...this.#outOfLine].some((line) => line.endsWith(end));
  }

  /** Writes code behind the end of the function. */
  #apart(write: () => void): void {
    const lines = this.#lines;
    this.#lines = [];
    write();
    this.#outOfLine.push(...this.#lines);
    this.#lines = lines;
  }

  /** Declarations of all registers, and the lines. `ending` is the last instruction, behind which no lane continues. */
  text(head: readonly string[], ending: readonly string[]): string[] {
    const used = Object.entries(this.#counts).filter(([, count]) => count > 0);
    const registers = used.map(
      ([letter, count]) => `.reg ${registerTypes[letter as keyof typeof registerTypes]} %${this.#prefix}${letter}<${count}>;`,
    );
    return [...registers, ...head, ...this.#lines, ...ending, ...this.#outOfLine];
  }
}
