/**
 * The encoding of one instruction by its form.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2: REX (2.2.1), VEX (2.3), EVEX (2.7), ModRM and SIB (2.1.5).
 */
import { bug } from '../../base/bug.ts';
import type { Code } from './code.ts';
import { evex, type Form, vex } from './forms.ts';
import type { GeneralOperand, ImmediateOperand, MaskOperand, MemoryOperand, Operand, VectorOperand } from './types.ts';

/** The most bytes of an instruction. */
const maxBytes = 15;

/** Writes an instruction whose operands fit the form; `under` is 0 for no mask. */
export function encode(code: Code, form: Form, operands: readonly Operand[], under: number, isZeroing: boolean): void {
  code.reserve(maxBytes);
  const rm = form.rm < 0 ? undefined : operands[form.rm]!;
  const reg = form.reg < 0 ? 0 : numberOf(operands[form.reg]!);
  if (form.encoding === vex) writeVex(code, form, operands, reg, rm);
  else if (form.encoding === evex) writeEvex(code, form, operands, reg, rm, under, isZeroing);
  else writeLegacy(code, form, operands, reg, rm);
  if (rm !== undefined) {
    const field = form.digit < 0 ? reg & 7 : form.digit;
    if (rm.kind === 'memory') writeMemory(code, field, rm, rm.isBroadcast ? form.element : form.factor, form.immediateBytes);
    else code.byte(0xc0 | (field << 3) | (numberOf(rm) & 7));
  } else if (form.suffix >= 0) {
    code.byte(form.suffix);
  }
  if (form.selector >= 0) code.byte(numberOf(operands[form.selector]!) << 4);
  else if (form.immediate >= 0) writeImmediate(code, form.immediateBytes, operands[form.immediate] as ImmediateOperand);
}

const numberOf = (operand: Operand): number => (operand as GeneralOperand | VectorOperand | MaskOperand).number;

function writeImmediate(code: Code, bytes: number, { value }: ImmediateOperand): void {
  code.low(Number(BigInt.asIntN(32, value)), Math.min(4, bytes));
  if (bytes === 8) code.low(Number(BigInt.asIntN(32, value >> 32n)), 4);
}

/** The high bits of the numbers of the index and the base, or of the register, as they are in REX: X is 2, B is 1. */
function highBits(rm: Operand | undefined): number {
  if (rm === undefined) return 0;
  if (rm.kind !== 'memory') return (numberOf(rm) >> 3) & 1;
  return (((rm.index ?? 0) >> 2) & 2) | (((rm.base ?? 0) >> 3) & 1);
}

function writeLegacy(code: Code, form: Form, operands: readonly Operand[], reg: number, rm: Operand | undefined): void {
  if (form.isWord) code.byte(0x66);
  if (form.isLocked) code.byte(0xf0);
  if (form.prefix) code.byte(form.prefix);
  const low = form.low < 0 ? 0 : numberOf(operands[form.low]!);
  const rex = (form.w << 3) | ((reg & 8) >> 1) | highBits(rm) | (low >> 3);
  if (rex !== 0 || hasNewByteRegister(operands)) code.byte(0x40 | rex);
  if (form.map > 0) code.byte(0x0f);
  if (form.map > 1) code.byte(form.map === 2 ? 0x38 : 0x3a);
  code.byte(form.opcode | (low & 7));
}

/** Whether an operand is spl, bpl, sil or dil, whose numbers mean ah to bh without the prefix REX. */
function hasNewByteRegister(operands: readonly Operand[]): boolean {
  for (let i = 0; i < operands.length; i++) {
    const operand = operands[i]!;
    if (operand.kind === 'general' && operand.bytes === 1 && operand.number >= 4) return true;
  }
  return false;
}

const prefixBits = (prefix: number): number => (prefix === 0x66 ? 1 : prefix === 0xf3 ? 2 : prefix === 0xf2 ? 3 : 0);

function writeVex(code: Code, form: Form, operands: readonly Operand[], reg: number, rm: Operand | undefined): void {
  const vvvv = form.vvvv < 0 ? 0 : numberOf(operands[form.vvvv]!);
  const high = highBits(rm);
  const last = ((~vvvv & 15) << 3) | (form.length << 2) | prefixBits(form.prefix);
  if (high === 0 && form.w === 0 && form.map === 1) {
    code.byte(0xc5);
    code.byte(((~reg & 8) << 4) | last);
  } else {
    code.byte(0xc4);
    code.byte(((~reg & 8) << 4) | ((~high & 3) << 5) | form.map);
    code.byte((form.w << 7) | last);
  }
  code.byte(form.opcode);
}

function writeEvex(
  code: Code,
  form: Form,
  operands: readonly Operand[],
  reg: number,
  rm: Operand | undefined,
  under: number,
  isZeroing: boolean,
): void {
  // The highest bit of the index is where that of vvvv is, which such a form lacks.
  const vvvv = form.vvvv >= 0 ? numberOf(operands[form.vvvv]!) : rm?.kind === 'memory' && rm.isVectorIndex ? rm.index! & 16 : 0;
  const high = rm?.kind === 'vector' ? ((rm.number >> 3) & 1) | ((rm.number >> 3) & 2) : highBits(rm);
  const isBroadcast = rm?.kind === 'memory' && rm.isBroadcast === true;
  code.byte(0x62);
  code.byte(((~reg & 8) << 4) | ((~high & 3) << 5) | (~reg & 16) | form.map);
  code.byte((form.w << 7) | ((~vvvv & 15) << 3) | 4 | prefixBits(form.prefix));
  code.byte((isZeroing ? 0x80 : 0) | (form.length << 5) | (isBroadcast ? 16 : 0) | ((~vvvv & 16) >> 1) | under);
  code.byte(form.opcode);
}

/** ModRM, SIB and the displacement. A displacement of 8 bits counts `factor` bytes; `after` bytes of the instruction follow. */
function writeMemory(code: Code, field: number, operand: MemoryOperand, factor: number, after: number): void {
  const { base, index, displacement, label } = operand;
  if (label !== undefined) {
    code.byte((field << 3) | 5);
    code.fixups.push({ at: code.size, label: label.id, end: code.size + 4 + after, displacement });
    code.low(0, 4);
    return;
  }
  if (displacement !== displacement >> 0) return bug(`x64: displacement ${displacement} is not one of 32 bits`);
  if (index === 4 && !operand.isVectorIndex) return bug('x64: rsp is no index');
  const short = displacement / factor;
  const isShort = short >= -128 && short <= 127 && Number.isInteger(short);
  const mode = base === undefined || (displacement === 0 && (base & 7) !== 5) ? 0 : isShort ? 1 : 2;
  const scale = operand.scale === 8 ? 3 : operand.scale === 4 ? 2 : operand.scale === 2 ? 1 : 0;
  const needsSib = index !== undefined || base === undefined || (base & 7) === 4;
  code.byte((mode << 6) | (field << 3) | (needsSib ? 4 : base! & 7));
  if (needsSib) code.byte((scale << 6) | (((index ?? 4) & 7) << 3) | ((base ?? 5) & 7));
  if (mode === 1) code.byte(short);
  else if (mode === 2 || base === undefined) code.low(displacement, 4);
}
