/**
 * Simdgroup matrices in the form of Apple's compilers. The CPU device follows the Metal Shading Language Specification (6.7), each lane's
 * elements are those that MLX assumes, and sums are computed here in exact arithmetic.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raiseModule, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { airBitcode, airLibrary, airModule, buffer } from '../support/air-text.ts';
import { launchMetallib } from '../support/launch.ts';
import { bytes, coordinates, type Element, elements, expected, numbers, packed, unpacked } from '../support/matrices.ts';
import { need } from '../support/need.ts';

const test = suite('air matrices');

const llvm = { f32: 'float', f16: 'half', bf16: 'bfloat' } as const;
const matrix = (element: Element): string => `<64 x ${llvm[element]}>`;
const prefix = 'air.simdgroup_matrix_8x8_';
const lane = { type: 'i32', kind: 'air.thread_index_in_simdgroup' };

/** The start of a buffer as elements, and from there on. */
const pointerTo = (
  name: string,
  param: number,
  element: Element,
  from = 0,
): string => `  %${name}.b = bitcast i32 addrspace(1)* %p${param} to ${llvm[element]} addrspace(1)*
  %${name} = getelementptr ${llvm[element]}, ${llvm[element]} addrspace(1)* %${name}.b, i64 ${from}
`;

interface Move {
  readonly text: string;
  readonly declared: string;
}

const pair = (x: number | string, y: number | string): string => `<2 x i64> <i64 ${x}, i64 ${y}>`;

/** A matrix read from a buffer: from AIR 2.8 on by extents, strides and origin. */
function load(
  to: string,
  param: number,
  element: Element,
  strides: readonly [number, number] = [1, 8],
  origin: readonly [number, number] = [0, 0],
): Move {
  const [pointer, name] = [`${llvm[element]} addrspace(1)*`, `${prefix}load.v64${element}.p1${element}`];
  const where = `${pair(8, 8)}, ${pair(...strides)}, ${pair(...origin)}`;
  return {
    text: `${pointerTo(`${to}.p`, param, element)}  %${to} = call fast ${matrix(element)} @${name}(${pointer} %${to}.p, ${where})\n`,
    declared: `declare ${matrix(element)} @${name}(${pointer}, <2 x i64>, <2 x i64>, <2 x i64>)`,
  };
}

function store(from: string, param: number, element: Element): Move {
  const [pointer, name] = [`${llvm[element]} addrspace(1)*`, `${prefix}store.v64${element}.p1${element}`];
  return {
    text: `${pointerTo(`${from}.to`, param, element)}  call void @${name}(${matrix(element)} %${from}, ${pointer} %${from}.to, ${pair(8, 8)}, ${pair(1, 8)}, ${pair(0, 0)})\n`,
    declared: `declare void @${name}(${matrix(element)}, ${pointer}, <2 x i64>, <2 x i64>, <2 x i64>)`,
  };
}

function multiply(
  to: string,
  names: readonly [a: string, b: string, c: string],
  types: readonly [d: Element, a: Element, b: Element, c: Element],
): Move {
  const [d, ...of] = types;
  const name = `${prefix}multiply_accumulate.${types.map((type) => `v64${type}`).join('.')}`;
  return {
    text: `  %${to} = call fast ${matrix(d)} @${name}(${of.map((type, i) => `${matrix(type)} %${names[i]}`).join(', ')})\n`,
    declared: `declare ${matrix(d)} @${name}(${of.map(matrix).join(', ')})`,
  };
}

const module = (moves: readonly Move[], buffers: number, more = ''): string =>
  airModule(
    [...Array.from({ length: buffers }, () => buffer), lane],
    moves.map(({ text }) => text).join('') + more,
    [...new Set(moves.map(({ declared }) => declared))].join('\n'),
  );

/** The buffers after one simdgroup. */
const after = (text: string, args: readonly ArrayBufferView[]): Uint8Array[] =>
  launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 32, args });

