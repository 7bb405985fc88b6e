/** The code of a function whose registers have places: its frame, its blocks in the order of the code, and its moves. */
import { type Assembler, general, type Label, type MemoryOperand, memory, vector } from '../x64/types.ts';
import type { AllocatedFunction, InstStep, Step } from './allocated.ts';
import { isBusyEnd } from './flow.ts';
import { type Places, type RegisterInfo, reserved } from './types.ts';

const loopAlignment = 32;

/** Adds the code of a function at the assembler's place: the return address is at rsp when it is entered. */
export function emitFunction(out: Assembler, allocated: AllocatedFunction): void {
  const emitter = new Emitter(out, allocated);
  out.emit('sub', general(reserved.stack), { kind: 'immediate', value: BigInt(allocated.frameBytes) });
  const order = blockOrder(allocated, emitter.targets);
  order.forEach((number, index) => {
    emitter.emitBlock(number, order[index + 1]);
  });
}

/** Blocks with code: rare ones behind all others. */
function blockOrder({ blocks }: AllocatedFunction, targets: Int32Array): number[] {
  const used = blocks.map((_, number) => number).filter((number) => blocks[number]!.steps.length > 0 && targets[number] === number);
  const isLate = (number: number): boolean => blocks[number]!.block.isRare && number !== 0;
  return [...used.filter((number) => !isLate(number)), ...used.filter(isLate)];
}

/** Whether a block does nothing but go on in another one. */
const isEmpty = ({ block, steps }: AllocatedFunction['blocks'][number], number: number): boolean =>
  number !== 0 && steps.length === 1 && block.edges.length === 1 && block.edges[0]!.block !== number && !isBusyEnd(block);

class Emitter {
  readonly out: Assembler;
  readonly allocated: AllocatedFunction;
  /** Labels of blocks; an empty block has that of the block it goes on in. */
  readonly labels: Label[];
  readonly targets: Int32Array;

  constructor(out: Assembler, allocated: AllocatedFunction) {
    this.out = out;
    this.allocated = allocated;
    this.labels = allocated.blocks.map(() => out.newLabel());
    this.targets = targetsOf(allocated);
  }

  emitBlock(number: number, following: number | undefined): void {
    const { out, allocated, labels, targets } = this;
    const { block, steps } = allocated.blocks[number]!;
    if (allocated.isHeader[number] && !block.isRare) out.align(loopAlignment);
    out.bind(labels[number]!);
    for (const step of steps) {
      if (step.kind !== 'inst') this.emitMove(step);
      else if (step.inst === undefined) {
        const to = block.edges.map((edge) => targets[edge.block]!);
        const next = following === undefined ? -1 : to.indexOf(following);
        const edgeLabels = to.map((target) => labels[target]!);
        block.end.emit(out, this.placesOf(step), edgeLabels, next < 0 ? undefined : next);
      } else if (!this.isNoMove(step)) step.inst.emit(out, this.placesOf(step));
    }
  }

  /** Whether a step copies a register to itself; a copy of the low half of a general register has an effect. */
  private isNoMove({ inst, def, uses, slotOf }: InstStep): boolean {
    if (!inst?.isMove || def !== uses[0] || slotOf >= 0) return false;
    const { registers } = this.allocated.fn;
    const [to, from] = [registers[inst.def!]!, registers[inst.uses[0]!]!];
    return to.class === from.class && to.bytes === from.bytes;
  }

  private placesOf({ def, uses, temps, slotOf }: InstStep): Places {
    return {
      def: def < 0 ? -1 : def & 31,
      uses: uses.map((place) => place & 31),
      temps: temps.map((place) => place & 31),
      slot: slotOf < 0 ? undefined : this.slot(this.allocated.slotOf[slotOf]!),
      frameBytes: this.allocated.frameBytes,
    };
  }

  private slot(number: number): MemoryOperand {
    return memory(reserved.stack, this.allocated.slots[number]!.offset);
  }

  private emitMove(step: Exclude<Step, InstStep>): void {
    const { out } = this;
    const info = this.allocated.fn.registers[step.register]!;
    switch (step.kind) {
      case 'move':
        if (info.class === 'general') out.emit('mov', generalOf(step.to, info), generalOf(step.from, info));
        else out.emit('vmovaps', vectorOf(step.to, info), vectorOf(step.from, info));
        break;
      case 'swap':
        out.emit('xchg', general(step.to), general(step.from));
        break;
      case 'store':
        // The upper half of a register of 4 bytes is zero, and so in its slot.
        if (info.class === 'general') out.emit('mov', this.slot(step.slot), general(step.from));
        else out.emit(vectorMove(info), this.slot(step.slot), vectorOf(step.from, info));
        break;
      case 'load':
        if (info.class === 'general') out.emit('mov', generalOf(step.to, info), this.slot(step.slot));
        else out.emit(vectorMove(info), vectorOf(step.to, info), this.slot(step.slot));
        break;
      case 'remake':
        info.remake!(out, step.to & 31);
    }
  }
}

const generalOf = (place: number, { bytes }: RegisterInfo) => general(place, bytes === 4 ? 4 : 8);
const vectorOf = (place: number, { bytes }: RegisterInfo) => vector(place & 31, bytes === 32 || bytes === 64 ? bytes : 16);
const vectorMove = ({ bytes }: RegisterInfo): string => (bytes === 4 ? 'vmovss' : bytes === 8 ? 'vmovsd' : 'vmovups');

/** The block that an edge to each block leads to, behind empty ones. */
function targetsOf({ blocks }: AllocatedFunction): Int32Array {
  const targets = new Int32Array(blocks.length).fill(-1);
  const find = (start: number): number => {
    const path: number[] = [];
    let number = start;
    while (targets[number]! < 0 && isEmpty(blocks[number]!, number)) {
      path.push(number);
      // A loop of empty blocks keeps one of them.
      targets[number] = number;
      number = blocks[number]!.block.edges[0]!.block;
    }
    const target = targets[number]! < 0 ? number : targets[number]!;
    for (const empty of path) targets[empty] = target;
    return target;
  };
  blocks.forEach((_, number) => {
    targets[number] = find(number);
  });
  return targets;
}
