/**
 * Structured control flow: random graphs, reducible and not, are written as loops, choices and scopes, and the text is run. The blocks that it
 * visits must be those of a walk of the graph, which knows nothing of structure.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  addBlockParam,
  type Block,
  builder,
  cfgOf,
  dominatorsOf,
  type Edge,
  type Kernel,
  loopsOf,
  renumber,
  type Value,
} from '../../src/ir/index.ts';
import { type FlowWriter, realScopes, writeTree } from '../../src/text/flow.ts';
import { newLines } from '../../src/text/lines.ts';
import { type Statement, structure } from '../../src/text/structure.ts';
import { cSyntax } from '../../src/text/syntax.ts';
import { randomFractions } from '../support/lcg.ts';

const test = suite('text/structure');

const empty = (): Kernel => ({
  name: 'k',
  params: [],
  variables: [],
  blocks: [],
  insts: [],
  locs: [],
  maxThreads: undefined,
  requiredThreads: undefined,
});

/** A kernel of blocks that branch anywhere; each block has an instruction, and its id as the condition. */
function randomKernel(seed: number): Kernel {
  const next = randomFractions(seed);
  const pick = (n: number): number => Math.floor(next() * n);
  const kernel = empty();
  const count = 2 + pick(9);
  for (let i = 0; i < count; i++) addBlock(kernel);
  const conds = kernel.blocks.map((block) => {
    if (block.id > 0 && pick(3) === 0) addBlockParam(kernel, block, 'i32');
    const b = builder(kernel, block);
    return b.icmp(b.sreg('i32', { name: 'tid.x' }), b.const('i32', block.id), { pred: 'eq' });
  });
  const edge = (from: Block): Edge => {
    // Mostly to a near block, so that loops nest.
    const near = from.id - 2 + pick(5);
    const to = kernel.blocks[pick(3) > 0 ? Math.min(count - 1, Math.max(1, near)) : 1 + pick(count - 1)]!;
    return { block: to, args: to.params.map(() => builder(kernel, from).const('i32', 0)) };
  };
  kernel.blocks.forEach((block, i) => {
    const kind = pick(10);
    if (kind < 2 && i > 0) block.end = { op: 'ret' };
    else if (kind < 5) block.end = { op: 'br', to: edge(block) };
    else block.end = { op: 'condbr', cond: conds[i]!, then: edge(block), else: edge(block) };
  });
  const { order } = cfgOf(kernel);
  kernel.blocks = kernel.blocks.filter(({ id }) => order.includes(id));
  renumber(kernel);
  return kernel;
}

/** The way of a condition, by the number of the step: any function will do. */
const choices =
  (seed: number): ((step: number) => boolean) =>
  (step) =>
    ((step + 1) * (seed * 2 + 7919)) % 7 < 3;

const maxSteps = 60;

function walk(kernel: Kernel, choose: (step: number) => boolean): string[] {
  const seen: string[] = [];
  let block: Block | undefined = kernel.blocks[0];
  while (block && seen.length < maxSteps) {
    seen.push(`block ${block.id}`);
    const { end }: Block = block;
    const edge: Edge | undefined = end.op === 'ret' ? undefined : end.op === 'br' ? end.to : choose(seen.length) ? end.then : end.else;
    block = edge?.block;
  }
  return seen;
}

/** The text of a kernel as JavaScript, whose statements are those of C here. */
function textOf(kernel: Kernel): string {
  const cfg = cfgOf(kernel);
  const dominators = dominatorsOf(cfg);
  const { isReducible } = loopsOf(cfg, dominators);
  const tree: Statement[] = structure(kernel, { cfg, dominators, entry: 0, isReducible, isLast: () => false });
  const lines = newLines();
  const writer: FlowWriter = {
    body: (block) => lines.add(`step(${block.id});`),
    declare: () => undefined,
    // A mere return may stand for a jump to it.
    transfer: () => undefined,
    condition: (_: Value, isNegated) => `${isNegated ? '!' : ''}choose()`,
    returns: () => undefined,
    leave: () => undefined,
    add: (line) => lines.add(line),
    indent: (write) => lines.indent(write),
    capture: (write) => lines.capture(write),
    append: (list) => lines.append(list),
    far: () => 'leaving',
    syntax: cSyntax,
    next: () => 'next',
  };
  writeTree(writer, tree, realScopes(tree, false), false);
  return lines.text();
}

class Over extends Error {}

function run(text: string, choose: (step: number) => boolean): string[] {
  const seen: string[] = [];
  const step = (id: number): void => {
    seen.push(`block ${id}`);
    if (seen.length >= maxSteps) throw new Over();
  };
  try {
    new Function('step', 'choose', `let leaving = 0, next = 0;\n${text}`)(step, () => choose(seen.length));
  } catch (error) {
    if (!(error instanceof Over)) throw error;
  }
  return seen;
}

test('the text of a random graph visits the blocks of the graph', () => {
  let [irreducible, far] = [0, 0];
  for (let seed = 1; seed <= 1500; seed++) {
    const kernel = randomKernel(seed);
    const cfg = cfgOf(kernel);
    if (!loopsOf(cfg, dominatorsOf(cfg)).isReducible) irreducible++;
    const text = textOf(kernel);
    if (text.includes('leaving')) far++;
    for (let way = 0; way < 4; way++) {
      const choose = choices(way);
      assert.equal(run(text, choose), walk(kernel, choose), `seed ${seed}, way ${way}\n${text}`);
    }
  }
  assert.ok(irreducible > 50, `${irreducible} irreducible graphs`);
  assert.ok(far > 25, `${far} graphs with jumps over several constructs`);
});

test('a guard is an early return, a loop that tests first a while', () => {
  const kernel = empty();
  const [start, head, body, rest, out] = [0, 1, 2, 3, 4].map(() => addBlock(kernel)) as [Block, Block, Block, Block, Block];
  const cond = (block: Block): Value => {
    const b = builder(kernel, block);
    return b.icmp(b.sreg('i32', { name: 'tid.x' }), b.const('i32', 7), { pred: 'eq' });
  };
  const to = (block: Block): Edge => ({ block, args: [] });
  start.end = { op: 'condbr', cond: cond(start), then: to(out), else: to(head) };
  head.end = { op: 'condbr', cond: cond(head), then: to(body), else: to(rest) };
  body.end = { op: 'br', to: to(head) };
  cond(body);
  cond(rest);
  rest.end = { op: 'br', to: to(out) };
  assert.is(
    textOf(kernel),
    [
      'step(0);',
      'if (choose()) return;',
      'for (;;) {',
      '  step(1);',
      '  if (!choose()) break;',
      '  step(2);',
      '}',
      'step(3);',
      'return;',
      '',
    ].join('\n'),
  );
});

test.run();
