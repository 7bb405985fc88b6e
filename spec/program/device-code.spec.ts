/** Device code in a custom section of a module. The bytes are those of the WebAssembly specification, 5.5.3. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deviceCodes, imageOf, withDeviceCode } from '../../src/program/device-code.ts';

const test = suite('program/device-code');

const empty = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
const latin = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

test('a section is a zero, its length, and a name before the texts', () => {
  const module = withDeviceCode(empty, 'k', 'ptx');
  const content = [14, ...latin('cumetal.device'), ...latin('cumetal device code k\0ptx\0')];
  assert.equal([...module], [...empty, 0, content.length, ...content]);
  assert.equal([...deviceCodes(module)], [[imageOf('k'), 'ptx']]);
});

test('sections of several objects, which a linker joins or leaves apart, among others', () => {
  const texts = latin(`${imageOf('a')}\0first\0${imageOf('b')}\0${'x'.repeat(300)}\0`);
  const content = [14, ...latin('cumetal.device'), ...texts];
  const joined = [0, 0x80 | (content.length % 128), Math.floor(content.length / 128), ...content];
  // A type section with no types, and a custom section of another name.
  const module = Uint8Array.of(...empty, 1, 1, 0, ...joined, 0, 3, 1, ...latin('n'), 0);
  const all = deviceCodes(withDeviceCode(module, 'c', 'third'));
  assert.equal([...all.keys()], ['a', 'b', 'c'].map(imageOf));
  assert.equal([all.get(imageOf('a')), all.get(imageOf('b'))?.length, all.get(imageOf('c'))], ['first', 300, 'third']);
});

test.run();
