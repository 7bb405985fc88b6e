import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { print } from '../../src/ptx/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { bare, examples, parsed } from './tree.ts';

const test = suite('ptx/damage');

/** Numbers below a bound, the same in each run. Source: Marsaglia, Xorshift RNGs (2003), the generator of 32 bits. */
function random(seed: number): (bound: number) => number {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % bound;
  };
}

type Below = (bound: number) => number;

const cut = (text: string, from: number, length: number, instead = ''): string => text.slice(0, from) + instead + text.slice(from + length);

/** The places of tokens, roughly: words, numbers and single marks. */
const tokensOf = (text: string) => [...text.matchAll(/[\w$%.]+|\S/g)].map((m) => ({ start: m.index, text: m[0] }));

const mutations: Record<string, (text: string, below: Below) => string> = {
  'a flipped bit': (text, below) => {
    const at = below(text.length);
    return cut(text, at, 1, String.fromCharCode(text.charCodeAt(at) ^ (1 << below(8))));
  },
  'a piece left out': (text, below) => cut(text, below(text.length), 1 + below(20)),
  'a piece written twice': (text, below) => {
    const at = below(text.length);
    return cut(text, at, 0, text.slice(at, at + 1 + below(60)));
  },
  'the rest left out': (text, below) => text.slice(0, below(text.length)),
  'two tokens exchanged': (text, below) => {
    const tokens = tokensOf(text);
    const [a, b] = [tokens[below(tokens.length)]!, tokens[below(tokens.length)]!].sort((x, y) => x.start - y.start) as [
      (typeof tokens)[0],
      (typeof tokens)[0],
    ];
    return a === b ? text : cut(cut(text, b.start, b.text.length, a.text), a.start, a.text.length, b.text);
  },
};

const kinds = Object.keys(mutations);
const rounds = 200;
let faulty = 0;

for (let seed = 0; seed < rounds; seed++) {
  const kind = kinds[seed % kinds.length]!;
  const [name, text] = examples[seed % examples.length]!;
  test(`${name} with ${kind} (${seed})`, () => {
    const damaged = mutations[kind]!(text, random(seed + 1));
    const { module, diagnostics, said } = withinCpuSeconds(1, () => parsed(damaged));
    const plain = parsed(damaged, { shapeCache: false });
    assert.equal(said, plain.said);
    assert.equal(module, plain.module);
    for (const { labels } of diagnostics.list) {
      const span = labels[0]?.span;
      assert.ok(span && span.start >= 0 && span.start <= span.end && span.end <= damaged.length, JSON.stringify(labels));
    }
    if (diagnostics.hasErrors) faulty++;
    // The parsed part is consistent: it prints and parses to an equal tree.
    const again = parsed(print(module));
    assert.equal(again.said, []);
    assert.equal(bare(again.module), bare(module));
  });
}

test('most damage is seen', () => {
  // Damage in a name or a number gives other valid PTX; a grammar that accepts everything would report nothing.
  assert.ok(faulty > rounds / 4, `${faulty} of ${rounds} are faulty`);
});

test('a text cut short anywhere within a body is faulty', () => {
  const [, text] = examples[0]!;
  const open = text.indexOf('{');
  const close = text.lastIndexOf('}');
  for (let at = open + 1; at <= close; at += 7) assert.ok(parsed(text.slice(0, at)).diagnostics.hasErrors, `cut at ${at}`);
});

test.run();
