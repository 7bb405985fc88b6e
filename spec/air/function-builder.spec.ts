/** Instructions that a builder takes for equal ones. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { functionBuilder } from '../../src/air/emit/function-builder.ts';
import type { Argument, Block, Value } from '../../src/bitcode/model.ts';
import { type Type, types } from '../../src/bitcode/types.ts';

const test = suite('air/function-builder');

const condition = { kind: 'argument', index: 0, type: types.i1 } as Argument;
const int = (type: Type, value: bigint): Value => ({ kind: 'constant', form: 'int', type, value }) as Value;
const float = (type: Type, bits: bigint): Value => ({ kind: 'constant', form: 'float', type, bits }) as Value;

const pairs = [
  [types.int(8), 8, types.half],
  [types.int(16), 16, types.bfloat],
  [types.int(32), 32, types.float],
  [types.int(64), 64, types.double],
] as const;

test('a choice of integers is none of floats with the same bits, whichever number a type has in the process', () => {
  const b = functionBuilder({ kind: 'block', body: [] } as unknown as Block, () => true);
  let made = 0;
  /** Has the builder number a type that nobody has used. */
  const numberAnother = (): void => void b.cast('bitcast', condition, types.array(types.i1, ++made));
  for (const [integer, width, type] of pairs) {
    // The integer's type is one more, so that the number of the float's is the width.
    while (made < width - 2) numberAnother();
    made += 2;
    const ofIntegers = b.select(condition, int(integer, 0x3cn), int(integer, 0n));
    const ofFloats = b.select(condition, float(type, 0x3cn), float(type, 0n));
    assert.is(ofIntegers.type, integer);
    assert.is(ofFloats.type, type);
    assert.is(b.select(condition, float(type, 0x3cn), float(type, 0n)), ofFloats);
    assert.is(b.select(condition, int(integer, 0x3cn), int(integer, 0n)), ofIntegers);
  }
});

test.run();
