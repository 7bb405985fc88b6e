/** Runs in a worker of the page of `scripts/chromium.ts`: the kernels on the WebGPU device and on the CPU device, in alternation. */
import { launchers, shapesOf } from '../../bench/webgpu-launches.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openDevice, prepareWebgpu } from '../../src/device/index.ts';

/** What the page is to run. */
export interface Work {
  readonly library: readonly number[];
  readonly count: number;
  readonly rounds: number;
}

/** The best milliseconds of each kernel, or why there are none. */
export interface Measured {
  readonly error?: string;
  readonly names?: readonly string[];
  readonly rows?: readonly { readonly name: string; readonly webgpu: number; readonly cpu: number }[];
}

async function measure({ library, count, rounds }: Work): Promise<Measured> {
  const failure = await prepareWebgpu();
  if (failure !== undefined) return { error: failure };
  const diagnostics = new Diagnostics();
  const [gpu, cpu] = [openDevice('webgpu', diagnostics), openDevice('cpu', diagnostics, { threads: 1 })];
  if (!gpu || !cpu) return { error: diagnostics.list.map(({ message }) => message).join('; ') };
  // SwiftShader takes minutes to compile the others with exact floats.
  const shapes = shapesOf(count).filter(({ name }) => name !== 'nbody' && name !== 'softmax');
  const bytes = new Uint8Array(Float32Array.from({ length: count }, (_, i) => ((i * 2654435761) >>> 0) / 2 ** 32).buffer);
  const [mine, others] = [gpu, cpu].map((device) => launchers(device, Uint8Array.from(library), shapes, bytes)) as [
    (() => number)[],
    (() => number)[],
  ];
  const rows = shapes.map(({ name }, i) => {
    let [webgpu, own] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round++) {
      webgpu = Math.min(webgpu, mine[i]!());
      own = Math.min(own, others[i]!());
    }
    return { name, webgpu, cpu: own };
  });
  return { names: [gpu.info.name, cpu.info.name], rows };
}

globalThis.onmessage = ({ data }: MessageEvent<Work>) =>
  void measure(data).then(
    (measured) => globalThis.postMessage(measured),
    (error: unknown) => globalThis.postMessage({ error: String(error) }),
  );
