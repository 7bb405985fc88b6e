/** Lints that need the flow of a whole kernel: a barrier that only some threads of a block may reach. */
import { catalogue } from '../base/catalogue/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import {
  type Cfg,
  cfgOf,
  edgesOf,
  influenceOf,
  instOf,
  type Kernel,
  operandsOf,
  postDominatorsOf,
  uniformityOf,
  type Value,
} from '../ir/index.ts';

/**
 * Reports CM2210 for each barrier behind a branch whose condition is computed from thread numbers. A loaded value is
 * uniform if its address is: a count that all threads read from memory causes no divergence.
 */
export function lintBarriers(kernel: Kernel, diagnostics: Diagnostics): void {
  const barriers = barriersOf(kernel);
  if (barriers.size === 0) return;
  const cfg = cfgOf(kernel);
  const post = postDominatorsOf(cfg);
  const { divergence } = uniformityOf(kernel, cfg, post);
  if (![...barriers.keys()].some((block) => divergence[block]! > 0)) return;
  const differs = threadDependent(kernel, cfg);
  const divergent = new Set<number>();
  for (const id of cfg.order) {
    const { end } = kernel.blocks[id]!;
    if (end.op !== 'condbr' || !differs[end.cond]) continue;
    for (const block of influenceOf(cfg, id, post.parent[id]!).region) divergent.add(block);
  }
  const found = new Diagnostics(diagnostics.file);
  for (const [block, value] of barriers) {
    if (!divergent.has(block)) continue;
    const span = kernel.locs[value];
    found.report('CM2210', {}, { notes: [catalogue.CM2210.alias], ...(span ? { span } : {}) });
  }
  // One PTX instruction may become several barriers, in different blocks.
  diagnostics.addNew(found.list);
}

/** The first barrier of each block that has one. */
function barriersOf(kernel: Kernel): Map<number, Value> {
  const found = new Map<number, Value>();
  for (const block of kernel.blocks)
    for (const value of block.body) if (instOf(kernel, value).op === 'barrier' && !found.has(block.id)) found.set(block.id, value);
  return found;
}

/** By value: whether it depends on the thread or on a clock, through operands and block parameters. */
function threadDependent(kernel: Kernel, cfg: Cfg): Uint8Array {
  const differs = new Uint8Array(kernel.insts.length);
  for (let grew = true; grew; ) {
    grew = false;
    const mark = (value: Value): void => {
      if (differs[value]) return;
      differs[value] = 1;
      grew = true;
    };
    for (const id of cfg.order) {
      const block = kernel.blocks[id]!;
      for (const value of block.body) {
        const inst = instOf(kernel, value);
        const isOwn = inst.op === 'clock' || (inst.op === 'sreg' && isOfThread(inst.name, kernel));
        if (isOwn || operandsOf(inst).some((operand) => differs[operand])) mark(value);
      }
      for (const { block: to, args } of edgesOf(block.end)) for (const [i, arg] of args.entries()) if (differs[arg]) mark(to.params[i]!);
    }
  }
  return differs;
}

function isOfThread(name: string, { requiredThreads }: Kernel): boolean {
  const axis = /^(?:tid|gid)\.([xyz])$/.exec(name)?.[1];
  if (axis !== undefined) return requiredThreads?.['xyz'.indexOf(axis)] !== 1;
  return name === 'tid.linear' || name === 'laneid' || name === 'warpid';
}
