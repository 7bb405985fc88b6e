/** Every vector instruction at every width, for both targets, has the results of WebAssembly. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { processorFeatures } from '../../../src/ffi/native/processor.ts';
import { vectorRules } from '../../../src/native/select/vector/index.ts';
import { instructions } from '../../../src/wasm/index.ts';
import { build, type Case, compareAll, type Kind } from './compare.ts';

const test = suite('native/select-vector/operations');
const names = [...instructions].filter(([, { code }]) => code[0] === 0xfd).map(([name]) => name);

test('every vector instruction has a rule', () => {
  assert.ok(names.length > 200);
  assert.equal(
    names.filter((name) => !vectorRules[name]),
    [],
  );
});

/** The lanes of the operands of an operation, by its name. */
function lanesOf(name: string): Kind {
  const from = /(?:_|narrow_|extend_\w+_|trunc_sat_|convert_\w*|promote_low_|demote_|pairwise_|dot_|extmul_\w+_)([if]\d+)x\d+/.exec(
    name,
  )?.[1];
  const own = /^([if]\d+)x/.exec(name)?.[1];
  return (from ?? own ?? 'i32') as Kind;
}

const operandsOf = (name: string): number =>
  /\.not$|abs|neg|popcnt|sqrt|ceil|floor|trunc|nearest|extend|extadd|convert|promote|demote|all_true|any_true|bitmask/.test(name)
    ? 1
    : /bitselect|madd/.test(name)
      ? 3
      : 2;

const scalarOf = (name: string): Kind => {
  const [type] = /^[if]\d+/.exec(name)!;
  return type === 'i64' || type.startsWith('f') ? (`scalar ${type}` as Kind) : 'scalar i32';
};

function casesOf(name: string): Case[] {
  const kind = lanesOf(name);
  if (/splat$/.test(name) && !name.startsWith('v128')) return [build(name, (b) => b.op(name, [b.input(scalarOf(name))]))];
  if (/\.sh(l|r_[su])$/.test(name)) return [build(name, (b) => b.op(name, [b.input(kind), b.input('scalar i32')]))];
  if (/extract_lane|replace_lane/.test(name)) {
    const lanes = Number(/x(\d+)/.exec(name)![1]);
    return Array.from({ length: lanes }, (_, lane) =>
      build(
        `${name} ${lane}`,
        (b) => b.op(name, [b.input(kind), ...(name.includes('replace') ? [b.input(scalarOf(name))] : [])], { lane }),
        { isNarrow: true },
      ),
    );
  }
  if (/(load|store)\d+_lane/.test(name)) {
    const lanes = 128 / Number(/(\d+)_lane/.exec(name)![1]);
    return Array.from({ length: lanes }, (_, lane) =>
      build(
        `${name} ${lane}`,
        (b) => {
          const value = b.op(name, [b.input('address'), b.input('i8')], { lane, offset: 5 });
          return name.includes('store') ? undefined : value;
        },
        { isNarrow: true },
      ),
    );
  }
  if (name === 'v128.store')
    return [
      build(name, (b) => {
        b.op(name, [b.input('address'), b.input('i8')], { offset: 3 });
        return undefined;
      }),
    ];
  if (/load/.test(name)) return [build(name, (b) => b.op(name, [b.input('address')], { offset: 7 }), { isNarrow: name.endsWith('zero') })];
  const write = (b: Parameters<Parameters<typeof build>[1]>[0]): number =>
    b.op(
      name,
      Array.from({ length: operandsOf(name) }, () => b.input(kind)),
    );
  const isTest = /any_true|all_true|bitmask/.test(name);
  const cases = [build(name, write, { isNarrow: name.startsWith('i8x16.bitmask') || /relaxed/.test(name) })];
  if (isTest) cases.push(build(`${name} as flags`, write, { asFlags: true }));
  return cases;
}

if (processorFeatures().hasBaseline)
  test('operations have the bits of WebAssembly', () =>
    compareAll(names.filter((name) => !name.includes('relaxed')).flatMap(casesOf), { rounds: 30 }));

test.run();
