/** Which texts the CPU device takes in its own form at once. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { prefersCpu } from '../../src/compile/about-targets.ts';

const test = suite('compile/prefers-cpu');

test('instructions that are hundreds on Apple GPUs, and one on the CPU device', () => {
  for (const line of [
    'wgmma.fence.sync.aligned;',
    'mbarrier.init.shared.b64 [a], 1;',
    'mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {d, e}, {a}, {b}, {d, e};',
    'wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 {d, e}, {a}, {b}, {d, e};',
  ])
    assert.ok(prefersCpu(line), line);
});

test('all else is compiled for Apple GPUs, so that the same bytes run on both', () => {
  for (const line of [
    'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d, e, f, g}, {a, b, c, h}, {i, j}, {d, e, f, g};',
    'fma.rn.f64 d, a, b, c;',
    '// gemma.f64',
  ])
    assert.not.ok(prefersCpu(line), line);
});

test.run();
