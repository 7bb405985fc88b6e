/** Kernels of asynchronous copies and their barriers, for specs. */
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { type Launched, launchMetallib } from './launch.ts';

/** The lines before the body of `ptx`. */
const head = (params: string, shared: number): string => `.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p0${params}) {
.reg .b32 x, y, tid, bar, data, turn, stage, parity, full, empty, slot, sum;
.reg .b64 out, state, place, generic, in, map;
.reg .pred p, q;
.shared .align 1024 .b8 buffer[${shared}];
.shared .align 8 .b64 barriers[4];
mov.u32 tid, %tid.x;
mov.u32 bar, barriers;
mov.u32 data, buffer;
mov.u64 generic, barriers;
cvta.shared.u64 generic, generic;
ld.param.u64 out, [p0];
`;

/** A kernel with a body, whose first parameter is `out`; `more` declares others. */
export const ptx = (body: string, { params = '', shared = 4096 } = {}): string => `${head(params, shared)}${body}\nret;\n}\n`;

export function compiled(text: string, target: 'cpu' | 'macos14' | 'macos15' = 'cpu'): { metallib?: Uint8Array; diagnostics: Diagnostics } {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const made = compile(diagnostics.file!, { target }, diagnostics);
  return made ? { metallib: made.metallib, diagnostics } : { diagnostics };
}

/** Code, message, label and help of what is reported of a body. */
export const refusedBy = (body: string, target: 'cpu' | 'macos15' = 'cpu', options: Parameters<typeof ptx>[1] = {}): string[] =>
  compiled(ptx(body, options), target).diagnostics.list.map(
    ({ code, message, labels, help }) => `${code} ${message}: ${labels.map(({ text }) => text).join(' ')} ${help ?? ''}`,
  );

/** The buffers after a launch of one block of one thread, unless others are asked for. */
export function run(
  text: string,
  { args, ...shape }: Pick<Launched, 'args'> & Partial<Launched>,
  target: 'cpu' | 'macos15' = 'cpu',
): Uint8Array[] {
  const { metallib, diagnostics } = compiled(text, target);
  if (!metallib) throw new Error(diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; '));
  return launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 1, ...shape, args });
}

/** What stops a kernel, the line that it names, and the last line of the body. */
export function faultOf(body: string): { message: string; line: number; last: number } {
  const text = ptx(body);
  const { metallib } = compiled(text);
  const device = openCpuDevice({ threads: 1 });
  const diagnostics = new Diagnostics();
  const buffer = device.allocate(4096, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
  device.load(metallib!, diagnostics)!.launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
  device.close();
  const message = diagnostics.list.map((each) => each.message).join('; ');
  return {
    message,
    line: Number(/k\.ptx:(\d+)/.exec(message)?.[1]),
    last: head('', 4096).split('\n').length - 1 + body.split('\n').length,
  };
}
