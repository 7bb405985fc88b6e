/** Straight code of rows: bodies of functions that a kernel calls, with neither branches nor memory. */
import { type Builder, BuilderBase, constantOf, floatRange, floatSpan, knownBits, type Value } from '../ir/index.ts';
import type { RowBuilder } from '../ptx/index.ts';

/** A builder for rows that emits into one block. What is no straight code calls `none`, and its values mean nothing. */
export function straightBuilder(ir: Builder, none: () => Value): RowBuilder {
  const body = ir.kernel;
  return Object.assign(new BuilderBase(ir.at), {
    lanes: undefined,
    part: () => undefined,
    constantOf: (value: Value) => constantOf(body, value),
    floatRange: (value: Value) => floatRange(body, value),
    floatSpan: (value: Value) => floatSpan(body, value),
    knownZeros: (value: Value) => knownBits(body)(value).zeros,
    isForCpu: true,
    isMmaFast: false,
    hasMma: false,
    productFunction: undefined,
    readingFunction: undefined,
    pureFunction: undefined,
    exchangeFunction: undefined,
    needsCpu: () => {},
    either: (cond: Value, yes: () => Value, no: () => Value): Value => ir.select(cond, yes(), no()),
    choose: (cond: Value, yes: () => readonly Value[], no: () => readonly Value[]): Value[] => {
      const [a, b] = [yes(), no()];
      return a.map((value, i) => ir.select(cond, value, b[i]!));
    },
    ...Object.fromEntries(impure.map((method) => [method, none])),
  }) as unknown as RowBuilder;
}

/** What straight code without effects does not call. */
const impure = [
  'accumulators',
  'threadMemory',
  'groupBarrier',
  'pointer',
  'convertAddress',
  'isspace',
  'when',
  'blockWord',
  'alloca',
  'stackTop',
  'setStackTop',
  'reservedShared',
  'service',
  'once',
  'clusterBarrier',
  'update',
  'stop',
  'repeat',
  'poll',
  'carry',
  'setCarry',
  'refuse',
] as const;
