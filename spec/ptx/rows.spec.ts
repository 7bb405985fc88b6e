/**
 * The worked cases of the instruction table, each through the whole road: PTX, metallib, CPU device. NaN equals NaN.
 * `bun spec/ptx/rows.spec.ts min.f32 max` runs the cases of forms that begin so.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { FormMatch } from '../../src/ptx/check/match.ts';
import { typeOfSlot } from '../../src/ptx/check/slots.ts';
import type { AnyCase, Bits, OperandSlot, Row } from '../../src/ptx/model/row.ts';
import { bitsOfType, isFloatType } from '../../src/ptx/model/types.ts';
import { allRows } from '../../src/ptx/table/index.ts';
import { type Instruction, type Kind, runInstruction } from '../support/one-instruction.ts';
import { areSame } from '../support/same-float.ts';
import { formOfCase, givenOperands } from './forms.ts';

const test = suite('ptx/rows');

/** A register of an operand, or of one part of it. */
interface Cell {
  readonly name: string;
  readonly kind: Kind;
  readonly type: string;
  readonly bits: bigint;
}

const kindOf = (type: string): Kind => (type === 'pred' ? 'pred' : (`b${Math.max(16, bitsOfType(type))}` as Kind));
const mask = (value: bigint, type: string): bigint => BigInt.asUintN(type === 'pred' ? 1 : bitsOfType(type), value);

/** The registers of an operand, and how it is written. */
function cellsOf(slot: OperandSlot, name: string, form: FormMatch, value: Bits | readonly Bits[]): { cells: Cell[]; text: string } {
  const type = typeOfSlot(slot, form);
  if (slot.constant) return { cells: [], text: String(value) };
  if (!Array.isArray(value)) return { cells: [{ name, kind: kindOf(type), type, bits: mask(BigInt(value as Bits), type) }], text: name };
  const part = slot.vector === 'elements' ? type : `b${bitsOfType(type) / value.length}`;
  const cells = value.map((bits, i) => ({ name: `${name}${i}`, kind: kindOf(part), type: part, bits: mask(BigInt(bits), part) }));
  return { cells, text: `{${cells.map((cell) => cell.name).join(', ')}}` };
}

function instructionOf(form: FormMatch, one: AnyCase): { instruction: Instruction; sources: Cell[]; results: Cell[] } {
  const [sources, results]: [Cell[], Cell[]] = [[], []];
  const words = givenOperands(form.row, one).map((slot) => {
    const second: OperandSlot = { ...slot, name: slot.second ?? '', type: slot.secondType };
    const each = slot.second === undefined ? [slot] : [slot, second];
    const all = each.map((part) => cellsOf(part, part.name, form, one[part.name] as Bits));
    for (const { cells } of all) (slot.isDestination ? results : sources).push(...cells);
    return all.map(({ text }) => text).join('|');
  });
  // The last that has the form.
  const older = form.row.withdrawn ? { architecture: form.row.withdrawn.sm > 60 ? 'sm_60' : 'sm_13' } : {};
  return { instruction: { text: `${one.form} ${words.join(', ')}`, sources, results, ...older }, sources, results };
}

function checkCase(row: Row, one: AnyCase): void {
  const form = formOfCase(row, one);
  if (form?.row !== row) return fail(row, [form ? `is a form of ${form.row.syntax}` : 'is no form of the table']);
  const { instruction, sources, results } = instructionOf(form, one);
  const outcome = runInstruction(
    instruction,
    sources.map((cell) => [cell.bits]),
  );
  if (outcome.kind === 'refused')
    return fail(
      row,
      outcome.diagnostics.list.map(({ code, message }) => `${code}: ${message}`),
    );
  const wrong = results.flatMap(({ name, type, bits }, i) => {
    const value = mask(outcome.results[i]![0]!, type);
    const isRight = value === bits || (isFloatType(type) && areSame(type, bits, value));
    return isRight ? [] : [`${name} is 0x${value.toString(16)}, expected 0x${bits.toString(16)}`];
  });
  if (wrong.length > 0) fail(row, [...sources.map(({ name, bits }) => `${name} = 0x${bits.toString(16)}`), ...wrong]);
}

/** Fails with the line of the row and what is wrong: the row as an object has a hundred lines. The name of the test has the form. */
function fail({ syntax }: Row, lines: readonly string[]): never {
  throw new assert.Assertion({
    message: `row: ${syntax}`,
    details: lines.join('\n'),
    generated: true,
    operator: 'case',
    expects: '',
    actual: '',
  });
}

const words = process.argv.slice(2);
const isWanted = ({ form }: AnyCase): boolean => words.length === 0 || words.some((word) => form.startsWith(word));

for (const row of allRows()) for (const one of row.cases().filter(isWanted)) test(`${one.form}: ${one.why}`, () => checkCase(row, one));

test.run();
