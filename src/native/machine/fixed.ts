/** Where instructions need or destroy particular registers, so that registers which live there are put elsewhere from the beginning. */
import { placeCount, placeOf } from './allocated.ts';
import type { Flow } from './flow.ts';
import { isCall } from './liveness.ts';
import type { MachineInst, RegisterInfo } from './types.ts';

const never = 0x7fff_ffff;

export class FixedPositions {
  private readonly positions: number[][] = Array.from({ length: placeCount }, () => []);
  private readonly pointers = new Int32Array(placeCount);

  constructor(flow: Flow, registers: readonly RegisterInfo[], all: readonly [number, number], starts: Int32Array) {
    flow.blocks.forEach(({ insts }, block) => {
      insts.forEach((inst, index) => {
        if (inst.fixedUses || inst.fixedDef !== undefined || inst.clobbers) this.add(inst, registers, all, starts[block]! + 1 + index);
      });
    });
  }

  private add(inst: MachineInst, registers: readonly RegisterInfo[], all: readonly [number, number], position: number): void {
    const { uses, fixedUses, def, fixedDef, clobbers } = inst;
    const note = (place: number): void => {
      this.positions[place]!.push(position);
    };
    fixedUses?.forEach((number, index) => {
      if (number !== undefined) note(placeOf(registers[uses[index]!]!.class, number));
    });
    if (def !== undefined && fixedDef !== undefined) note(placeOf(registers[def]!.class, fixedDef));
    if (!clobbers || isCall(inst, all)) return;
    for (let number = 0; number < 32; number++) {
      if ((clobbers.general >>> number) & 1) note(number);
      if ((clobbers.vector >>> number) & 1) note(placeOf('vector', number));
    }
  }

  /** The first position behind one at which a place is fixed. Positions have to ascend from call to call. */
  next(place: number, position: number): number {
    const positions = this.positions[place]!;
    if (positions.length === 0) return never;
    let pointer = this.pointers[place]!;
    while (pointer < positions.length && positions[pointer]! <= position) pointer++;
    this.pointers[place] = pointer;
    return positions[pointer] ?? never;
  }
}
