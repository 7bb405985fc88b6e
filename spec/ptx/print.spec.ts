import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { print, printAst, printInstruction, printOperand } from '../../src/ptx/index.ts';
import * as generate from './generate.ts';
import { bare, clean, examples } from './tree.ts';

const test = suite('ptx/print');

/** Prints, reads back, and compares the trees. */
function returns(text: string): void {
  const module = clean(text);
  const printed = print(module);
  const again = clean(printed);
  assert.equal(bare(again), bare(module), printed);
  // Printed text is a fixpoint of printing.
  assert.is(print(again), printed);
}

for (const [name, text] of examples) test(`${name} returns`, () => returns(text));

test('generated statements return', () => {
  fc.assert(
    fc.property(generate.statement, (text) => returns(`.func f ()\n{\n${text}\n}\n`)),
    { numRuns: 1500, seed: 20 },
  );
});

test('generated modules return', () => {
  fc.assert(
    fc.property(generate.module, (text) => returns(text)),
    { numRuns: 400, seed: 21 },
  );
});

/** The instruction `text` as it is printed. */
function printed(text: string): string {
  const [f] = clean(`.func f () { ${text} }`).items;
  const node = f?.kind === 'function' ? f.body?.[0] : undefined;
  if (node?.kind !== 'instruction') throw new Error('no instruction');
  return printInstruction(node);
}

// The layout of nvcc; numbers in the shortest form that keeps every bit.
const layout: Record<string, string> = {
  '@ !p  add .s32 a,b,c ;': '@!p add.s32 a, b, c;',
  'ret ;': 'ret;',
  'ld.global.u32 a,[b + 0x10];': 'ld.global.u32 a, [b+16];',
  'ld.global.u32 a,[b-4];': 'ld.global.u32 a, [b+-4];',
  'ld.global.u32 a,[b+4-4];': 'ld.global.u32 a, [b];',
  'mov.f32 a, 0F3f8abcde;': 'mov.f32 a, 0f3F8ABCDE;',
  'mov.f64 a, -0d0000000000000000;': 'mov.f64 a, 0d8000000000000000;',
  'mov.f64 a, -0.0;': 'mov.f64 a, -0.0;',
  'mov.f64 a, 2.;': 'mov.f64 a, 2.0;',
  'mov.u32 a, 0x20U;': 'mov.u32 a, 32U;',
  'call (r),f,(a,b);': 'call (r), f, (a, b);',
  'setp.eq.s32 p | q, a, b;': 'setp.eq.s32 p|q, a, b;',
  'mov.u32 a, (1+2)*3;': 'mov.u32 a, (1 + 2) * 3;',
  'mov.u32 a, 1+(2*3);': 'mov.u32 a, 1 + (2 * 3);',
};
for (const [text, expected] of Object.entries(layout)) test(`the layout of ${text}`, () => assert.is(printed(text), expected));

test('a bitwise or of two names is not printed as a pair', () => {
  const span = { start: 0, end: 0 };
  const name = (text: string) => ({ kind: 'name' as const, name: text, span });
  const or = { kind: 'binary' as const, operator: '|' as const, left: name('a'), right: name('b'), span };
  const [f] = clean(`.func f () { op ${printOperand(or)}; }`).items;
  const node = f?.kind === 'function' ? f.body?.[0] : undefined;
  assert.is(node?.kind === 'instruction' && node.operands[0]?.kind, 'binary');
});

test('the dump is JSON without places, integers of 64 bits as strings', () => {
  const module = clean('.version 8.0\n.target sm_80\n.global .u64 g = 0xffffffffffffffff;\n');
  const dump = JSON.parse(printAst(module));
  assert.equal(dump, {
    version: { major: 8, minor: 0 },
    targets: [{ name: 'sm_80' }],
    items: [
      {
        kind: 'variable',
        space: 'global',
        type: 'u64',
        name: 'g',
        dims: [],
        attributes: [],
        init: { kind: 'integer', value: '18446744073709551615', isUnsigned: false },
      },
    ],
  });
});

test.run();
