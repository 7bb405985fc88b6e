/** Stores and reductions of texels by the format of a surface (`sust.p`, `sured.p`), in words computed here. Source: PTX ISA 9.0, 9.7.11. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f32Bits } from '../../src/base/float.ts';
import { bytesOf, type Format, kinds, Textures } from '../support/textures.ts';

const test = suite('program/texel-stores');

const extent = [3, 2, 0] as const;

/** The bytes of a surface after a store of four words at a place, which had 0x11 everywhere. */
function stored(format: Format, words: readonly number[], place: readonly [number, number], mode = 'trap', vec = '.v4'): Uint8Array {
  const textures = new Textures();
  const shape = { format, extent, flags: 2 } as const;
  const array = textures.array(shape, new Uint8Array(6 * ((format[0] * format[1]) / 8)).fill(0x11));
  const list = vec === '' ? 'w0' : `{${words.map((_, i) => `w${i}`).join(', ')}}`;
  const body = `{ .reg .b32 w<4>; ${words.map((word, i) => `mov.b32 w${i}, ${word | 0};`).join(' ')}
    sust.p.2d${vec}.b32.${mode} [%t, {%c0, %c1}], ${list}; }`;
  const { error } = textures.run(body, textures.surface(array), new Uint32Array(Int32Array.of(...place, 0, 0).buffer));
  assert.is(error, 0);
  return textures.read(array, shape);
}

const whole = (format: Format, at: number, texel: ArrayBufferView): number[] => {
  const bytes = (format[0] * format[1]) / 8;
  const wanted = new Uint8Array(6 * bytes).fill(0x11);
  wanted.set(bytesOf(texel), at * bytes);
  return [...wanted];
};

test('words, limited integers and rounded halves', () => {
  const singles = [1.5, -0.1, 65520, 1 / 3].map(f32Bits);
  const cases: readonly (readonly [Format, readonly number[], ArrayBufferView])[] = [
    [[8, 4, kinds.unsigned], [1, 255, 256, -1], Uint8Array.of(1, 255, 255, 255)],
    [[8, 4, kinds.signed], [-1, 127, 128, -300], Int8Array.of(-1, 127, 127, -128)],
    [[16, 4, kinds.unsigned], [1, 65535, 65536, -1], Uint16Array.of(1, 65535, 65535, 65535)],
    [[16, 2, kinds.signed], [-40000, 32767, 5, 6], Int16Array.of(-32768, 32767)],
    [[32, 4, kinds.signed], [-1, 2, -3, 4], Int32Array.of(-1, 2, -3, 4)],
    [[16, 4, kinds.float], singles, Uint16Array.of(0x3e00, 0xae66, 0x7c00, 0x3555)],
    [[32, 2, kinds.float], singles, Float32Array.of(1.5, Math.fround(-0.1))],
  ];
  for (const [format, words, texel] of cases) assert.equal([...stored(format, words, [1, 1])], whole(format, 4, texel), format.join());
});

test('one value of a texel with two, and places outside', () => {
  const format: Format = [16, 2, kinds.unsigned];
  assert.equal([...stored(format, [7], [2, 0], 'trap', '')], whole(format, 2, Uint16Array.of(7, 0x1111)));
  const one: Format = [32, 1, kinds.unsigned];
  assert.equal([...stored(one, [7], [99, -1], 'clamp', '')], whole(one, 2, Uint32Array.of(7)));
  assert.equal([...stored(one, [7], [2 ** 30, 0], 'zero', '')], whole(one, 0, new Uint8Array()));
});

test('reductions, by the sign of the format', () => {
  const reduced = (kind: number, form: string, value: number): number => {
    const textures = new Textures();
    const shape = { format: [32, 1, kind], extent, flags: 2 } as const;
    const array = textures.array(shape, bytesOf(Int32Array.of(5, 5, 5, 5, -6, 5)));
    const body = `sured.p.${form}.2d.b32.trap [%t, {%c0, %c1}], %c2;`;
    assert.is(textures.run(body, textures.surface(array), new Uint32Array(Int32Array.of(1, 1, value, 0).buffer)).error, 0);
    return new Int32Array(textures.read(array, shape).buffer)[4]!;
  };
  assert.is(reduced(kinds.signed, 'add', 10), 4);
  assert.is(reduced(kinds.signed, 'min', 1), -6);
  assert.is(reduced(kinds.unsigned, 'min', 1), 1);
  assert.is(reduced(kinds.signed, 'max', 1), 1);
  assert.is(reduced(kinds.unsigned, 'max', 1), -6);
  assert.is(reduced(kinds.unsigned, 'and', 0xff), 0xfa);
  assert.is(reduced(kinds.signed, 'or', 5), -1);
});

test.run();
