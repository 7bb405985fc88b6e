/** Products of matrices by warps as `mma.sync`. Source of shapes and first versions: PTX ISA 9.0, 9.7.14.5. */
import { type MmaForm, mmaForm, type Value } from '../../ir/index.ts';
import type { Rule } from './printer.ts';

interface Known {
  readonly sm: number;
  readonly ptx: number;
}

const shapes: Readonly<Record<string, Known>> = {
  'm16n8k8.f16': { sm: 75, ptx: 6.5 },
  'm16n8k16.f16': { sm: 80, ptx: 7 },
  'm16n8k8.bf16': { sm: 80, ptx: 7 },
  'm16n8k16.bf16': { sm: 80, ptx: 7 },
  'm16n8k4.tf32': { sm: 80, ptx: 7 },
  'm16n8k8.tf32': { sm: 80, ptx: 7 },
  'm8n8k16.i8': { sm: 75, ptx: 6.5 },
  'm16n8k16.i8': { sm: 80, ptx: 7 },
  'm16n8k32.i8': { sm: 80, ptx: 7 },
  'm8n8k32.i4': { sm: 75, ptx: 6.5 },
  'm16n8k32.i4': { sm: 80, ptx: 7 },
  'm16n8k64.i4': { sm: 80, ptx: 7 },
  'm8n8k128.b1': { sm: 75, ptx: 7 },
  'm16n8k128.b1': { sm: 80, ptx: 7 },
  'm16n8k256.b1': { sm: 80, ptx: 7 },
  'm16n8k32.f8': { sm: 89, ptx: 8.4 },
  'm8n8k4.f64': { sm: 80, ptx: 7 },
  'm16n8k4.f64': { sm: 90, ptx: 7.8 },
  'm16n8k8.f64': { sm: 90, ptx: 7.8 },
  'm16n8k16.f64': { sm: 90, ptx: 7.8 },
  'm16n8k16.f16 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k32.f16 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k16.bf16 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k32.bf16 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k8.tf32 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k16.tf32 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k32.i8 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k64.i8 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k64.i4 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k128.i4 sparse': { sm: 80, ptx: 7.1 },
  'm16n8k64.f8 sparse': { sm: 89, ptx: 8.4 },
};

const family: Readonly<Record<string, string>> = { s8: 'i8', u8: 'i8', s4: 'i4', u4: 'i4', e4m3: 'f8', e5m2: 'f8' };

/** The instruction of a form without operands, and its first versions; undefined where PTX has none. */
function instructionOf(form: MmaForm): (Known & { readonly text: string }) | undefined {
  const { m, k, a, b, sum, isSaturated, bits, selector } = form;
  const shape = `m${m}n8k${a === 'b1' ? 32 * k : k}`;
  const known = shapes[`${shape}.${family[a] ?? a}${selector === undefined ? '' : ' sparse'}`];
  if (!known) return undefined;
  const needs = bits === 'and' ? { sm: 80, ptx: Math.max(7.1, known.ptx) } : known;
  const head = `mma${selector === undefined ? '' : '.sp'}.sync.aligned.${shape}.row.col${isSaturated ? '.satfinite' : ''}`;
  return { ...needs, text: `${head}.${sum}.${a}.${b}.${sum}${bits === undefined ? '' : `.${bits}.popc`}` };
}

export const productRule: Rule<'mma'> = (p, { a, b, c, d, form }, value) => {
  const found = instructionOf(mmaForm(form));
  if (!found || p.module.sm < found.sm)
    return p.refuse(value, `a product of matrices of the form ${form}`, found ? `it needs sm_${found.sm}` : 'PTX has no such instruction');
  p.needs(found.ptx);
  const list = (of: Value): string => `{${p.lanes(of).join(', ')}}`;
  const { selector } = mmaForm(form);
  const sparse = selector === undefined ? '' : `, ${p.reg(d)}, ${selector}`;
  p.line(`${found.text} ${list(value)}, ${list(a)}, ${list(b)}, ${list(c)}${sparse};`);
};
