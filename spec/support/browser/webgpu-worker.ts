/** Runs in a worker of a page: a kernel on the WebGPU device of the package, as `spec/browser/wgsl.spec.ts` wants it. */
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { compile } from '../../../src/compile/index.ts';
import { openDevice, prepareWebgpu } from '../../../src/device/index.ts';

/** What the device did. */
export interface DeviceAnswer {
  readonly kind?: string;
  /** Diagnostics. */
  readonly said: readonly string[];
  readonly words: readonly number[];
}

/** The threads of a block add their numbers in shared memory; the first one stores the sum where a pointer in memory leads. */
const text = `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry sums(.param .u64 list)
{
  .reg .pred first; .reg .b32 t, b, s; .reg .b64 l, p, w; .shared .align 4 .b32 sum;
  ld.param.u64 l, [list]; mov.u32 t, %tid.x; mov.u32 b, %ctaid.x;
  setp.eq.u32 first, t, 0; @first st.shared.u32 [sum], 0;
  bar.sync 0;
  red.shared.add.u32 [sum], t;
  bar.sync 0;
  mul.wide.u32 w, b, 8; ld.global.u64 p, [l]; add.s64 p, p, w; ld.shared.u32 s, [sum];
  @first st.global.u32 [p], s;
  ret;
}`;

async function run(): Promise<DeviceAnswer> {
  const failure = await prepareWebgpu();
  if (failure !== undefined) return { said: [failure], words: [] };
  const diagnostics = new Diagnostics(new SourceFile('sums.ptx', text));
  const said = (): string[] => diagnostics.list.flatMap(({ message, notes }) => [message, ...notes]);
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  const device = openDevice('webgpu', diagnostics);
  const module = compiled && device?.load(compiled.metallib, diagnostics);
  if (!device || !module) return { said: said(), words: [] };
  const [list, sums] = [device.allocate(8, diagnostics)!, device.allocate(16, diagnostics)!];
  list.write(new Uint8Array(BigUint64Array.of(sums.deviceAddress()).buffer));
  const shape = { grid: [2, 1, 1], block: [300, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
  module.launch({ kernel: 'sums', ...shape, args: [{ kind: 'buffer', buffer: list }] }, diagnostics);
  const words = [...new Uint32Array(sums.read().buffer)];
  device.close();
  return { kind: device.info.kind, said: said(), words };
}

void run().then(
  (answer) => globalThis.postMessage(answer),
  (error: unknown) => globalThis.postMessage({ said: [String(error)], words: [] }),
);
