/**
 * Every form of atomics, end to end (PTX, metallib, CPU device) against results of an NVIDIA H200: the old value and the new value.
 * For both targets, because Apple GPUs lack some of them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { isNan, type ScalarType } from '../../src/ir/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('h200/atomic');

interface Form {
  readonly form: string;
  readonly type: string;
  readonly ptx: string;
  /** Hexadecimal: the value in memory, the operands, the new value, the result (0 for `red`). */
  readonly cases: readonly string[];
}

const path = join(import.meta.dirname, '../../fixtures/h200/atomic.json');
const { forms, block } = JSON.parse(readFileSync(path, 'utf8')) as { forms: Form[]; block: number };

type Target = 'macos14' | 'macos15' | 'cpu';

/** A memory order needs fences, and so do the locks of 64-bit atomics; Apple GPUs have fences from macOS 15 on. */
const appleOf = (form: string): Target => (/acq|release|64$/.test(form) ? 'macos15' : 'macos14');

function compiled(ptx: string, target: Target): { metallib: Uint8Array | undefined; diagnostics: Diagnostics } {
  const source = new SourceFile('atomic.ptx', ptx);
  const diagnostics = new Diagnostics(source);
  return { metallib: compile(source, { target, fp64: target === 'cpu' ? 'native' : 'soft' }, diagnostics)?.metallib, diagnostics };
}

/** The cells of memory and of the results after a launch. */
function launch(metallib: Uint8Array, columns: readonly (readonly bigint[])[]): BigUint64Array[] {
  const count = columns[0]!.length;
  const args = [...columns.map((column) => BigUint64Array.from(column)), count];
  const after = launchMetallib(metallib, { kernel: 'form', blocks: Math.ceil(count / block), threads: block, args });
  return [0, 3].map((at) => new BigUint64Array(after[at]!.buffer));
}

/** The width in memory, in bits. */
const widthOf = (type: string): number => (type.endsWith('x2') ? 32 : type.endsWith('f16') ? 16 : Number(type.slice(1)));

for (const { form, type, ptx, cases } of forms)
  for (const target of [appleOf(form), 'cpu'] as const)
    test(`${form} for ${target}`, () => {
      const { metallib, diagnostics } = compiled(ptx, target);
      assert.ok(metallib, diagnostics.list.map((d) => d.message).join('; '));
      const rows = cases.map((line) => line.split(' ').map((word) => BigInt(`0x${word}`)));
      const inputs = [0, 1, 2].map((i) => rows.map((row) => (i < row.length - 2 ? row[i]! : 0n)));
      // A poison that no result has by chance, in the written bytes.
      const poison = rows.map(() => BigInt.asUintN(widthOf(type), 0xa5a5_5a5a_a5a5_5a5an));
      const [after, before] = launch(metallib, [...inputs, poison]);
      const same = (want: bigint, got: bigint): boolean =>
        want === got || (type.startsWith('f') && isNan(type as ScalarType, want) && isNan(type as ScalarType, got));
      const mismatches = rows.flatMap((row, i) =>
        same(row.at(-2)!, after![i]!) && same(row.at(-1)!, before![i]!)
          ? []
          : [`${cases[i]}, and not ${after![i]!.toString(16)} ${before![i]!.toString(16)}`],
      );
      assert.equal(mismatches.slice(0, 5), []);
    });

test.run();
