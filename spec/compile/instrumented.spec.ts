/** Who watches a kernel sees its branches and loops as they are written, on whatever road: passes that weigh costs are for the others. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, emit } from '../../src/compile/index.ts';

const test = suite('compile/instrumented');

/** A branch around little, and a product in a loop that is the same in each turn; a double is there as well, which Apple targets have not. */
const text = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 m)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  .reg .f64 %d<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [m];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r3, %tid.x;
  setp.lt.u32 %p1, %r3, %r1;
  mov.u32 %r4, 7;
  @%p1 bra JOIN;
  add.u32 %r4, %r3, 1;
JOIN:
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
TURN:
  mul.lo.u32 %r7, %r1, %r2;
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%rd1], %r6;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, %r2;
  @%p2 bra TURN;
  add.u32 %r6, %r6, %r4;
  cvt.rn.f64.u32 %d1, %r6;
  st.global.f64 [%rd1], %d1;
  ret;
}
`;

interface Shape {
  /** The branch around an instruction and that at the end of a turn. */
  readonly branches: number;
  /** Whether the product is in the block of the loop. */
  readonly isInLoop: boolean;
}

function shapeOf(options: CompileOptions): Shape {
  const diagnostics = new Diagnostics();
  const ll = emit(new SourceFile('k.ptx', text), 'air-ll', options, diagnostics) as string;
  assert.equal(diagnostics.list, []);
  const kernel = ll.slice(ll.indexOf('define void @k('), ll.indexOf('\n}', ll.indexOf('define void @k(')));
  const loop = kernel.split(/\n\n/).find((block) => block.includes('store i32'))!;
  return { branches: (kernel.match(/br i1 /g) ?? []).length, isInLoop: / mul i32 /.test(loop) };
}

const written: Shape = { branches: 2, isInLoop: true };
const cheaper: Shape = { branches: 1, isInLoop: false };

const roads: readonly CompileOptions[] = [{ target: 'cpu' }, { target: 'macos14' }, { target: 'macos14', fp64: 'emulate' }];
for (const road of roads) {
  const name = Object.values(road).join(', ');
  test(`${name}: as it is cheaper`, () => assert.equal(shapeOf(road), cheaper));
  test(`${name}: as it is written, for the sanitizer`, () => assert.equal(shapeOf({ ...road, sanitize: true }), written));
  test(`${name}: as it is written, for profile and trace`, () => assert.equal(shapeOf({ ...road, marks: true }), written));
}

test.run();
