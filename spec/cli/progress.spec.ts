/** The bar of a long launch: when it is drawn, what it says, and that it goes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { progressBar } from '../../src/cli/terminal/progress-bar.ts';

const test = suite('cli/progress');

function rig() {
  const lines: string[] = [];
  let time = 1000;
  const bar = progressBar('k', { status: (text) => void lines.push(text) }, () => time);
  return {
    lines,
    bar,
    at(ms: number): void {
      time = 1000 + ms;
    },
  };
}

test('a launch that is over soon shows nothing', () => {
  const { lines, bar, at } = rig();
  bar.update(1, 10);
  at(499);
  bar.update(9, 10);
  bar.clear();
  assert.equal(lines, []);
});

test('how much is done, since when, and how long it will take', () => {
  const { lines, bar, at } = rig();
  at(600);
  bar.update(0, 10);
  at(3000);
  bar.update(5, 10);
  at(6000);
  bar.update(10, 10);
  assert.equal(lines, [
    `k [${'-'.repeat(24)}]   0 %  1 s elapsed`,
    `k [${'#'.repeat(12)}${'-'.repeat(12)}]  50 %  3 s elapsed, 3 s left`,
    `k [${'#'.repeat(24)}] 100 %  6 s elapsed, 0 s left`,
  ]);
  bar.clear();
  bar.clear();
  assert.equal(lines.slice(3), ['']);
});

test('a terminal that shows no bar is asked for none', () => {
  let time = 0;
  const bar = progressBar('k', {}, () => time);
  time = 600;
  assert.not.throws(() => bar.update(1, 2));
  assert.not.throws(() => bar.clear());
});

test.run();
