/** The assembler: instructions, labels, jumps, tables of jumps and constants behind the code. */
import { bug } from '../../base/bug.ts';
import { Code } from './code.ts';
import { encode } from './encode.ts';
import { formFor } from './match.ts';
import { type Flexible, type Place, relax, writeRelaxed } from './relax.ts';
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
  private code = new Code();
  /** The place of each label, undefined while it is not bound. */
  private readonly places: (Place | undefined)[] = [];
  private flexibles: Flexible[] = [];
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
    this.places.push(undefined);
    return { id: this.places.length - 1 };
  }

  bind(label: Label): void {
    if (this.places[label.id] !== undefined) bug(`x64: label ${label.id} is bound twice`);
    this.places[label.id] = { offset: this.code.size, flexibles: this.flexibles.length };
  }

  jump(label: Label): void {
    this.flexibles.push({ at: this.code.size, bytes: 5, label: label.id, value: 0xeb });
    this.near(0xe9);
  }

  jumpIf(condition: Condition, label: Label): void {
    const number = conditions[condition];
    this.flexibles.push({ at: this.code.size, bytes: 6, label: label.id, value: 0x70 | number });
    this.near(0x0f, 0x80 | number);
  }

  call(label: Label): void {
    const { code } = this;
    this.near(0xe8);
    code.fixups.push({ at: code.size - 4, label: label.id, end: code.size, displacement: 0 });
  }

  /** An opcode, and room for a displacement. */
  private near(...opcode: readonly number[]): void {
    const { code } = this;
    code.reserve(6);
    for (const byte of opcode) code.byte(byte);
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
    this.flexibles.push({ at: this.code.size, bytes: 0, label: -1, value: bytes });
  }

  offsetOf(label: Label): number {
    return this.placeOf(label.id).offset;
  }

  private readonly placeOf = (label: number): Place => this.places[label] ?? bug(`x64: label ${label} is not bound`);

  finish(): Uint8Array {
    this.relax();
    const { code } = this;
    for (const data of [...this.data].sort((a, b) => b.alignment - a.alignment)) this.placeData(data);
    const size = code.size;
    for (const { at, label, end, displacement } of code.fixups) {
      code.size = at;
      code.low(this.placeOf(label).offset + displacement - end, 4);
    }
    code.size = size;
    return code.bytes.slice(0, size);
  }

  /** Lays the code out anew with short jumps. */
  private relax(): void {
    const moved = relax(this.flexibles, this.placeOf);
    const code = new Code();
    writeRelaxed(this.code, code, this.flexibles, moved, this.placeOf);
    this.code = code;
    this.flexibles = [];
    for (let i = 0; i < this.places.length; i++) {
      const place = this.places[i];
      if (place) this.places[i] = { offset: place.offset + moved[place.flexibles]!, flexibles: 0 };
    }
  }

  private placeData({ label, alignment, bytes, targets }: Data): void {
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
