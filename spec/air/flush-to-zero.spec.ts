/** Flush to zero in AIR: what it is emitted as, and that exactly this is read back as one operation. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raiseModule } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { emit } from '../../src/compile/index.ts';
import { airBitcode, airLibrary, airModule, buffer } from '../support/air-text.ts';
import { launchMetallib } from '../support/launch.ts';
import { need } from '../support/need.ts';

const test = suite('air/flush-to-zero');

/** A kernel that flushes an f32 of the second buffer to the first; parts of the four instructions may be others. */
function flushing({
  limit = '0x3810000000000000',
  by = '0.000000e+00',
  test = 'olt',
  other = '%f',
  factor = '%f',
  flags = '',
} = {}): string {
  const body = `  %q = bitcast i32 addrspace(1)* %p1 to float addrspace(1)*
  %r = bitcast i32 addrspace(1)* %p0 to float addrspace(1)*
  %f = load float, float addrspace(1)* %q, align 4
  %t = getelementptr float, float addrspace(1)* %q, i64 1
  %g = load float, float addrspace(1)* %t, align 4
  %m = call float @air.fabs.f32(float %f)
  %c = fcmp ${test} float %m, ${limit}
  %z = fmul ${flags} float ${factor}, ${by}
  %s = select i1 %c, float %z, float ${other}
  store float %s, float addrspace(1)* %r, align 4`;
  return airModule([buffer, buffer], body, 'declare float @air.fabs.f32(float)');
}

const opsOf = (text: string): string[] => {
  const diagnostics = new Diagnostics();
  const [raised] = raiseModule(readModule(airBitcode(text), diagnostics)!, diagnostics);
  assert.equal(diagnostics.list, []);
  const { kernel } = raised!;
  return kernel.blocks.flatMap(({ body }) => body.map((value) => kernel.insts[value]!.op));
};

need(test, ['llvm-as-14'], 'the choice is one operation', () => {
  assert.is(opsOf(flushing()).filter((op) => op === 'ftz').length, 1);
});

const others = {
  'another limit': { limit: '0x3800000000000000' },
  'a negative zero': { by: '-0.000000e+00' },
  'a comparison that holds for NaN': { test: 'ult' },
  'another value': { other: '%g' },
  'a zero of another value': { factor: '%g' },
  'a zero without sign': { flags: 'nsz' },
};
for (const [what, parts] of Object.entries(others))
  need(test, ['llvm-as-14'], `with ${what} it is a choice`, () => {
    const ops = opsOf(flushing(parts));
    assert.not.ok(ops.includes('ftz'));
    assert.ok(ops.includes('select'));
  });

need(test, ['llvm-as-14'], 'subnormals become zeros of their sign, and all else stays', () => {
  const given = [1, 0x8000_0001, 0x007f_ffff, 0x807f_ffff, 0, 0x8000_0000, 0x0080_0000, 0x8080_0000, 0x7f80_0000, 0xff80_0000, 0x7fc1_2345];
  const wanted = [0, 0x8000_0000, 0, 0x8000_0000, ...given.slice(4)];
  const library = airLibrary(flushing());
  const found = given.map((bits) => {
    const [after] = launchMetallib(library, { kernel: 'k', blocks: 1, threads: 1, args: [new Uint32Array(1), Uint32Array.of(bits, 0)] });
    return new Uint32Array(after!.slice().buffer)[0];
  });
  assert.equal(found, wanted);
});

test('a sum with .ftz flushes its operands and its result by four instructions each', () => {
  const text = `.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {
    .reg .b64 %d; .reg .f32 %f<3>;
    ld.param.u64 %d, [p]; cvta.to.global.u64 %d, %d; ld.global.f32 %f0, [%d]; ld.global.f32 %f1, [%d+4];
    add.ftz.f32 %f2, %f0, %f1; st.global.f32 [%d], %f2; ret; }`;
  const diagnostics = new Diagnostics();
  const air = emit(new SourceFile('k.ptx', text), 'air-ll', { target: 'macos15' }, diagnostics) as string;
  assert.equal(diagnostics.list, []);
  const count = (pattern: RegExp): number => air.match(pattern)?.length ?? 0;
  assert.equal([/call .*@air\.fabs\.f32\(/g, /= fcmp olt /g, /= fmul /g, /= select /g, /= (and|bitcast) i32/g].map(count), [3, 3, 3, 3, 0]);
});

test.run();
