import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as generate from './generate.ts';
import { examples, parsed } from './tree.ts';

const test = suite('ptx/plain');

/** The tree with spans and the diagnostics, by templates of shapes and by Ohm's match of every line. */
function agree(text: string): void {
  const [fast, plain] = [parsed(text), parsed(text, { shapeCache: false })];
  assert.equal(fast.said, plain.said, text);
  assert.equal(fast.module, plain.module, text);
}

for (const [name, text] of examples) test(`${name} reads the same without the shape cache`, () => agree(text));

test('generated modules read the same', () => {
  fc.assert(
    fc.property(generate.module, (text) => agree(text)),
    { numRuns: 150, seed: 7 },
  );
});

test('so do generated modules with a token too many, too few or out of place', () => {
  const spoilt = fc.tuple(
    generate.module,
    fc.nat(),
    fc.constantFrom('', ';', '}', '{', ',', '.x', 'a', '_', '"', '5', '0x', '.entry', '(.u64)', 'function_name'),
  );
  fc.assert(
    fc.property(spoilt, ([text, at, token]) => {
      const tokens = text.split(/(\s+)/);
      tokens[at % tokens.length] = token;
      agree(tokens.join(''));
    }),
    { numRuns: 150, seed: 8 },
  );
});

// The special property of a token must be part of the shape: each pair differs in one token only.
const pairs: [string, string][] = [
  ['call (_), f, (a);', 'call (b), f, (a);'],
  ['mov.u64 a, (.u64) 5;', 'mov.u64 a, (.s64) 5;'],
  ['setp.eq.s32 _|p, a, b;', 'setp.eq.s32 q|p, a, b;'],
  ['mov.u32 a, %tid.x;', 'mov.u32 a, %ctaid.y;'],
  ['.loc 1 2 3', '.loc 1 2 3, function_name f, inlined_at 1 2 3'],
  ['.reg .b32 a<4>;', '.reg .b64 a<4>;'],
  ['mov.f32 a, 0f3F800000;', 'mov.f64 a, 0d3FF0000000000000;'],
  ['mov.b32 a, 1;', 'mov.b32 a, 1.5;'],
  ['op.a.b c;', 'op c;'],
  ['ld.u32 a, [b].unified;', 'ld.u32 a, [b].other;'],
  ['ld.u32 a, [b].unified;', 'ld.u32 a, [b];'],
  ['.callprototype _ ();', '.callprototype (.param .b32 _) _ (.param .b32 _);'],
  ['mov.u32 a, function_name;', 'mov.u32 a, inlined_at;'],
  ['_:', 'a:'],
  ['@p bra L;', '@p Bra L;'],
  ['ret;', 'Ret;'],
  ['@!p ret;', '@!bra L;'],
  ['add a, b;', '%add a, b;'],
];
for (const [a, b] of pairs) {
  test(`${a} does not pass for ${b}`, () => {
    for (const order of [`${a}\n${b}`, `${b}\n${a}`]) agree(`.func f ()\n{\n${order}\n}\n`);
  });
}

test.run();
