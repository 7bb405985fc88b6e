/** The places of one instruction's operands: loads what is in memory, moves what is in the way of fixed registers, and chooses places for temps and the result. */
import { bug } from '../../base/bug.ts';
import { placeOf, vectorPlaces } from './allocated.ts';
import { dead } from './live-set.ts';
import { far } from './liveness.ts';
import { bitOf, type ClassIndex, classIndex, classOfPlace, type Masks, type RegisterState } from './state.ts';
import type { MachineEnd, MachineInst, Register } from './types.ts';

/** An instruction, or the end of a block, which has no result. */
type Reader = Pick<
  MachineInst,
  'uses' | 'def' | 'tied' | 'tiedChoices' | 'temps' | 'isEarly' | 'fixedUses' | 'fixedDef' | 'clobbers' | 'inMemory' | 'isMove'
>;

export class InstructionAllocator {
  private reader: Reader = { uses: [] };
  private used: number[] = [];
  private temps: number[] = [];
  private slotOf: Register = -1;
  /** Places that the instruction reads or has as temps. */
  private readonly busy: Masks = [0, 0];
  private readonly clobbered: Masks = [0, 0];
  /** What is clobbered, and the fixed place of the result. */
  private readonly destroyed: Masks = [0, 0];
  private readonly fixedPlaces: Masks = [0, 0];
  private fixedDef = -1;
  /** The number of the instruction that a register is an operand of. */
  private readonly operandOf: Int32Array;
  private number = 0;

  private readonly state: RegisterState;

  constructor(state: RegisterState) {
    this.state = state;

    this.operandOf = new Int32Array(state.registers.length);
  }

  /** Adds the steps of an instruction. `after[base + i]` is the distance of the next use of operand i behind it, and the last one that of the result. */
  run(reader: MachineInst | MachineEnd, inst: MachineInst | undefined, after: Int32Array, base: number): void {
    this.begin(reader, after, base);
    const { uses } = this.reader;
    for (let i = 0; i < uses.length; i++) {
      const fixed = this.fixedUse(i);
      if (fixed >= 0) this.bringTo(i, uses[i]!, fixed);
    }
    this.placeOperands();
    if ((this.destroyed[0] | this.destroyed[1]) !== 0) {
      this.clearDestroyed(0);
      this.clearDestroyed(1);
    }
    const isTied = this.reader.tied !== undefined;
    const tied = isTied ? this.tiedPlace(this.chooseTied(this.reader.tied!)) : -1;
    this.chooseTemps();
    const { def } = this.reader;
    const place = def === undefined ? -1 : isTied ? tied : this.fixedDef >= 0 ? this.fixedDef : this.choosePlace(def);
    this.state.steps.push({ kind: 'inst', inst, def: place, uses: this.used, temps: this.temps, slotOf: this.slotOf });
    for (const register of uses) {
      if (this.state.next[register] === dead && this.state.where[register]! >= 0) this.state.drop(register);
    }
    if (def === undefined) return;
    this.state.next[def] = after[base + uses.length]!;
    this.state.hints.note(def, place);
    if (this.state.next[def] !== dead) this.state.put(def, place);
  }

  private begin(reader: Reader, after: Int32Array, base: number): void {
    this.reader = reader;
    this.number++;
    this.used = new Array(reader.uses.length).fill(-1);
    this.temps = [];
    this.slotOf = -1;
    reader.uses.forEach((register, i) => {
      this.state.next[register] = after[base + i]!;
      this.operandOf[register] = this.number;
    });
    this.busy[0] = this.busy[1] = 0;
    this.clobbered[0] = reader.clobbers?.general ?? 0;
    this.clobbered[1] = reader.clobbers?.vector ?? 0;
    this.destroyed[0] = this.clobbered[0];
    this.destroyed[1] = this.clobbered[1];
    this.fixedPlaces[0] = this.fixedPlaces[1] = 0;
    const number = reader.fixedDef ?? (reader.tied === undefined ? undefined : reader.fixedUses?.[reader.tied]);
    this.fixedDef = -1;
    if (number !== undefined && reader.def !== undefined) {
      this.fixedDef = placeOf(this.state.registers[reader.def]!.class, number);
      this.destroyed[classOfPlace(this.fixedDef)] |= bitOf(this.fixedDef);
    }
    reader.fixedUses?.forEach((_, i) => {
      const place = this.fixedUse(i);
      if (place >= 0) this.fixedPlaces[classOfPlace(place)] |= bitOf(place);
    });
  }

  /** The fixed place of an operand, or -1. */
  private fixedUse(index: number): number {
    const { fixedUses, tied, uses } = this.reader;
    const number = fixedUses?.[index];
    if (number !== undefined) return placeOf(this.state.registers[uses[index]!]!.class, number);
    return tied === index ? this.fixedDef : -1;
  }

  private use(index: number, place: number): void {
    this.used[index] = place;
    this.busy[classOfPlace(place)] |= bitOf(place);
  }

  private livesOn(register: Register): boolean {
    return this.state.next[register] !== dead;
  }

