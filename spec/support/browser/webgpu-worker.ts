/** Runs in a worker of a page: a kernel on the WebGPU device of the package, as `spec/browser/wgsl.spec.ts` wants it. */
import { Device } from '../../../src/api/index.ts';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { blockIndex, blockReduce, f32, kernel, local, loop, ptr, threadIndex, u32, type Value, when } from '../../../src/build/index.ts';
import { compile } from '../../../src/compile/index.ts';
import { openDevice, prepareWebgpu } from '../../../src/device/index.ts';

/** What the device did. */
export interface DeviceAnswer {
  readonly kind?: string;
  /** Diagnostics. */
  readonly said: readonly string[];
  readonly words: readonly number[];
  /** Elements of the product of a matrix and a normalized vector. */
  readonly product?: readonly number[];
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

const threads = 128;
const total = (value: Value<'f32'>): Value<'f32'> => blockReduce(value, (a, b) => a.add(b), { threads, identity: 0 });

/** The fused kernel of docs/build.md, on the device by WebGPU. */
async function normalizedProduct(): Promise<number[]> {
  const parameters = { x: ptr(f32), gain: ptr(f32), w: ptr(f32), y: ptr(f32), n: u32 };
  const made = kernel('normalized_product', parameters, ({ x, gain, w, y, n }) => {
    const row = blockIndex();
    const [squares, products] = [local(f32, 0), local(f32, 0)];
    loop(threadIndex(), n, threads, (k) => {
      const value = x.at(k).get();
      squares.set(value.fma(value, squares));
      products.set(value.mul(gain.at(k)).fma(w.at(row.mad(n, k)), products));
    });
    const mean = total(squares.get()).div(n.to(f32));
    const product = total(products.get());
    when(threadIndex().eq(0), () => y.at(row).set(product.mul(mean.rsqrt())));
  });
  // Each device of a page has a connection of its own.
  const device = await Device.connect('webgpu');
  const [x, gain] = [device.bufferOf('f32', [3, 4, 5, 4, 3]), device.bufferOf('f32', [1, 1, 2, 1, 1])];
  const w = device.bufferOf('f32', [1, 1, 1, 1, 1, 0, 0, 1, 0, 0]);
  const y = device.allocate('f32', 2);
  made.launch(device, { grid: 2, block: threads, args: { x, gain, w, y, n: 5 } });
  const values = [...(await y.read())];
  await device.close();
  return values;
}

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
  return { kind: device.info.kind, said: said(), words, product: await normalizedProduct() };
}

void run().then(
  (answer) => globalThis.postMessage(answer),
  (error: unknown) => globalThis.postMessage({ said: [String(error)], words: [] }),
);