for (const d of elements)
  for (const a of elements)
    for (const b of elements) {
      // c as d is, and as b is.
      for (const c of new Set([d, b]))
        need(test, ['llvm-as-14'], `${d} = ${a} * ${b} + ${c}, loaded and stored`, () => {
          const types = [d, a, b, c] as const;
          const moves = [load('a', 0, a), load('b', 1, b), load('c', 2, c), multiply('d', ['a', 'b', 'c'], types), store('d', 3, d)];
          const given = [numbers(a, 1), numbers(b, 2), numbers(c, 3)];
          const memory = [packed(a, given[0]!), packed(b, given[1]!), packed(c, given[2]!), new Uint8Array(64 * bytes[d])];
          const done = after(module(moves, 4), memory);
          assert.equal(unpacked(d, done[3]!), expected(types, given));
        });
    }

/** Stores each lane's own elements, one pair after the other. */
const ownElements = (from: string, param: number, which: readonly [number, number] = [0, 1]): string =>
  `${pointerTo('own', param, 'f32')}  %first = mul i32 %p${param + 1}, 2
${which
  .map(
    (element, i) => `  %own${i} = extractelement <64 x float> %${from}, i64 ${element}
  %at${i} = add i32 %first, ${i}
  %wide${i} = zext i32 %at${i} to i64
  %place${i} = getelementptr float, float addrspace(1)* %own, i64 %wide${i}
  store float %own${i}, float addrspace(1)* %place${i}, align 4
`,
  )
  .join('')}`;

const iota = Float32Array.from({ length: 256 }, (_, i) => i);
/** The elements of all lanes, if element (row, column) of the matrix is a known number. */
const spread = (number: (row: number, column: number) => number): number[] =>
  Array.from({ length: 64 }, (_, i) => {
    const [row, column] = coordinates(i >> 1);
    return number(row, column + (i & 1));
  });
const floats = (from: Uint8Array): number[] => [...new Float32Array(from.slice().buffer)];

need(test, ['llvm-as-14'], 'each lane has two elements of its own, wherever the matrix was read from', () => {
  const own = (strides: readonly [number, number], origin: readonly [number, number]): number[] => {
    const moves = [load('m', 0, 'f32', strides, origin)];
    return floats(after(module(moves, 2, ownElements('m', 1)), [iota, new Float32Array(64)])[1]!);
  };
  assert.equal(
    own([1, 8], [0, 0]),
    spread((row, column) => row * 8 + column),
  );
  assert.equal(
    own([1, 16], [3, 2]),
    spread((row, column) => (row + 2) * 16 + column + 3),
  );
  assert.equal(
    own([16, 1], [2, 3]),
    spread((row, column) => (column + 2) * 16 + row + 3),
  );
});

const oldLoad = (origin: string, flag: string): Move => ({
  text: `${pointerTo('m.p', 0, 'f32')}  %m = call <64 x float> @${prefix}load.v64f32.p1f32(float addrspace(1)* %m.p, i64 16, ${origin}, i1 ${flag})\n`,
  declared: `declare <64 x float> @${prefix}load.v64f32.p1f32(float addrspace(1)*, i64, <2 x i64>, i1)`,
});

need(test, ['llvm-as-14'], 'up to AIR 2.7 a load says how long rows are, and whether they are columns', () => {
  const own = (move: Move): number[] => floats(after(module([move], 2, ownElements('m', 1)), [iota, new Float32Array(64)])[1]!);
  assert.equal(
    own(oldLoad(pair(3, 2), 'false')),
    spread((row, column) => (row + 2) * 16 + column + 3),
  );
  assert.equal(
    own(oldLoad(pair(3, 2), 'true')),
    spread((row, column) => (column + 2) * 16 + row + 3),
  );
});

const filled: Move = { text: '', declared: `declare <64 x float> @${prefix}init_filled.v64f32.f32(float)` };
const diagonal: Move = { text: '', declared: `declare <64 x float> @${prefix}init_diag.v64f32.f32(float)` };

