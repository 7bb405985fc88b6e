/** Which place each register would best be in: that of the parameter that it is an argument of, or the fixed one of an instruction that reads it. */
import { placeOf } from './allocated.ts';
import type { Flow } from './flow.ts';
import type { Liveness } from './liveness.ts';
import type { MachineInst, Register, RegisterInfo } from './types.ts';

/** Parameters that lead to parameters are followed so far. */
const longestChain = 8;

export class Hints {
  /** A parameter, -1, or -2 - place. */
  private readonly wanted: Int32Array;
  /** 1 more than the number of the loop in which a register is an argument of an edge that goes back: its moves would be executed most often. */
  private readonly decidedBy: Int32Array;
  /** The place that a parameter has, or that one of its arguments has been given. */
  private readonly place: Int32Array;

  constructor(flow: Flow, registers: readonly RegisterInfo[], { positions, ends }: Pick<Liveness, 'positions' | 'ends'>) {
    this.wanted = new Int32Array(registers.length).fill(-1);
    this.place = new Int32Array(registers.length).fill(-1);
    this.decidedBy = new Int32Array(registers.length);
    const { decidedBy } = this;
    const wish = (register: Register, wanted: number, decides: number): void => {
      if (decidedBy[register] && !decides) return;
      this.wanted[register] = wanted;
      decidedBy[register] = decides;
    };
    for (let number = flow.blocks.length - 1; number >= 0; number--) {
      const block = flow.blocks[number]!;
      for (const { block: to, args } of block.edges) {
        const { params } = flow.blocks[to]!;
        for (const [index, arg] of args.entries()) {
          const decided = to <= number ? flow.loopOf[to]! + 1 : decidedBy[params[index]!]!;
          // What another loop decides is no concern of this one.
          wish(arg, params[index]!, decided === flow.loopOf[number]! + 1 ? decided : 0);
        }
      }
      const { insts, end } = block;
      end.uses.forEach((register, index) => {
        const fixed = end.fixedUses?.[index];
        if (fixed !== undefined) wish(register, -2 - placeOf(registers[register]!.class, fixed), 0);
      });
      for (let i = insts.length - 1; i >= 0; i--) {
        const position = positions[number]! + 1 + i;
        this.visit(insts[i]!, registers, decidedBy, wish, (register) => ends[register]! <= position);
      }
    }
  }

  private visit(
    inst: MachineInst,
    registers: readonly RegisterInfo[],
    decidedBy: Int32Array,
    wish: (register: Register, wanted: number, decides: number) => void,
    dies: (register: Register) => boolean,
  ): void {
    const { uses, def, fixedUses } = inst;
    if (fixedUses) {
      for (let i = 0; i < uses.length; i++) {
        const fixed = fixedUses[i];
        if (fixed !== undefined) wish(uses[i]!, -2 - placeOf(registers[uses[i]!]!.class, fixed), 0);
      }
    }
    if (def === undefined || this.wanted[def] === -1) return;
    const pass = (index: number): void => {
      // An operand that lives on is copied, or is in the way.
      if (dies(uses[index]!) && registers[def]!.class === registers[uses[index]!]!.class)
        wish(uses[index]!, this.wanted[def]!, decidedBy[def]!);
    };
    inst.tiedChoices?.forEach(pass);
    const copied = inst.tied ?? (inst.isMove ? 0 : undefined);
    if (copied !== undefined) pass(copied);
  }

  /** The place to prefer for a register, or -1. */
  placeOf(register: Register): number {
    let wanted = this.wanted[register]!;
    for (let i = 0; i < longestChain && wanted >= 0; i++) {
      if (this.place[wanted]! >= 0) return this.place[wanted]!;
      wanted = this.wanted[wanted]!;
    }
    return wanted <= -2 ? -2 - wanted : -1;
  }

  /** The place of the parameter of a loop that a register is the next value of, or -1. */
  placeInLoop(register: Register, loop: number): number {
    return loop >= 0 && this.decidedBy[register] === loop + 1 ? this.placeOf(register) : -1;
  }

  /** Has other arguments of the same parameter prefer the place of this one, unless they have a better one to prefer. */
  note(register: Register, place: number): void {
    const wanted = this.wanted[register]!;
    if (wanted >= 0 && this.placeOf(register) < 0) this.place[wanted] = place;
  }

  /** Fixes the place of a parameter, or forgets the one that it was to have. */
  fixParam(register: Register, place: number): void {
    this.place[register] = place;
  }
}
