/** Machine functions made at random: branches, loops and switches, with as many live registers as asked for, and all kinds of constraints. */
import type {
  MachineBlock,
  MachineEdge,
  MachineEnd,
  MachineFunction,
  MachineInst,
  Register,
  RegisterClass,
  RegisterFile,
  RegisterInfo,
} from '../../../src/native/machine/types.ts';

/** The bytes that registers of a class have. */
const widths = { general: [4, 8], vector: [4, 8, 16, 32, 64] } as const;

interface OpenBlock {
  readonly params: Register[];
  readonly insts: MachineInst[];
  end: MachineEnd;
  edges: { readonly to: OpenBlock; readonly args: Register[] }[];
  readonly loopDepth: number;
  readonly isRare: boolean;
}

export interface Shape {
  readonly file: RegisterFile;
  /** Instructions, about. */
  readonly size: number;
  /** From how many of the newest registers operands are chosen. */
  readonly pressure: number;
  /** The share of instructions with fixed registers, clobbers and calls. */
  readonly constraints: number;
}

export function randomFunction(random: () => number, shape: Shape): MachineFunction {
  return new Maker(random, shape).make();
}

class Maker {
  readonly random: () => number;
  readonly shape: Shape;
  readonly registers: RegisterInfo[] = [];
  readonly order: OpenBlock[] = [];
  block: OpenBlock;
  /** Registers whose definitions dominate the point. */
  visible: Register[] = [];
  left: number;
  depth = 0;

