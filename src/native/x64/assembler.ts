/** The assembler: instructions, labels, jumps, tables of jumps and constants behind the code. */
import { bug } from '../../base/bug.ts';
import { Code } from './code.ts';
import { encode } from './encode.ts';
import { formFor } from './match.ts';
import { writeNops } from './nops.ts';
import {
  type Assembler,
  type Condition,
  conditions,
  type Features,
  type GeneralOperand,
  general,
  type Label,
  type MaskOperand,
  type MemoryOperand,
  memory,
  type Operand,
} from './types.ts';

/** An assembler without code, for a processor with certain features. */
export const newAssembler = (features: Features): Assembler => new X64Assembler(features);

/** Bytes behind the code: constants, or a table of jumps (offsets of labels from its start, of 64 bits each). */
interface Data {
  readonly label: Label;
  readonly alignment: number;
  readonly bytes: readonly number[];
  readonly targets: readonly Label[];
}

const noTargets: readonly Label[] = [];

class X64Assembler implements Assembler {
  readonly features: Features;
  private readonly code = new Code();
  /** The offset of each label, -1 while it is not bound. */
  private readonly offsets: number[] = [];
  private readonly data: Data[] = [];
  private readonly constants = new Map<string, MemoryOperand>();

  constructor(features: Features) {
    this.features = features;
  }

  get size(): number {
    return this.code.size;
  }

  emit(mnemonic: string, ...operands: readonly Operand[]): void {
    encode(this.code, formFor(mnemonic, operands, this.features, false), operands, 0, false);
  }

  emitMasked(mnemonic: string, under: MaskOperand, isZeroing: boolean, ...operands: readonly Operand[]): void {
    if (under.number === 0) bug(`x64: '${mnemonic}' under mask 0, which means no mask`);
    const form = formFor(mnemonic, operands, this.features, true);
    if (isZeroing && operands[0]!.kind !== 'vector') bug(`x64: '${mnemonic}' under a mask makes no zeros in other places than vectors`);
    encode(this.code, form, operands, under.number, isZeroing);
  }

  newLabel(): Label {
    this.offsets.push(-1);
    return { id: this.offsets.length - 1 };
  }

  bind(label: Label): void {
    if (this.offsets[label.id] !== -1) bug(`x64: label ${label.id} is bound twice`);
    this.offsets[label.id] = this.code.size;
  }

  jump(label: Label): void {
    this.near(label, 0xe9);
  }

  jumpIf(condition: Condition, label: Label): void {
    this.near(label, 0x0f, 0x80 | conditions[condition]);
  }

  call(label: Label): void {
    this.near(label, 0xe8);
  }

  /** An opcode and the displacement of a label. */
  private near(label: Label, ...opcode: readonly number[]): void {
    const { code } = this;
    code.reserve(6);
    for (const byte of opcode) code.byte(byte);
    code.fixups.push({ at: code.size, label: label.id, end: code.size + 4, displacement: 0 });
    code.low(0, 4);
  }

  jumpTable(index: number, scratch: number, labels: readonly Label[]): void {
    const label = this.newLabel();
    this.data.push({ label, alignment: 8, bytes: [], targets: labels });
    this.emit('lea', general(scratch), { kind: 'memory', displacement: 0, label });
    this.emit('add', general(scratch), memory(scratch, 0, index, 8));
    this.emit('jmp', general(scratch));
  }

  setIf(condition: Condition, to: number): void {
    const { code } = this;
    code.reserve(4);
    if (to > 3) code.byte(0x40 | (to >> 3));
    code.byte(0x0f);
    code.byte(0x90 | conditions[condition]);
    code.byte(0xc0 | (to & 7));
  }

  moveIf(condition: Condition, to: GeneralOperand, from: GeneralOperand | MemoryOperand): void {
    this.emit(`cmov${condition}`, to, from);
  }

  constant(bytes: readonly number[]): MemoryOperand {
    const key = String.fromCharCode(...bytes);
    const known = this.constants.get(key);
    if (known) return known;
    const label = this.newLabel();
    const alignment = Math.min(64, 2 ** Math.ceil(Math.log2(Math.max(1, bytes.length))));
    this.data.push({ label, alignment, bytes: [...bytes], targets: noTargets });
    const operand: MemoryOperand = { kind: 'memory', displacement: 0, label };
    this.constants.set(key, operand);
    return operand;
  }

  align(bytes: number): void {
    writeNops(this.code, -this.code.size & (bytes - 1));
  }

  offsetOf(label: Label): number {
    const offset = this.offsets[label.id];
    return offset === undefined || offset < 0 ? bug(`x64: label ${label.id} is not bound`) : offset;
  }

  finish(): Uint8Array {
    const { code } = this;
    for (const data of [...this.data].sort((a, b) => b.alignment - a.alignment)) this.place(data);
    for (const { at, label, end, displacement } of code.fixups) {
      const size = code.size;
      code.size = at;
      code.low(this.offsetOf({ id: label }) + displacement - end, 4);
      code.size = size;
    }
    return code.bytes.slice(0, code.size);
  }

  private place({ label, alignment, bytes, targets }: Data): void {
    const { code } = this;
    const padding = -code.size & (alignment - 1);
    code.reserve(padding + bytes.length + 8 * targets.length);
    for (let i = 0; i < padding; i++) code.byte(0xcc);
    this.bind(label);
    for (const byte of bytes) code.byte(byte);
    for (const target of targets) {
      const distance = this.offsetOf(target) - this.offsetOf(label);
      code.low(distance, 4);
      code.low(distance >> 31, 4);
    }
  }
}
