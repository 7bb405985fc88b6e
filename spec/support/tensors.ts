/** Kernels of one tensor copy, on a CPU device of their own: maps have addresses of the device. */
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type Device, type DeviceModule, type LaunchArgument, openCpuDevice } from '../../src/device/index.ts';
import { compiled, ptx } from './async.ts';

export interface Copy {
  /** The bytes of the tensor, and its map by its address. */
  readonly memory: Uint8Array;
  readonly map: (address: bigint) => Uint8Array;
  readonly start: readonly number[];
  readonly mode?: 'gather' | 'scatter' | 'columns' | 'w' | 'w128';
  readonly offsets?: readonly number[];
}

const params = { params: ', .param .align 64 .b8 p1[128], .param .u64 p2', shared: 16384 };
const mapped = 'mov.b64 map, p1;\ncvta.param.u64 map, map;\nld.param.u64 in, [p2];\n';
const list = (numbers: readonly number[]): string => `{${numbers.join(', ')}}`;

export class TensorKernels {
  readonly device: Device = openCpuDevice({ threads: 1 });

  readonly #modules = new Map<string, DeviceModule>();
  readonly #target: 'cpu' | 'macos15';

  constructor(target: 'cpu' | 'macos15' = 'cpu') {
    this.#target = target;
  }

  close(): void {
    for (const module of this.#modules.values()) module.close();
    this.device.close();
  }

  /** The kernel with a body, compiled once. */
  #module(body: string): DeviceModule {
    const known = this.#modules.get(body);
    if (known) return known;
    const { metallib, diagnostics } = compiled(ptx(body, params), this.#target);
    if (!metallib) throw new Error(diagnostics.list.map(({ message, labels }) => `${message} ${labels[0]?.text}`).join('; '));
    const module = this.device.load(metallib, diagnostics)!;
    this.#modules.set(body, module);
    return module;
  }

  /** Launches a body: buffers are `out` and `in`, the second one the tensor. Returns both and what is reported. */
  launch(
    body: string,
    out: Uint8Array,
    { memory, map }: Pick<Copy, 'memory' | 'map'>,
  ): { out: Uint8Array; memory: Uint8Array; said: string } {
    const diagnostics = new Diagnostics();
    const buffers = [out, memory].map((bytes) => {
      const buffer = this.device.allocate(bytes.length, diagnostics)!;
      buffer.write(bytes);
      return buffer;
    });
    const [first, tensor] = buffers.map((buffer): LaunchArgument => ({ kind: 'buffer', buffer }));
    const bytes = map(buffers[1]!.deviceAddress()!);
    const own = new Diagnostics();
    const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
    this.#module(body).launch({ kernel: 'k', ...shape, args: [first!, { kind: 'bytes', bytes }, tensor!] }, own);
    const [a, b] = buffers.map((buffer) => buffer.read());
    for (const buffer of buffers) buffer.free();
    return { out: a!, memory: b!, said: own.list.map(({ message }) => message).join('; ') };
  }

  /** All of shared memory after a copy of a part into it. */
  load(copy: Copy & { readonly bytes: number }): Uint8Array {
    const { out, said } = this.launch(loadOf(copy), new Uint8Array(8192), copy);
    if (said) throw new Error(said);
    return out;
  }

  faultOf(copy: Copy & { readonly bytes: number }): string {
    return this.launch(loadOf(copy), new Uint8Array(8192), copy).said;
  }

  /** The tensor after a copy of shared memory into a part, or a reduction. */
  store({ shared, op, ...copy }: Copy & { readonly shared: Uint8Array; readonly op?: string }): Uint8Array {
    const axes = copy.mode === 'scatter' ? 2 : copy.start.length;
    const kind = copy.mode === 'scatter' ? 'tile::scatter4' : copy.mode === 'columns' ? 'im2col_no_offs' : 'tile';
    const name = op ? `cp.reduce.async.bulk.tensor.${axes}d.global.shared::cta.${op}` : `cp.async.bulk.tensor.${axes}d.global.shared::cta`;
    const body = `${mapped}mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared.b64 state, [bar], 8192;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [out], 8192, [bar];
${name}.${kind}.bulk_group [map, ${list(copy.start)}], [data];`;
    const { memory, said } = this.launch(body, shared, copy);
    if (said) throw new Error(said);
    return memory;
  }
}

function loadOf({ start, bytes, mode, offsets = [] }: Copy & { readonly bytes: number }): string {
  const axes = mode === 'gather' ? 2 : start.length;
  const kind = { gather: '.tile::gather4', columns: '.im2col', w: '.im2col::w', w128: '.im2col::w::128', scatter: '', tile: '.tile' }[
    mode ?? 'tile'
  ];
  const more = mode === 'columns' || mode === 'w' || mode === 'w128' ? `, ${list(offsets)}` : '';
  return `${mapped}mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared.b64 state, [bar], ${bytes};
cp.async.bulk.tensor.${axes}d.shared::cluster.global${kind}.mbarrier::complete_tx::bytes [data], [map, ${list(start)}], [bar]${more};
mbarrier.test_wait.shared.b64 p, [bar], state;
@!p trap;
cp.async.bulk.global.shared::cta.bulk_group [out], [data], 8192;`;
}