need(test, ['llvm-as-14'], 'filled and diagonal matrices, elements put into them, and matrices in the memory of a thread', () => {
  const body = `  %kept = alloca <64 x float>, align 256
  %f = call <64 x float> @${prefix}init_filled.v64f32.f32(float 3.0)
  %e = call <64 x float> @${prefix}init_diag.v64f32.f32(float 2.0)
  %lane = uitofp i32 %p3 to float
  %x = insertelement <64 x float> %f, float %lane, i64 1
  store <64 x float> %x, <64 x float>* %kept, align 256
  %two = bitcast <64 x float>* %kept to <2 x float>*
  %old = load <2 x float>, <2 x float>* %two, align 8
  %back = load <64 x float>, <64 x float>* %kept, align 256
  %s = shufflevector <64 x float> %back, <64 x float> %e, <64 x i32> <i32 1, i32 65${', i32 undef'.repeat(62)}>
  %sum = extractelement <2 x float> %old, i64 1
  %m = insertelement <64 x float> %s, float %sum, i64 0
`;
  const moves = [
    filled,
    diagonal,
    { text: body, declared: '' },
    multiply('d', ['back', 'e', 'f'], ['f32', 'f32', 'f32', 'f32']),
    store('d', 0, 'f32'),
  ];
  const done = after(module(moves, 3, ownElements('m', 2)), [new Float32Array(64), new Float32Array(64), new Float32Array(64)]);
  const backs = new Map(Array.from({ length: 32 }, (_, i) => [coordinates(i).join(), i]));
  const back = (row: number, column: number): number => (column % 2 ? backs.get([row, column - 1].join())! : 3);
  assert.equal(
    floats(done[0]!),
    Array.from({ length: 64 }, (_, i) => 2 * back(i >> 3, i & 7) + 3),
  );
  assert.equal(
    floats(done[2]!),
    Array.from({ length: 64 }, (_, i) => {
      const [row, column] = coordinates(i >> 1);
      return i & 1 ? (row === column + 1 ? 2 : 0) : i >> 1;
    }),
  );
});

const said = (text: string, judge: 'raise' | 'validate'): string => {
  const read = readModule(airBitcode(text), new Diagnostics())!;
  const diagnostics = new Diagnostics();
  if (judge === 'raise') raiseModule(read, diagnostics);
  else validateAir(read, diagnostics);
  return diagnostics.list.map((d) => `${d.code} ${d.message}`).join();
};

const refused: readonly (readonly [what: string, text: string, words: RegExp])[] = [
  ['an element of another lane', module([load('m', 0, 'f32')], 2, ownElements('m', 1, [0, 2])), /CM4053.*a vector element out of range/],
  [
    'a matrix that is transposed or not',
    module([{ ...oldLoad(pair(0, 0), '%flag'), text: `  %flag = trunc i32 %p1 to i1\n${oldLoad(pair(0, 0), '%flag').text}` }], 1),
    /CM4053.*that is not constant/,
  ],
  [
    'a matrix in the memory of all',
    module(
      [
        {
          text: '  %w = bitcast i32 addrspace(1)* %p0 to <64 x float> addrspace(1)*\n  %m = load <64 x float>, <64 x float> addrspace(1)* %w, align 256\n',
          declared: '',
        },
      ],
      1,
    ),
    /CM4053.*memory of all threads that contains <64 x float>/,
  ],
  [
    'an element that is another lane’s, moved',
    module(
      [load('m', 0, 'f32'), { text: `  %s = shufflevector <64 x float> %m, <64 x float> %m, <2 x i32> <i32 0, i32 7>\n`, declared: '' }],
      1,
    ),
    /CM4053.*an element of a matrix that is another lane’s/,
  ],
];
for (const [what, text, words] of refused)
  need(test, ['llvm-as-14'], `refused by name: ${what}`, () => assert.match(said(text, 'raise'), words));

need(test, ['llvm-as-14'], 'both signatures of loads keep the rules of AIR, and no other', () => {
  const rules = (text: string): string =>
    said(
      text.replaceAll(/^declare .*simdgroup.*$/gm, '$& #0').replace('!air.version', 'attributes #0 = { convergent }\n!air.version'),
      'validate',
    );
  assert.is(rules(module([load('m', 0, 'f16'), store('m', 0, 'f16')], 1)), '');
  assert.is(rules(module([oldLoad(pair(0, 0), 'false')], 1)), '');
  const wrong = module([{ ...oldLoad(pair(0, 0), 'false') }], 1)
    .replaceAll(', i1)', ', i8)')
    .replaceAll('i1 false', 'i8 0');
  assert.match(rules(wrong), /CM4050.*known-functions.*is declared as <64 x float> \(/);
  assert.match(said(module([load('m', 0, 'f32')], 1), 'validate'), /CM4050.*convergent-barrier/);
});

test.run();
