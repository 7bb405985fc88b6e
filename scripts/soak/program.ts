/**
 * The program of a soak: it repeats one thing, `rounds` times, and prints its memory as JSON after each of ten parts: bytes that the process
 * holds, bytes of JavaScript's heap, and bytes of WebAssembly memories. `program KIND ROUNDS`.
 */
import { Device } from '../../src/index.ts';

/** Bytes at one moment. */
export interface Level {
  /** What has been done so far. */
  readonly done: number;
  readonly rss: number;
  readonly heap: number;
  /** Of all WebAssembly memories that this thread has made and not released. */
  readonly wasm: number;
}

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';
const bump = `${head}.visible .entry bump(.param .u64 word)
{ .reg .b64 p; ld.param.u64 p, [word]; red.global.add.u32 [p], 1; ret; }`;
/** A module with variables of 1 MiB. */
const counting = `${head}.global .align 4 .b8 table[1048576];
.visible .entry count() { .reg .b32 x; ld.global.u32 x, [table]; add.u32 x, x, 1; st.global.u32 [table], x; ret; }`;

/** Memories by weak reference, so that the count does not keep them. */
const memories: WeakRef<WebAssembly.Memory>[] = [];
const RealMemory = WebAssembly.Memory;
WebAssembly.Memory = class extends RealMemory {
  constructor(descriptor: WebAssembly.MemoryDescriptor) {
    super(descriptor);
    // One without a maximum is not of a device: it only has V8 collect.
    if (descriptor.maximum !== undefined) memories.push(new WeakRef(this));
  }
};

/** Collects garbage, as far as the program may. */
async function collect(): Promise<void> {
  const scope = globalThis as { gc?: () => void; Bun?: { gc(isSync: boolean): void } };
  for (let i = 0; i < 3; i++) {
    scope.Bun?.gc(true);
    scope.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

async function levelAt(done: number): Promise<Level> {
  await collect();
  const { rss, heapUsed } = process.memoryUsage();
  const wasm = memories.reduce((sum, each) => sum + (each.deref()?.buffer.byteLength ?? 0), 0);
  return { done, rss, heap: heapUsed, wasm };
}

const one = { grid: 1, block: 32, args: [] } as const;

/** What a round of each kind does. */
const kinds: Readonly<Record<string, () => { round(i: number): Promise<void>; end(): void }>> = {
  /** Launches of one kernel, which are awaited by hundreds. */
  launches() {
    const device = Device.open('cpu');
    const [kernel, word] = [device.load(bump).kernel(), device.allocate('u32', 1)];
    return {
      async round(i) {
        kernel.launch({ ...one, args: [word] });
        if (i % 100 === 99) await device.synchronize();
      },
      end: () => device.close(),
    };
  },
  /** Modules that are loaded, launched and closed. */
  modules() {
    const device = Device.open('cpu');
    return {
      async round() {
        const module = device.load(counting);
        const work = module.kernel().launch(one);
        module.close();
        await work.ended();
      },
      end: () => device.close(),
    };
  },
  /** Devices, each with a buffer and a launch. */
  devices: () => ({
    async round() {
      const device = Device.open('cpu');
      const word = device.allocate('u32', 1 << 22);
      await device
        .load(bump)
        .kernel()
        .launch({ ...one, args: [word] })
        .ended();
      device.close();
    },
    end: () => {},
  }),
};

const [, , kind = 'launches', count = '1000'] = process.argv;
const rounds = Number(count);
const { round, end } = kinds[kind]!();
const levels: Level[] = [];
const part = Math.max(1, Math.floor(rounds / 10));
for (let i = 0; i < rounds; i++) {
  await round(i);
  if ((i + 1) % part === 0) levels.push(await levelAt(i + 1));
}
end();
console.log(JSON.stringify(levels));
