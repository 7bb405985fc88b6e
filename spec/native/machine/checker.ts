/**
 * Executes an allocated function symbolically over all its paths: each place and slot holds a set of virtual registers, and each operand has to be where
 * the allocation says. It shares no code with the allocator (after the checker of Cranelift's regalloc2).
 */
import type { AllocatedFunction, Step } from '../../../src/native/machine/allocated.ts';
import type { MachineEnd, MachineFunction, MachineInst, RegisterFile } from '../../../src/native/machine/types.ts';

/** Registers by location: places below 64, slots from 64 on. */
type Contents = Map<number, Set<number>>;

const copyOf = (state: Contents): Contents => new Map([...state].map(([location, registers]) => [location, new Set(registers)]));

/** What both hold. */
function meet(a: Contents, b: Contents): Contents {
  const result: Contents = new Map();
  for (const [location, registers] of a) {
    const both = [...registers].filter((register) => b.get(location)?.has(register));
    if (both.length > 0) result.set(location, new Set(both));
  }
  return result;
}

const isSame = (a: Contents, b: Contents): boolean =>
  a.size === b.size && [...a].every(([location, registers]) => b.get(location)?.size === registers.size);

class Checker {
  readonly fn: MachineFunction;
  readonly file: RegisterFile;
  readonly allocated: AllocatedFunction;

  constructor(fn: MachineFunction, allocated: AllocatedFunction, file: RegisterFile) {
    this.fn = fn;
    this.allocated = allocated;
    this.file = file;
  }

  fail(block: number, what: string): never {
    throw new Error(`block ${block}: ${what}`);
  }

  run(): void {
    const { blocks } = this.allocated;
    const states: (Contents | undefined)[] = new Array(blocks.length);
    states[0] = new Map();
    const work = [0];
    while (work.length > 0) {
      const number = work.shift()!;
      const state = this.runBlock(number, copyOf(states[number]!));
      for (const { block: to, args } of blocks[number]!.block.edges) {
        const entered = this.cross(state, args, blocks[to]!.block.params);
        const old = states[to];
        const joined = old ? meet(old, entered) : entered;
        if (old && isSame(old, joined)) continue;
        states[to] = joined;
        if (!work.includes(to)) work.push(to);
      }
    }
  }

  cross(state: Contents, args: readonly number[], params: readonly number[]): Contents {
    const result: Contents = new Map();
    for (const [location, registers] of state) {
      const renamed = new Set([...registers].filter((register) => !params.includes(register)));
      params.forEach((param, index) => {
        if (registers.has(args[index]!)) renamed.add(param);
      });
      if (renamed.size > 0) result.set(location, renamed);
    }
    return result;
  }

  runBlock(number: number, state: Contents): Contents {
    const { block, steps } = this.allocated.blocks[number]!;
    const left = [...block.insts];
    let hasEnded = false;
    for (const step of steps) {
      if (hasEnded) this.fail(number, 'a step behind the end');
      if (step.kind !== 'inst') this.runMove(number, step, state);
      else if (step.inst === undefined) {
        if (left.length > 0) this.fail(number, 'the end is before an instruction');
        this.runInst(number, block.end, step, state);
        hasEnded = true;
      } else {
        if (left.shift() !== step.inst) this.fail(number, 'an instruction is out of order');
        this.runInst(number, step.inst, step, state);
      }
    }
    if (!hasEnded) this.fail(number, 'no end');
    return state;
  }

  checkPlace(block: number, place: number, registerClass: string): void {
    const numbers: readonly number[] = registerClass === 'general' ? this.file.general : this.file.vector;
    const first = registerClass === 'general' ? 0 : 32;
    if (!numbers.includes(place - first) || place < first) this.fail(block, `place ${place} is no ${registerClass} register`);
  }

  /** Only registers that are not wider than the move survive it. */
  moved(state: Contents, from: number, bytes: number): Set<number> {
    return new Set([...(state.get(from) ?? [])].filter((register) => this.fn.registers[register]!.bytes <= bytes));
  }