  constructor(random: () => number, shape: Shape) {
    this.random = random;
    this.shape = shape;
    this.left = shape.size;
    this.block = this.newBlock(false);
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  make(): MachineFunction {
    this.place(this.block);
    while (this.left > 0) this.part();
    this.finish([]);
    const numbers = new Map(this.order.map((block, index) => [block, index]));
    const blocks = this.order.map(
      ({ params, insts, end, edges, loopDepth, isRare }): MachineBlock => ({
        params,
        insts,
        end,
        edges: edges.map(({ to, args }): MachineEdge => ({ block: numbers.get(to)!, args })),
        loopDepth,
        isRare,
      }),
    );
    return { registers: this.registers, blocks, outgoingBytes: this.below(3) * 16 };
  }

  newBlock(isRare: boolean, loopDepth = this.depth): OpenBlock {
    return { params: [], insts: [], end: { uses: [], emit() {} }, edges: [], loopDepth, isRare };
  }

  place(block: OpenBlock): void {
    this.order.push(block);
    this.block = block;
  }

  newRegister(registerClass: RegisterClass, bytes: RegisterInfo['bytes'] = this.one(widths[registerClass]), canRemake = false): Register {
    this.registers.push({ class: registerClass, bytes, ...(canRemake ? { remake() {} } : {}) });
    return this.registers.length - 1;
  }

  /** A visible register of a class, or of the class and width of another one. */
  use(registerClass: RegisterClass, like?: RegisterInfo): Register {
    for (let tries = 0; tries < 8; tries++) {
      const from = Math.max(0, this.visible.length - (this.chance(0.9) ? this.shape.pressure : this.visible.length));
      const register = this.visible[from + this.below(this.visible.length - from)];
      if (register === undefined) break;
      const info = this.registers[register]!;
      if (info.class === registerClass && (!like || info.bytes === like.bytes)) return register;
    }
    const register = this.newRegister(registerClass, like?.bytes, this.chance(0.3));
    this.block.insts.push({ def: register, uses: [], emit() {} });
    this.visible.push(register);
    return register;
  }

  anyClass(): RegisterClass {
    return this.chance(0.5) ? 'general' : 'vector';
  }

  finish(edges: OpenBlock['edges'], uses: Register[] = []): void {
    const fixedUses = uses.map(() => (this.chance(0.2) ? this.one(this.shape.file.general) : undefined));
    this.block.end = {
      uses,
      ...(new Set(fixedUses.filter((number) => number !== undefined)).size === 1 || uses.length === 1 ? { fixedUses } : {}),
      ...(this.chance(0.1) && uses.length > 0 ? { temps: ['general' as const] } : {}),
      emit() {},
    };
    this.block.edges = edges;
  }

  part(): void {
    const choice = this.below(10);
    if (choice < 6 || this.depth > 3 || this.left <= 0) for (let i = this.below(8); i >= 0; i--) this.instruction();
    else if (choice < 8) this.branch();
    else this.loop();
  }

  parts(): void {
    for (let i = this.below(3); i >= 0 && this.left > 0; i--) this.part();
  }

  /** An end with a choice, some blocks of which the function leaves, and a block in which the others meet with parameters. */
  branch(): void {
    const count = this.chance(0.2) ? 3 + this.below(3) : 2;
    const condition = [this.use('general')];
    const merge = this.newBlock(false);
    const params = Array.from({ length: this.below(4) }, () => this.newRegister(this.anyClass()));
    const args = (): Register[] => params.map((register) => this.use(this.registers[register]!.class, this.registers[register]!));
    const visible = [...this.visible];
    const arms = Array.from({ length: count }, () => this.newBlock(this.block.isRare || this.chance(0.2)));
    this.left -= count;
    // A branch straight to the merge is a critical edge; it has no arguments.
    const skips = params.length === 0 && this.chance(0.5);
    this.finish([...arms.map((to) => ({ to, args: [] })), ...(skips ? [{ to: merge, args: [] }] : [])], condition);
    let arrivals = skips ? 1 : 0;
    const at = this.order.length;
    for (const [index, arm] of arms.entries()) {
      this.visible = [...visible];
      this.place(arm);
      this.parts();
      if (this.chance(0.15) && (arrivals > 0 || index < count - 1)) {
        this.finish([], this.chance(0.5) ? [this.use('general')] : []);
        continue;
      }
      arrivals++;
      const given = args();
      this.finish([{ to: merge, args: given }]);
    }
    this.visible = [...visible, ...params];
    merge.params.push(...params);
    this.place(merge);
    // Blocks follow their dominators, but need not follow all blocks that go on in them.
    if (arrivals > 1 && this.chance(0.15)) this.order.splice(at, 0, this.order.pop()!);
  }

  loop(): void {
    this.depth++;
    const header = this.newBlock(this.block.isRare);
    const params = Array.from({ length: this.below(6) }, () => this.newRegister(this.anyClass()));
    const args = (): Register[] => params.map((register) => this.use(this.registers[register]!.class, this.registers[register]!));
    const initial = args();
    this.finish([{ to: header, args: initial }]);
    header.params.push(...params);
    this.visible.push(...params);
    this.place(header);
    this.parts();
    const exit = this.newBlock(false, this.depth - 1);
    const next = args();
    const condition = [this.use('general')];
    if (this.chance(0.5)) {
      const latch = this.newBlock(this.block.isRare);
      this.finish(
        [
          { to: latch, args: [] },
          { to: exit, args: [] },
        ],
        condition,
      );
      const { visible } = this;
      this.visible = [...visible];
      this.place(latch);
      if (this.chance(0.5)) this.parts();
      this.finish([{ to: header, args: next }]);
      this.visible = visible;
    } else {
      this.finish(
        [
          { to: exit, args: [] },
          { to: header, args: next },
        ],
        condition,
      );
    }
    this.depth--;
    this.place(exit);
  }

  instruction(): void {
    this.left--;
    if (this.chance(this.shape.constraints)) this.constrained();
    else this.plain();
  }

  define(register: Register): void {
    this.visible.push(register);
  }

  /** Operands, a result that may be tied or early, temps: as many as the smaller of the files has registers for. */
  plain(): void {
    const registerClass = this.anyClass();
    const size = this.shape.file[registerClass].length;
    const uses = Array.from({ length: this.below(3) }, () => this.use(registerClass));
    if (this.chance(0.2)) uses.push(this.use(registerClass === 'general' ? 'vector' : 'general'));
    const temps = Array.from({ length: this.below(2) }, () => registerClass);
    while (uses.length + temps.length + 1 > size) uses.pop();
    const tied = uses.length > 0 && this.chance(0.4) ? this.below(uses.length) : undefined;
    const source = tied === undefined ? undefined : this.registers[uses[tied]!]!;
    const isMove =
      tied === undefined &&
      uses.length === 1 &&
      temps.length === 0 &&
      this.registers[uses[0]!]!.class === registerClass &&
      this.chance(0.5);
    const like = isMove ? this.registers[uses[0]!]! : source;
    const def = this.chance(0.9)
      ? this.newRegister(like?.class ?? registerClass, like?.bytes, uses.length === 0 && this.chance(0.5))
      : undefined;
    const inMemory = this.chance(0.4) && uses.length > 0 ? this.below(uses.length) : undefined;
    this.block.insts.push({
      uses,
      ...(def === undefined ? {} : { def }),
      ...(tied !== undefined && def !== undefined ? { tied, ...this.choicesOf(uses, tied) } : {}),
      ...(inMemory !== undefined && inMemory !== tied && !isMove ? { inMemory } : {}),
      ...(temps.length > 0 ? { temps } : {}),
      ...(this.chance(0.2) ? { isEarly: true } : {}),
      ...(isMove ? { isMove } : {}),
      emit() {},
    });
    if (def !== undefined) this.define(def);
  }

  /** Other operands like the tied one. */
  choicesOf(uses: readonly Register[], tied: number): Pick<MachineInst, 'tiedChoices'> {
    const [own, ...others] = [uses[tied]!, ...uses].map((register) => this.registers[register]!);
    const tiedChoices = others.flatMap((info, index) =>
      index !== tied && info.class === own!.class && info.bytes === own!.bytes ? [index] : [],
    );
    return this.chance(0.5) && tiedChoices.length > 0 ? { tiedChoices } : {};
  }

  constrained(): void {
    const { file } = this.shape;
    const [first, second, third] = this.shuffled(file.general) as [number, number, number];
    const kind = this.below(5);
    if (kind === 0) {
      // A call.
      const def = this.newRegister(this.anyClass());
      const fixedDef = this.registers[def]!.class === 'general' ? first : file.vector[0]!;
      const uses = Array.from({ length: this.below(3) }, () => this.use('general'));
      const fixedUses = [first, second, third].slice(0, uses.length);
      this.block.insts.push({ def, uses, fixedUses, fixedDef, clobbers: { general: -1, vector: -1 }, emit() {} });
      this.define(def);
    } else if (kind === 1) {
      // A division.
      const uses = [this.use('general'), this.use('general')];
      const def = this.newRegister('general');
      this.block.insts.push({
        def,
        uses,
        fixedUses: [first, undefined],
        fixedDef: this.chance(0.5) ? first : second,
        clobbers: { general: (1 << first) | (1 << second), vector: 0 },
        emit() {},
      });
      this.define(def);
    } else if (kind === 2) {
      // A shift.
      const uses = [this.use('general'), this.use('general')];
      const def = this.newRegister('general', this.registers[uses[0]!]!.bytes);
      this.block.insts.push({
        def,
        uses,
        fixedUses: [undefined, first],
        tied: 0,
        emit() {},
        ...(this.chance(0.5) ? { isEarly: true } : {}),
      });
      this.define(def);
    } else if (kind === 3) {
      // An exchange with memory: a tied operand with a fixed register.
      const uses = [this.use('general'), this.use('general')];
      const def = this.newRegister('general', this.registers[uses[0]!]!.bytes);
      const fixed = this.below(3);
      this.block.insts.push({
        def,
        uses,
        tied: 0,
        ...(fixed < 2 ? { fixedDef: first } : {}),
        ...(fixed > 0 ? { fixedUses: [first, undefined] } : {}),
        ...(this.chance(0.5) ? { clobbers: { general: 1 << second, vector: 0 } } : {}),
        emit() {},
      });
      this.define(def);
    } else {
      const uses = [this.use('general'), this.use('general'), this.use('general')];
      this.block.insts.push({ uses, fixedUses: [second, first, third], temps: ['general'], emit() {} });
    }
  }

  shuffled(numbers: readonly number[]): number[] {
    const left = [...numbers];
    return numbers.map(() => left.splice(this.below(left.length), 1)[0]!);
  }
}
