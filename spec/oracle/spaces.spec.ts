/**
 * A generic address whose state space is selected at run time, in the independent oracle: LLVM reads the bitcode, and each thread
 * reads shared, local, global or constant memory, depending on its id.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('oracle/spaces');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const text = `.version 8.0
.target sm_80
.address_size 64
.const .b32 table[2] = {50, 60};
.visible .entry k(.param .u64 out)
{
  .reg .b64 o, at, p, q, r; .reg .b32 v, t, w; .reg .pred z; .shared .b32 s[64]; .local .b32 l[4];
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 at, t, 4; add.u64 o, o, at;
  mov.u64 q, s; cvta.shared.u64 q, q; add.u64 q, q, at; st.u32 [q], t;
  mov.u64 r, l; cvta.local.u64 r, r; add.u32 v, t, 1000; st.u32 [r], v; st.global.u32 [o], 77;
  mov.u64 p, table; cvta.const.u64 p, p; add.u64 p, p, 4;
  and.b32 w, t, 3; setp.eq.u32 z, w, 0; selp.b64 p, q, p, z; setp.eq.u32 z, w, 1; selp.b64 p, r, p, z; setp.eq.u32 z, w, 2; selp.b64 p, o, p, z;
  ld.u32 v, [p]; isspacep.shared z, p; @z add.u32 v, v, 5000;
  st.global.u32 [o], v;
  ret;
}
`;

need(test, oracleTools, 'loads from a generic address in one of four spaces', () => {
  const { metallib } = compile(new SourceFile('k.ptx', text), {}, new Diagnostics())!;
  const args = [new Uint8Array(256).fill(0xa5)];
  for (const order of ['fwd', 'rev']) {
    const run = launchOracle(folder, metallib, { kernel: 'k', grid: [1], block: [64], args, sharedBytes: undefined, order });
    assert.is(run.complaints, '');
    const expected = Array.from({ length: 64 }, (_, t) => [t + 5000, t + 1000, 77, 60][t & 3]!);
    assert.equal([...new Uint32Array(run.after[0]!.slice().buffer)], expected);
  }
});

test.run();