  /** Gets an operand into its fixed place: by itself, or as a copy that is there just for the instruction. */
  private bringTo(index: number, register: Register, place: number): void {
    const { state } = this;
    const registerClass = classOfPlace(place);
    const isBusy = (this.busy[registerClass] & bitOf(place)) !== 0;
    if (isBusy && !this.reader.uses.some((other, i) => other === register && this.used[i] === place))
      bug('two operands in one fixed register');
    if (!isBusy && state.at[place] !== register) {
      const occupant = state.at[place]!;
      if (occupant >= 0) this.relocate(occupant);
      const home = state.where[register]!;
      if (home < 0) state.load(register, place);
      else {
        const isRead = (this.busy[registerClass] & bitOf(home)) !== 0;
        const staysThere = this.livesOn(register) && (this.destroyed[registerClass] & bitOf(home)) === 0;
        if (isRead || staysThere) state.copy(register, home, place);
        else state.move(register, place);
      }
    }
    this.use(index, place);
  }

  /** Moves a register out of a place that is needed or destroyed; into memory, if all others are used earlier. */
  private relocate(register: Register): void {
    const { state } = this;
    const registerClass = state.classes[register] as ClassIndex;
    const avoided = this.destroyed[registerClass] | this.fixedPlaces[registerClass] | this.busy[registerClass];
    const free = state.free[registerClass] & ~avoided;
    if (free !== 0) return state.move(register, state.pick(register, registerClass, free));
    const victim = state.victim(registerClass, ~avoided, (other) => this.operandOf[other] !== this.number);
    const isOperand = this.operandOf[register] === this.number;
    if (victim < 0 || (!isOperand && state.next[state.at[victim]!]! <= state.next[register]!)) return state.evict(register);
    state.evict(state.at[victim]!);
    state.move(register, victim);
  }

  /** Whether an operand without a fixed place may not be read from a place. */
  private isBad(register: Register, place: number): boolean {
    const registerClass = classOfPlace(place);
    if ((this.clobbered[registerClass] & bitOf(place)) !== 0) return true;
    return place === this.fixedDef && (this.reader.isEarly === true || this.livesOn(register));
  }

  private placeOperands(): void {
    const { state, used } = this;
    const { uses } = this.reader;
    let isMissing = false;
    for (let i = 0; i < uses.length; i++) {
      if (used[i]! >= 0) continue;
      const home = state.where[uses[i]!]!;
      if (home >= 0 && !this.isBad(uses[i]!, home)) this.use(i, home);
      else isMissing = true;
    }
    if (!isMissing) return;
    for (let i = 0; i < uses.length; i++) {
      if (used[i]! >= 0 || state.where[uses[i]!]! < 0) continue;
      if (this.isBad(uses[i]!, state.where[uses[i]!]!)) state.move(uses[i]!, this.room(uses[i]!));
      this.use(i, state.where[uses[i]!]!);
    }
    for (let i = 0; i < uses.length; i++) {
      if (used[i]! >= 0) continue;
      if (state.where[uses[i]!]! < 0) {
        if (this.readsSlot(i)) {
          used[i] = 0;
          this.slotOf = uses[i]!;
          continue;
        }
        state.load(uses[i]!, this.room(uses[i]!));
      }
      this.use(i, state.where[uses[i]!]!);
    }
  }

  /** Whether an operand is to be read from memory: a load would serve just this use, or push out what is used earlier. */
  private readsSlot(index: number): boolean {
    const { state } = this;
    const { uses, inMemory } = this.reader;
    const register = uses[index]!;
    if (inMemory !== index || state.registers[register]!.remake || uses.indexOf(register) !== uses.lastIndexOf(register)) return false;
    if (state.next[register]! - state.now >= far) return true;
    const registerClass = state.classes[register] as ClassIndex;
    const avoided = this.avoided(registerClass);
    if ((state.free[registerClass] & ~avoided) !== 0) return false;
    const victim = state.victim(registerClass, ~avoided);
    return victim < 0 || state.next[state.at[victim]!]! <= state.next[register]!;
  }

  private avoided(registerClass: ClassIndex): number {
    return this.destroyed[registerClass] | this.fixedPlaces[registerClass] | this.busy[registerClass];
  }

  /** A place for an operand, which is made free if none is. */
  private room(register: Register): number {
    const registerClass = this.state.classes[register] as ClassIndex;
    return this.freePlace(register, registerClass, this.avoided(registerClass));
  }

  private freePlace(register: Register, registerClass: ClassIndex, avoided: number): number {
    const { state } = this;
    const free = state.free[registerClass] & ~avoided;
    if (free !== 0) return state.pick(register, registerClass, free);
    const victim = state.victim(registerClass, ~avoided);
    if (victim < 0) bug('an instruction needs more registers than there are');
    state.evict(state.at[victim]!);
    return victim;
  }