  runMove(block: number, step: Exclude<Step, { kind: 'inst' }>, state: Contents): void {
    const info = this.fn.registers[step.register]!;
    const slot = step.kind === 'store' || step.kind === 'load' ? this.allocated.slots[step.slot] : undefined;
    if ((step.kind === 'store' || step.kind === 'load') && (!slot || slot.bytes < info.bytes))
      this.fail(block, `slot ${step.slot} is too small`);
    if (step.kind !== 'store') this.checkPlace(block, step.to, info.class);
    if (step.kind !== 'load' && step.kind !== 'remake') this.checkPlace(block, step.from, info.class);
    switch (step.kind) {
      case 'move':
        state.set(step.to, this.moved(state, step.from, info.bytes));
        break;
      case 'swap': {
        if (info.class !== 'general') this.fail(block, 'only general registers are exchanged');
        const [from, to] = [state.get(step.from) ?? new Set<number>(), state.get(step.to) ?? new Set<number>()];
        state.set(step.from, to);
        state.set(step.to, from);
        break;
      }
      case 'store':
        state.set(64 + step.slot, this.moved(state, step.from, info.bytes));
        break;
      case 'load':
        state.set(step.to, this.moved(state, 64 + step.slot, info.bytes));
        break;
      case 'remake':
        if (!info.remake) this.fail(block, `register ${step.register} cannot be made anew`);
        state.set(step.to, new Set([step.register]));
    }
  }

  runInst(block: number, inst: MachineInst | MachineEnd, step: Extract<Step, { kind: 'inst' }>, state: Contents): void {
    const { registers } = this.fn;
    const all: Partial<MachineInst> = step.inst ?? {};
    const isClobbered = (place: number): boolean =>
      place < 32 ? (((all.clobbers?.general ?? 0) >>> place) & 1) !== 0 : (((all.clobbers?.vector ?? 0) >>> (place - 32)) & 1) !== 0;
    const read: number[] = [];
    inst.uses.forEach((register, index) => {
      const isInSlot = step.slotOf === register && all.inMemory === index;
      const place = isInSlot ? 64 + this.allocated.slotOf[register]! : step.uses[index]!;
      if (!state.get(place)?.has(register)) this.fail(block, `operand ${register} is not in ${place}`);
      if (isInSlot) return;
      this.checkPlace(block, place, registers[register]!.class);
      read.push(place);
      const fixed = inst.fixedUses?.[index];
      const isFixed = fixed !== undefined || (all.tied === index && all.fixedDef !== undefined);
      if (fixed !== undefined && (place & 31) !== fixed) this.fail(block, `operand ${register} is not in its fixed register`);
      if (!isFixed && isClobbered(place)) this.fail(block, `operand ${register} is clobbered`);
      const isTied = index === all.tied || all.tiedChoices?.includes(index) === true;
      if (all.isEarly && !isTied && place === step.def) this.fail(block, `operand ${register} is in the place of an early result`);
    });
    if (step.slotOf >= 0 && inst.uses[all.inMemory ?? -1] !== step.slotOf) this.fail(block, 'the operand in the slot may not be there');
    const temps = inst.temps ?? [];
    if (temps.length !== step.temps.length || new Set(step.temps).size !== temps.length) this.fail(block, 'temps');
    temps.forEach((registerClass, index) => {
      const place = step.temps[index]!;
      this.checkPlace(block, place, registerClass);
      if (read.includes(place) || place === step.def || isClobbered(place)) this.fail(block, `temp ${place} is in use`);
      state.delete(place);
    });
    for (const place of state.keys()) if (place < 64 && isClobbered(place)) state.delete(place);
    if (all.def === undefined) return;
    this.checkPlace(block, step.def, registers[all.def]!.class);
    if (all.fixedDef !== undefined && (step.def & 31) !== all.fixedDef) this.fail(block, 'the result is not in its fixed register');
    if (all.fixedDef === undefined && all.fixedUses?.[all.tied ?? -1] === undefined && isClobbered(step.def))
      this.fail(block, 'the result is clobbered');
    if (
      all.tied !== undefined &&
      ![all.tied, ...(all.tiedChoices ?? [])].some((index) => step.def === step.uses[index] && inst.uses[index] !== step.slotOf)
    )
      this.fail(block, 'the result is not in the place of its tied operand');
    for (const held of state.values()) held.delete(all.def);
    state.set(step.def, new Set([all.def]));
  }
}

/** Throws what is wrong with an allocation. */
export function checkAllocation(fn: MachineFunction, allocated: AllocatedFunction, file: RegisterFile): void {
  if (allocated.frameBytes % 64 !== 56) throw new Error(`a frame of ${allocated.frameBytes} bytes`);
  for (const { bytes, offset } of allocated.slots) {
    if (offset % bytes !== 0 || offset < fn.outgoingBytes || offset + bytes > allocated.frameBytes) throw new Error(`a slot at ${offset}`);
  }
  new Checker(fn, allocated, file).run();
}
