/** Memory of a thread's stack (9.7.17), on the CPU device. Source: PTX ISA 9.0. */
import { row } from '../model/row.ts';

const since = { ptx: 7.3, sm: 52 } as const;
const type = ['u32', 'u64'] as const;
const cpuOnly = 'Requires `--target cpu`; a launch says how large the stack is (`run --stack-size`, `cudaLimitStackSize`).';
/** Every allocation has at least this alignment. */
const minAlignBytes = 8;

export const stackRows = [
  row({
    syntax: 'stacksave.type d',
    values: { type },
    since,
    doc: `Returns where the stack ends, a number of bytes here. ${cpuOnly}`,
    source: '9.7.17.1',
    status: 'exact',
    lower: (_, { type }, ir) => (type === 'u32' ? ir.stackTop() : ir.zext('i64', ir.stackTop())),
    cases: () => [],
  }),
  row({
    syntax: 'stackrestore.type a',
    values: { type },
    since,
    doc: `Gives back what was allocated since a \`stacksave\`. Any other value stops the kernel if it is beyond the end of the stack or no multiple of 16. ${cpuOnly}`,
    source: '9.7.17.2',
    status: 'exact',
    lower: ({ a }, { type }, ir) => {
      const to = type === 'u32' ? a : ir.umin(a, ir.const('i64', 0xffff_ffffn));
      const top = type === 'u32' ? to : ir.trunc('i32', to);
      ir.setStackTop(top);
    },
    cases: () => [],
  }),
  row({
    syntax: 'alloca.type d, a{, b}',
    values: { type },
    types: { b: 'u32' },
    since,
    doc: `Allocates so many bytes of the stack until the function returns, aligned to 8 bytes or more. Where there are too few, the kernel stops. ${cpuOnly}`,
    source: '9.7.17.3',
    status: 'exact',
    lower: ({ a, b }, { type }, ir) => {
      const least = ir.const('i32', minAlignBytes);
      const address = ir.alloca(a, b === undefined ? least : ir.umax(b, least));
      return type === 'u32' ? ir.trunc('i32', address) : address;
    },
    cases: () => [],
  }),
];
