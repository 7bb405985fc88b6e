/** Rows of the page of results of HeCBench. Reasons are in our words, because a program's output is not ours. */
import { withoutInputs } from './inputs.ts';
import type { Result } from './table.ts';

export interface Row extends Pick<Result, 'name' | 'stage' | 'needs' | 'args' | 'options' | 'cores'> {
  /** Empty if there is nothing to say. */
  readonly reason: string;
  /** Whether the program says if its results are right. */
  readonly checks: boolean;
  /** CPU time. */
  readonly seconds?: number;
}

/** Reasons that no result says. */
const known: Readonly<Record<string, string>> = {
  braycurtis: 'a Python extension of PyTorch',
  convolutionDeformable: 'a Python extension of PyTorch',
  dwconv1d: 'a Python extension of PyTorch',
  dp: 'only for `nvc++ -stdpar`',
  'saxpy-ompt': 'only for `nvc++ -mp`',
  hpl: 'MPI, and a makefile for each machine',
  miniDGS: 'MPI and ParMETIS',
  'mf-sgd': '`__shfl` without `_sync`, which CUDA 13 does not have',
  kmeans: 'function definitions of C before 1989 in a C++ source',
  egs: '`using namespace std` makes its `stack` ambiguous with libc++',
  attentionMultiHeadKVCache: 'a template member without `template`, which clang refuses',
  bitpermute: '4 GiB of host memory, and what the program itself has',
  btree: 'one allocation of 4 GiB',
  car: '6.3 GiB of host memory, and 5.9 of the device',
  concat: '4.5 GiB of host memory',
  mergeVS: '4 GiB of host memory, and what the program itself has',
  'softmax-online': 'more than 4 GiB of host memory',
  storeKVCache: 'allocations of 16 GiB',
  vol2col: '5.7 GiB of host memory',
  spsm: 'a singular matrix, at every size',
  sssp: 'a race between threads of a block, which `--sanitize` names',
  floydwarshall2: 'a race between threads of a block, which `--sanitize` names',
  p2p: 'it needs two devices',
};

/** Those without input end in many ways. */
const endsWithoutInput = new Set(['run', 'wrong', 'silent', 'time']);

/** What the page keeps of a result. */
export function rowOf(result: Result): Row {
  const { name, needs, checks, args, options, cores, runSeconds } = result;
  const stage = withoutInputs.has(name) && endsWithoutInput.has(result.stage) ? 'no data' : result.stage;
  return {
    name,
    stage,
    reason: reasonOf({ ...result, stage }),
    checks: checks !== 'nothing',
    needs,
    ...(args === undefined || args.length === 0 || stage === 'no data' ? {} : { args }),
    ...(options === undefined ? {} : { options }),
    ...(runSeconds === undefined || stage === 'no data' ? {} : { seconds: Math.round(runSeconds * 10) / 10 }),
    ...(cores === undefined ? {} : { cores }),
  };
}

/** The reason of a result in our words. */
function reasonOf({ name, stage, reason, runSeconds }: Result): string {
  const own = known[name];
  if (stage === 'pass' || stage === 'twin') return '';
  if (own !== undefined) return own;
  if (stage === 'silent') return '';
  if (stage === 'time') return `longer than ${Math.ceil((runSeconds ?? 0) / 5) * 5} s`;
  if (stage === 'memory') return 'more than 4 GiB';
  if (stage === 'no data') return 'its input is not in the repository';
  if (stage === 'missing function') return `\`${reason}\``;
  const header = /'([\w./+-]+)' file not found/.exec(reason)?.[1];
  if (header) return `header \`${header}\``;
  const symbol = /undefined symbol: (\w+)/.exec(reason)?.[1] ?? /identifier '(\w+)'/.exec(reason)?.[1];
  return symbol ? `\`${symbol}\`` : '';
}