  /** Moves what lives on out of the places that the instruction destroys: what is used first gets the places that are left. */
  private clearDestroyed(registerClass: ClassIndex): void {
    const { state } = this;
    let rest = this.destroyed[registerClass] & state.all[registerClass] & ~state.free[registerClass];
    const leaving: Register[] = [];
    while (rest !== 0) {
      const number = 31 - Math.clz32(rest);
      rest &= ~(1 << number);
      const register = state.at[registerClass * vectorPlaces + number]!;
      if (this.livesOn(register)) leaving.push(register);
    }
    leaving.sort((a, b) => state.next[a]! - state.next[b]!);
    for (const register of leaving) this.leave(register, registerClass);
  }

  private leave(register: Register, registerClass: ClassIndex): void {
    const { state } = this;
    const avoided = this.destroyed[registerClass] | this.busy[registerClass];
    const free = state.free[registerClass] & ~avoided;
    if (free !== 0) return state.move(register, state.pick(register, registerClass, free));
    const victim = state.victim(registerClass, ~avoided);
    if (victim < 0 || state.next[state.at[victim]!]! <= state.next[register]!) return state.evict(register);
    state.evict(state.at[victim]!);
    state.move(register, victim);
  }

  /** The operand to compute the result in: one that dies, in the place that the result prefers if possible. */
  private chooseTied(tied: number): number {
    const { uses, tiedChoices, def } = this.reader;
    if (!tiedChoices || this.fixedDef >= 0) return tied;
    const hint = this.state.hints.placeOf(def!);
    let best = tied;
    let bestScore = -1;
    for (const index of [tied, ...tiedChoices]) {
      const place = this.used[index]!;
      if (this.slotOf === uses[index] || (this.clobbered[classOfPlace(place)] & bitOf(place)) !== 0) continue;
      const score = (this.livesOn(uses[index]!) ? 0 : 2) + (place === hint ? 1 : 0);
      if (score > bestScore) [best, bestScore] = [index, score];
    }
    return best;
  }

  /** The place of the tied operand, in which the result is computed: a copy, if the operand lives on or is read later. */
  private tiedPlace(index: number): number {
    const { state, used } = this;
    const { uses, def, isEarly } = this.reader;
    const register = uses[index]!;
    const place = used[index]!;
    const livesThere = this.livesOn(register) && state.where[register] === place;
    const isShared = isEarly === true && uses.some((_, i) => i !== index && used[i] === place && this.slotOf !== uses[i]);
    if (!livesThere && !isShared) return place;
    const registerClass = classOfPlace(place);
    const avoided = this.destroyed[registerClass] | this.busy[registerClass];
    if ((state.free[registerClass] & ~avoided) === 0 && !isShared) {
      const victim = state.victim(registerClass, ~avoided);
      if (victim < 0 || state.next[state.at[victim]!]! <= state.next[register]!) {
        state.evict(register);
        return place;
      }
    }
    const copy = this.freePlace(def!, registerClass, avoided);
    this.busy[registerClass] |= bitOf(copy);
    if (livesThere && !isShared && state.hints.placeOf(def!) === place) {
      state.move(register, copy);
      return place;
    }
    state.copy(register, place, copy);
    used[index] = copy;
    return copy;
  }

  private chooseTemps(): void {
    const { temps } = this.reader;
    if (!temps) return;
    for (const temp of temps) {
      const registerClass = classIndex(temp);
      const avoided = this.destroyed[registerClass] | this.busy[registerClass];
      const place = this.freeTemp(registerClass, avoided);
      this.busy[registerClass] |= bitOf(place);
      this.temps.push(place);
    }
  }

  private freeTemp(registerClass: ClassIndex, avoided: number): number {
    const { state } = this;
    const free = state.free[registerClass] & ~avoided;
    if (free !== 0) return state.pickTemp(registerClass, free);
    const victim = state.victim(registerClass, ~avoided);
    if (victim < 0) bug('an instruction needs more temporary registers than there are');
    state.evict(state.at[victim]!);
    return victim;
  }

  /** A place for a result: free, or of an operand that dies, unless the result is written early. */
  private choosePlace(def: Register): number {
    const { state } = this;
    const registerClass = state.classes[def] as ClassIndex;
    let taken = this.clobbered[registerClass];
    for (const temp of this.temps) if (classOfPlace(temp) === registerClass) taken |= bitOf(temp);
    if (this.reader.isEarly) taken |= this.busy[registerClass];
    let free = state.free[registerClass];
    for (const register of this.reader.uses) {
      const home = state.where[register]!;
      if (home >= 0 && !this.livesOn(register) && classOfPlace(home) === registerClass) free |= bitOf(home);
    }
    free &= ~taken & state.all[registerClass];
    if (free === 0) {
      const victim = state.victim(registerClass, ~taken);
      if (victim < 0) bug('an instruction needs a register more than there are');
      state.evict(state.at[victim]!);
      return victim;
    }
    if (this.reader.isMove && state.hints.placeOf(def) < 0) {
      const source = this.used[0]!;
      if (classOfPlace(source) === registerClass && (free & bitOf(source)) !== 0) return source;
    }
    return state.pick(def, registerClass, free);
  }
}
