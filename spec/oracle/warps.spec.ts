/**
 * Random programs of warp collectives for Apple GPUs, in the independent oracle: lanes of a simdgroup may be anywhere, and an operation applies
 * to those that are there. A kernel gives what an NVIDIA H200 gave, or stops itself by its fault word; it never gives anything else.
 * `bun scripts/oracle-warps.ts COUNT` runs more of them, and counts both.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { need } from '../support/need.ts';
import { oracleTools } from '../support/oracle.ts';
import { judgeWarps, oracleOrders } from '../support/warps/oracle.ts';

const test = suite('oracle/warps');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

for (const number of [2, 5, 6, 11])
  need(test, oracleTools, `program ${number}`, () => {
    const { outcome, why } = judgeWarps(folder, number, oracleOrders[number % oracleOrders.length]!);
    assert.ok(outcome === 'same' || outcome === 'stopped', `${outcome}: ${why}`);
  });

test.run();
