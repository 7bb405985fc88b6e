import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { grammar } from '../../src/ptx/syntax/grammar.ts';
import { Kind, tokenize } from '../../src/ptx/syntax/tokens.ts';

const test = suite('ptx/tokens');

/** The kinds that are rules of the grammar too, by their one name. */
const rules = ['word', 'integer', 'decimalFloat', 'hexFloat', 'string', 'dotWord'] as const;

/** The grammar rule that matches a whole text. */
const byGrammar = (text: string): string | undefined => rules.find((rule) => grammar().match(text, rule).succeeded());

/** The same by the tokenizer: the kind of a text that is one token. */
function byTokens(text: string): string | undefined {
  const { count, kinds, starts, ends } = tokenize(text);
  return count === 1 && starts[0] === 0 && ends[0] === text.length ? rules.find((rule) => Kind[rule] === kinds[0]) : undefined;
}

// Source: PTX ISA 9.0, 4.4 (identifiers) and 4.5.1, 4.5.2 (literals).
const known: Record<string, (typeof rules)[number] | undefined> = {
  a: 'word',
  _: 'word',
  __x: 'word',
  '%r1': 'word',
  $L__BB0: 'word',
  '%': undefined,
  $: undefined,
  '0': 'integer',
  '017': 'integer',
  '018': undefined,
  '0x1fU': 'integer',
  '0xU': undefined,
  '0b102': undefined,
  '5u': undefined,
  '1.': 'decimalFloat',
  '.5': 'decimalFloat',
  '.5e': 'dotWord',
  '1e5': 'decimalFloat',
  '1e': undefined,
  '089.5': 'decimalFloat',
  '0f3F800000': 'hexFloat',
  '0f3F80000': undefined,
  '0D3FF0000000000000': 'hexFloat',
  '"a b"': 'string',
  '"a\nb"': undefined,
  '.b8': 'dotWord',
  '.2d': 'dotWord',
  '.shared::cta': 'dotWord',
  '.a::': undefined,
  '.': undefined,
};
for (const [text, rule] of Object.entries(known)) {
  test(`${JSON.stringify(text)} is ${rule ?? 'no token of these'}`, () => {
    assert.is(byTokens(text), rule);
    assert.is(byGrammar(text), rule);
  });
}

const pieces = fc.constantFrom(...'0123456789abdefxuUEDFXB_$%.:"+- \n', '::', '0x', '0b', '0f', '0d', '.b', '3F800000', 'e+', '\u00e9');

test('generated texts are the same kind of token to both', () => {
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 6 }), (parts) => {
      const text = parts.join('');
      assert.is(byTokens(text), byGrammar(text), JSON.stringify(text));
    }),
    { numRuns: 20_000, seed: 3 },
  );
});

test('tokens lie in order, and nothing but space and comments is between them', () => {
  const parts = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '.x',
    '"',
    '//',
    '/*',
    '*/',
    '# 1',
    '#',
    '<<',
    '<',
    '=',
    '|',
    '1',
    '.5',
    '\u{1f600}',
    '\ud83d',
    '%',
    '@',
    '\\',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), (list) => {
      const text = list.join('');
      const { count, starts, ends, openComment } = tokenize(text);
      let at = 0;
      for (let i = 0; i <= count; i++) {
        const between = text.slice(at, starts[i]);
        assert.match(between, openComment >= 0 && i === count ? /^/ : /^(?:\s|\/\/.*|\/\*[\s\S]*?\*\/|# *(?:line +)?[0-9].*)*$/);
        assert.ok(ends[i]! > starts[i]! || i === count);
        at = ends[i]!;
      }
      assert.is(at, text.length);
    }),
    { numRuns: 3000, seed: 4 },
  );
});

test.run();
