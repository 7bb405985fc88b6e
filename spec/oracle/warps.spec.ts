/**
 * Programs of warp collectives for Apple GPUs, in the independent oracle: lanes of a simdgroup may be anywhere, and an operation applies to those
 * that are there. A random program gives what an NVIDIA H200 gave, and a directed one what the model of a warp gives.
 * `bun scripts/oracle-warps.ts COUNT` runs more of them, and counts the outcomes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { need } from '../support/need.ts';
import { oracleTools } from '../support/oracle.ts';
import { directed, expectedOf } from '../support/warps/directed.ts';
import { judgeProgram, judgeWarps, oracleOrders } from '../support/warps/oracle.ts';
import { outputDigest } from '../support/warps/recording.ts';

const test = suite('oracle/warps');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

for (const number of [2, 5, 6, 11])
  need(test, oracleTools, `program ${number}`, () => {
    const { outcome, why } = judgeWarps(folder, number, oracleOrders[number % oracleOrders.length]!);
    assert.is(outcome, 'same', why);
  });

for (const [i, [name, program]] of Object.entries(directed).entries())
  need(test, oracleTools, name, () => {
    const { outcome, why } = judgeProgram(folder, program, outputDigest(expectedOf(program)), oracleOrders[i % oracleOrders.length]!);
    assert.is(outcome, 'same', why);
  });

test.run();
