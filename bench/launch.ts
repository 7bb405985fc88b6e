/**
 * What a launch costs the host: an empty kernel on an NVIDIA GPU, through `bun:ffi` and by a program in C that makes the same calls of
 * libcuda, in turns. `CC` names the compiler, and `CUMETAL_LAUNCH_PEER` the program where it is built already.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Device } from '../src/api/index.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { reflect } from '../src/compile/index.ts';
import { cudaDeviceSynchronize, cudaLaunchKernel, cumetalLastError, cumetalUseDevice } from '../src/cudart/index.ts';
import { openDevice } from '../src/device/index.ts';
import { openCuda } from '../src/ffi/index.ts';
import { type Bench, median, type Row } from './report.ts';

const ptx = `.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .u64 out, .param .u32 n, .param .f32 factor)
{
  .reg .b32 t; .reg .pred q; .reg .b64 p;
  ld.param.u64 p, [out]; mov.u32 t, %nctaid.x; setp.eq.u32 q, t, 0; @q st.global.u32 [p], t;
  ret;
}
`;

/** Launches in a turn, and turns. */
const [count, turns] = [20_000, 7];

/**
 * Microseconds of a call alone, of a call and waiting for the kernel, and of both with the kernel's time taken by events. Then the API under
 * CUDA's names, which waits for a kernel and takes its time as well.
 */
interface Times {
  readonly call: number;
  readonly wait: number;
  readonly timed: number;
  readonly named?: number;
}

/** Nothing where there is no GPU. */
export async function launching(): Promise<Bench | undefined> {
  const { binding, failures } = openCuda();
  if (!binding) {
    console.error(failures.join('; ') || 'there is no CUDA driver here');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  try {
    const file = join(folder, 'nothing.ptx');
    writeFileSync(file, ptx);
    const peer = process.env.CUMETAL_LAUNCH_PEER || build(folder);
    const [ours, others]: [Times[], Times[]] = [[], []];
    for (let turn = 0; turn < turns; turn++) {
      others.push(read([peer, file, String(count)]));
      ours.push({ ...timesOf(), named: await timeOfNames() });
    }
    const row = (name: string, of: keyof Times, peerOf: keyof Times = of): Row => {
      const [mine, other] = [median(ours.map((times) => times[of]!)), median(others.map((times) => times[peerOf]!))];
      return { name, ours: mine, other, unit: 'us', ratio: other / mine };
    };
    const rows = [
      row('the call', 'call'),
      row('call and wait', 'wait'),
      row('launch with its time', 'timed'),
      row('cudaLaunchKernel, cudaDeviceSynchronize', 'named', 'timed'),
    ];
    return { bench: 'launch', about: 'an empty kernel launched through bun:ffi, and from C, on the GPU', rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function build(folder: string): string {
  const program = join(folder, 'launch');
  const { exitCode, stderr } = Bun.spawnSync([process.env.CC || 'cc', '-O2', join(import.meta.dirname, 'launch.c'), '-ldl', '-o', program]);
  if (exitCode !== 0) throw new Error(`the C compiler does not build the peer: ${stderr}`);
  return program;
}

function read(command: readonly string[]): Times {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command]);
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`);
  const [call = Number.NaN, wait = Number.NaN, timed = Number.NaN] = stdout.toString().trim().split(' ').map(Number);
  return { call, wait, timed };
}

function timesOf(): Times {
  const diagnostics = new Diagnostics(new SourceFile('nothing.ptx', ptx));
  const device = openDevice('cuda', diagnostics)!;
  const kernels = reflect(diagnostics.file!, {}, diagnostics)!.kernels;
  const module = device.loadPtx!({ source: diagnostics.file!, kernels }, diagnostics)!;
  const buffer = device.allocate(4096, diagnostics)!;
  const bytes = (value: ArrayBufferView): Uint8Array => new Uint8Array(value.buffer);
  const args = [
    { kind: 'buffer', buffer },
    { kind: 'bytes', bytes: bytes(Uint32Array.of(7)) },
    { kind: 'bytes', bytes: bytes(Float32Array.of(2.5)) },
  ] as const;
  const request = { kernel: 'nothing', grid: [1, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 0 } as const;
  for (let i = 0; i < count / 10; i++) if (!module.launch(request, diagnostics)) throw new Error(diagnostics.list[0]?.message);
  const calls = timesOfCalls();
  const from = performance.now();
  for (let i = 0; i < count; i++) module.launch(request, diagnostics);
  const timed = ((performance.now() - from) * 1000) / count;
  device.close();
  return { ...calls, timed };
}

/** Through the API under CUDA's names. */
async function timeOfNames(): Promise<number> {
  const device = Device.open('cuda');
  cumetalUseDevice(device);
  const kernel = device.load(ptx).kernel();
  const args = [device.allocate('u8', 4096).address, 7, 2.5];
  const one = async (): Promise<void> => {
    const error = cudaLaunchKernel(kernel, 1, 32, args);
    if (error || (await cudaDeviceSynchronize())) throw new Error(cumetalLastError()?.message);
  };
  for (let i = 0; i < count / 10; i++) await one();
  const from = performance.now();
  for (let i = 0; i < count; i++) await one();
  const spent = performance.now() - from;
  device.close();
  return (spent * 1000) / count;
}

/** By the driver's calls alone, as the C program makes them. The device keeps the context alive meanwhile. */
function timesOfCalls(): Pick<Times, 'call' | 'wait'> {
  const { binding } = openCuda();
  const { handle } = binding!.module(ptx);
  const kernel = binding!.function(handle!, 'nothing')!;
  const stream = binding!.stream()!;
  const args = binding!.pack([8, 4, 4]);
  const address = binding!.allocate(4096)!;
  const launch = { kernel, grid: [1, 1, 1], block: [32, 1, 1], shared: 0, stream, args } as const;
  args.words[0] = address;
  for (let i = 0; i < count / 10; i++) binding!.launch(launch);
  binding!.synchronize(stream);
  let spent = 0;
  for (let i = 0; i < count / 100; i++) {
    const from = performance.now();
    for (let j = 0; j < 100; j++) binding!.launch(launch);
    spent += performance.now() - from;
    if (!binding!.synchronize(stream)) throw new Error(binding!.lastFault().text);
  }
  const from = performance.now();
  for (let i = 0; i < count; i++) {
    binding!.launch(launch);
    binding!.synchronize(stream);
  }
  const whole = performance.now() - from;
  binding!.endStream(stream);
  binding!.free(address);
  binding!.unload(handle!);
  return { call: (spent * 1000) / count, wait: (whole * 1000) / count };
}
