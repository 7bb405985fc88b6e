/** Slots of the frame: registers that never live at the same time share one, and a parameter shares that of its argument where it can. */
import type { Slot } from './allocated.ts';
import type { Flow } from './flow.ts';
import type { Register, RegisterInfo } from './types.ts';

interface OpenSlot {
  readonly bytes: Slot['bytes'];
  /** The linear position until which it is in use. */
  until: number;
}

export class SlotAllocator {
  readonly slotOf: Int32Array;
  private readonly slots: OpenSlot[] = [];
  /** Slots for moments, by their bytes. */
  private readonly scratch = new Map<number, number>();

  private readonly registers: readonly RegisterInfo[];

  constructor(registers: readonly RegisterInfo[]) {
    this.registers = registers;

    this.slotOf = new Int32Array(registers.length).fill(-1);
  }

  /** Gives slots to spilled registers, each of which lives from its definition to its end. */
  assign(spilled: readonly Register[], flow: Flow, starts: Int32Array, ends: Int32Array): void {
    const partners = partnersOf(spilled, flow, this.registers.length);
    const sorted = [...spilled].sort((a, b) => starts[a]! - starts[b]!);
    /** Slots that have become free, by bytes; some of them have been taken since. */
    const idle = new Map<number, number[]>();
    const active = new EndQueue(this.slots);
    for (const register of sorted) {
      const start = starts[register]!;
      for (let slot = active.popUntil(start); slot >= 0; slot = active.popUntil(start)) {
        const { bytes } = this.slots[slot]!;
        if (!idle.has(bytes)) idle.set(bytes, []);
        idle.get(bytes)!.push(slot);
      }
      const slot = this.choose(register, start, partners[register]!, idle);
      this.slots[slot]!.until = ends[register]!;
      this.slotOf[register] = slot;
      active.push(slot, ends[register]!);
    }
  }

  private choose(register: Register, start: number, partner: Register, idle: Map<number, number[]>): number {
    const bytes = bytesOfSlot(this.registers[register]!);
    const preferred = partner < 0 ? -1 : this.slotOf[partner]!;
    const canTake = (slot: number): boolean => this.slots[slot]!.until <= start && this.slots[slot]!.bytes === bytes;
    if (preferred >= 0 && canTake(preferred)) return preferred;
    const list = idle.get(bytes) ?? [];
    while (list.length > 0) {
      const slot = list.pop()!;
      if (canTake(slot)) return slot;
    }
    return this.add(bytes);
  }

  private add(bytes: Slot['bytes']): number {
    this.slots.push({ bytes, until: -1 });
    return this.slots.length - 1;
  }

  /** A slot for moves of one edge; `index` distinguishes those that are needed at once. */
  scratchSlot(info: RegisterInfo['bytes'], index: number): number {
    const bytes = info === 4 ? 8 : info;
    const key = index * 128 + bytes;
    if (!this.scratch.has(key)) this.scratch.set(key, this.add(bytes));
    return this.scratch.get(key)!;
  }

  /** Places the slots behind the outgoing arguments, wide ones first, so that each is aligned to its bytes. */
  layout(outgoingBytes: number): { readonly slots: readonly Slot[]; readonly frameBytes: number } {
    let offset = outgoingBytes;
    const offsets = new Int32Array(this.slots.length);
    for (const bytes of [64, 32, 16, 8]) {
      if (this.slots.some((slot) => slot.bytes === bytes)) offset = Math.ceil(offset / bytes) * bytes;
      this.slots.forEach((slot, index) => {
        if (slot.bytes !== bytes) return;
        offsets[index] = offset;
        offset += bytes;
      });
    }
    const slots = this.slots.map(({ bytes }, index) => ({ bytes, offset: offsets[index]! }));
    return { slots, frameBytes: Math.ceil((offset + 8) / 64) * 64 - 8 };
  }
}

const bytesOfSlot = ({ bytes }: RegisterInfo): Slot['bytes'] => (bytes === 4 ? 8 : bytes);

/** For each spilled register one that it should share its slot with: the parameter that it is an argument of, or an argument of the parameter. */
function partnersOf(spilled: readonly Register[], flow: Flow, count: number): Int32Array {
  const partners = new Int32Array(count).fill(-1);
  const isSpilled = new Uint8Array(count);
  for (const register of spilled) isSpilled[register] = 1;
  for (const { edges } of flow.blocks) {
    for (const { block, args } of edges) {
      flow.blocks[block]!.params.forEach((param, index) => {
        const arg = args[index]!;
        if (!isSpilled[param] || !isSpilled[arg]) return;
        if (partners[arg]! < 0) partners[arg] = param;
        if (partners[param]! < 0) partners[param] = arg;
      });
    }
  }
  return partners;
}

/** Slots in use by the position of their end: a binary heap. */
class EndQueue {
  private readonly heap: { slot: number; end: number }[] = [];

  private readonly slots: readonly OpenSlot[];

  constructor(slots: readonly OpenSlot[]) {
    this.slots = slots;
  }

  push(slot: number, end: number): void {
    const { heap } = this;
    heap.push({ slot, end });
    for (let i = heap.length - 1; i > 0; ) {
      const up = (i - 1) >> 1;
      if (heap[up]!.end <= heap[i]!.end) break;
      [heap[up], heap[i]] = [heap[i]!, heap[up]!];
      i = up;
    }
  }

  /** A slot whose use has ended by a position; -1 if there is none. */
  popUntil(position: number): number {
    const { heap } = this;
    while (heap.length > 0 && heap[0]!.end <= position) {
      const { slot, end } = heap[0]!;
      const last = heap.pop()!;
      if (heap.length > 0) this.sink(last);
      // A partner may have taken it since.
      if (this.slots[slot]!.until === end) return slot;
    }
    return -1;
  }

  private sink(entry: { slot: number; end: number }): void {
    const { heap } = this;
    heap[0] = entry;
    for (let i = 0; ; ) {
      let child = 2 * i + 1;
      if (child >= heap.length) return;
      if (child + 1 < heap.length && heap[child + 1]!.end < heap[child]!.end) child++;
      if (heap[i]!.end <= heap[child]!.end) return;
      [heap[i], heap[child]] = [heap[child]!, heap[i]!];
      i = child;
    }
  }
}
