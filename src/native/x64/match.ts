/** The choice of an instruction's form by its operands. */
import { bug } from '../../base/bug.ts';
import { evex, type Form, formsOf, signatureOf, vex } from './forms.ts';
import type { Features, GeneralOperand, ImmediateOperand, MemoryOperand, Operand } from './types.ts';

/** The first form that operands fit; it is a bug if there is none. */
export function formFor(mnemonic: string, operands: readonly Operand[], features: Features, isMasked: boolean): Form {
  const forms = formsOf(mnemonic).get(signatureOf(operands));
  if (forms !== undefined) {
    for (let i = 0; i < forms.length; i++) {
      if (fits(forms[i]!, operands, features, isMasked)) return forms[i]!;
    }
  }
  return bug(`x64: no form of ${describe(mnemonic, operands, isMasked)}${features.avx512 ? '' : ' without AVX-512'}`);
}

function fits(form: Form, operands: readonly Operand[], features: Features, isMasked: boolean): boolean {
  if (isMasked ? !form.isMaskable : form.indexBytes > 0) return false;
  if (form.encoding === evex && !features.avx512) return false;
  if (form.encoding === vex && !hasLowVectors(operands)) return false;
  if (form.immediate >= 0 && !fitsImmediate(form, operands[form.immediate] as ImmediateOperand)) return false;
  if (form.implied >= 0 && (operands[form.implied] as GeneralOperand).number !== form.impliedNumber) return false;
  if (form.memory >= 0) return fitsMemory(form, operands[form.memory] as MemoryOperand);
  return !form.isReverse || isReversed(operands);
}

function fitsMemory(form: Form, { bytes, isBroadcast, isVectorIndex }: MemoryOperand): boolean {
  if (form.indexBytes > 0 !== (isVectorIndex === true)) return false;
  if (isBroadcast && form.element === 0) return false;
  return bytes === undefined ? !form.needsMemoryBytes : bytes === form.memoryBytes || form.memoryBytes === 0;
}

function fitsImmediate(form: Form, { value }: ImmediateOperand): boolean {
  const signed = Number(value >> 63n === 1n ? BigInt.asIntN(64, value) : value);
  const number = form.wrap > 0 && signed >= form.wrap / 2 && signed < form.wrap ? signed - form.wrap : signed;
  return number >= form.least && number <= form.largest;
}

/** Whether VEX has bits for the numbers of the vectors. */
function hasLowVectors(operands: readonly Operand[]): boolean {
  for (let i = 0; i < operands.length; i++) {
    const operand = operands[i]!;
    if (operand.kind === 'vector' && operand.number > 15) return false;
  }
  return true;
}

/** Whether the last register needs a longer prefix as the field rm than the first one does. */
function isReversed(operands: readonly Operand[]): boolean {
  const first = operands[0] as GeneralOperand;
  const last = operands[operands.length - 1] as GeneralOperand;
  return first.number < 8 && last.number > 7;
}

const describe = (mnemonic: string, operands: readonly Operand[], isMasked: boolean): string =>
  `'${mnemonic}'${isMasked ? ' under a mask' : ''} with ${operands.map(describeOperand).join(', ') || 'no operands'}`;

function describeOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'immediate':
      return String(operand.value);
    case 'memory':
      return `memory${operand.isBroadcast ? ' of one element' : ''}${operand.bytes ? ` of ${operand.bytes} bytes` : ''}`;
    case 'mask':
      return `mask ${operand.number}`;
    default:
      return `${operand.kind} ${operand.number} of ${operand.bytes} bytes`;
  }
}
