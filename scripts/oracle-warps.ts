/**
 * `bun scripts/oracle-warps.ts COUNT [FROM]`: recorded programs of warp collectives, compiled for macOS 15, in the independent oracle under three
 * orders of lanes. Prints what differs, and counts by outcome and by how the kernel checks its masks; exits 1 if anything differs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeWarps, oracleOrders } from '../spec/support/warps/oracle.ts';

const [count = 200, from = 0] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'cumetal-oracle-'));
const counts = new Map<string, number>();
for (let number = from; number < from + count; number++)
  for (const order of oracleOrders) {
    const { outcome, why, masks } = judgeWarps(folder, number, order);
    const key = `${outcome}, masks checked: ${masks}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (outcome === 'differs' || outcome === 'fails') console.log(`${number} ${order} ${outcome} (${masks}): ${why.trim().split('\n')[0]}`);
  }
rmSync(folder, { recursive: true, force: true });
for (const [key, runs] of [...counts].sort()) console.log(`${key}: ${runs} runs`);
if ([...counts.keys()].some((key) => key.startsWith('differs'))) process.exitCode = 1;
