/** Advice on short kernels and on texts, for launches that a spec gives. */
import { type AdvisedLaunch, advise, type KernelAdvice } from '../../src/advise/index.ts';
import { type Diagnostic, Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';

/** A kernel `k` with the parameters `p`, a pointer, and `n`. */
export interface Short {
  readonly body: string;
  /** Declarations before the kernel. */
  readonly head?: string;
  readonly grid?: number;
  readonly block?: number;
  /** The value of `n`. */
  readonly n?: number;
}

export interface Advised {
  readonly kernel: KernelAdvice;
  readonly list: readonly Diagnostic[];
}

/** The text of a short kernel: `%rd1` is `p`, `%r1` is `%tid.x`, `%r2` is `n`, `%rd2` is the address of element `%tid.x` of `p`. */
export const shortText = ({ body, head = '' }: Short): string => `.version 8.0
.target sm_80
.address_size 64
${head}
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<9>;
  .reg .b32 %r<60>;
  .reg .f32 %f<20>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd2, %rd1, %rd3;
${body}
  ret;
}
`;

/** The advice on a short kernel, or on another one of its text. */
export function adviceOf(short: Short, name = 'k'): Advised {
  const source = new SourceFile('k.ptx', shortText(short));
  const diagnostics = new Diagnostics(source);
  const { grid, block, n } = short;
  const launch: AdvisedLaunch = {
    grid: grid === undefined ? undefined : [grid, 1, 1],
    block: block === undefined ? undefined : [block, 1, 1],
    bytesOf: (index) => (index === 1 && n !== undefined ? new Uint8Array(new Uint32Array([n]).buffer) : undefined),
  };
  const found = advise(source, () => launch, {}, diagnostics);
  if (!found) throw new Error(diagnostics.list.map(({ message, labels }) => `${labels[0]?.span.start} ${message}`).join('; '));
  return {
    kernel: found.find(({ kernel }) => kernel === name)!,
    list: diagnostics.list.filter(({ severity, code }) => code.startsWith('CM23') || severity === 'warning'),
  };
}

/** The codes of the advice on a short kernel, each once, sorted. */
export const codesOf = (short: Short): string[] => [...new Set(adviceOf(short).list.map(({ code }) => code))].sort();
