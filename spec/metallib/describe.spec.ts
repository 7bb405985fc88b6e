/** Descriptions of tags, and the bytes outside of all ranges. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { describeTag, withGaps } from '../../src/metallib/index.ts';

const test = suite('metallib in words');

const chars = (text: string): number[] => [...new TextEncoder().encode(text)];
const said = (code: string, ...payload: number[]): string => describeTag({ code, payload: Uint8Array.from(payload) });

test('function constants: name, type, index, and whether it is used', () => {
  const payload = [2, 0, ...chars('foo\0'), 3, 0, 0, 1, ...chars('b\0'), 53, 2, 0, 0];
  assert.is(said('CNST', ...payload), 'function constants: foo (float, index 0), b (bool, index 2, inactive)');
});

test('vertex inputs: the number in the lower 13 bits', () => {
  assert.is(said('VATT', 1, 0, ...chars('position\0'), 0x03, 0x80), 'vertex inputs: position (attribute 3)');
  assert.is(said('VATY', 3, 0, 6, 29, 200), 'types of vertex inputs: float4, int, type 200');
});

test('places in sources', () => {
  assert.is(said('DEBI', 12, 1, 0, 0, ...chars('/a.metal\0')), 'line and source path: /a.metal:268');
  assert.is(said('DEPF', ...chars('/a.air\0')), 'path of the dependent .air file: /a.air');
});

test('what is not known, or says something else, is shown as bytes', () => {
  assert.is(said('NEW1', 1, 0xff), 'tag NEW1: 2 bytes, 01 ff');
  assert.is(said('CNST', 9, 0), 'function constants: 2 bytes, 09 00');
  assert.is(said('VATY', 0, 0, 7), 'types of vertex inputs: 3 bytes, 00 00 07');
  assert.match(said('TESS', ...new Array(20).fill(1)), /20 bytes, (01 ){16}…$/);
  assert.is(said('LAYR'), 'render-target layer kind: 0 bytes');
});

test('bytes between ranges and behind them', () => {
  const range = (name: string, offset: number, size: number) => ({ name, offset, size });
  assert.equal(
    withGaps([range('a', 0, 10), range('b', 12, 4)], 20).map(({ name, offset, size }) => [name, offset, size]),
    [
      ['a', 0, 10],
      ['unknown', 10, 2],
      ['b', 12, 4],
      ['unknown', 16, 4],
    ],
  );
});

test.run();
