/** The GPU of a worker, and what it does for each message. */

import { type Dispatch, dispatchesOf } from './dispatches.ts';
import { computeStage, type Gpu, type GpuAdapter, type GpuBuffer, type GpuDevice, type GpuShader, mapRead, usage } from './gpu.ts';
import type { Answer, Ask, Opened } from './messages.ts';

interface Program {
  readonly pipeline: object;
  readonly table: GpuBuffer;
}

interface Service {
  /** What the device needs to live: Dawn ends with the object that made it. */
  readonly owners: readonly object[];
  readonly device: GpuDevice;
  readonly layout: object;
  arena: GpuBuffer;
  readonly programs: Map<number, Program>;
  /** Buffers for the words of launches, which have a size of a power of two. */
  readonly words: GpuBuffer[][];
  lost: string | undefined;
}

/** Limits that a device has the best of its adapter for. */
const wanted = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupStorageSize',
  'maxComputeWorkgroupsPerDimension',
] as const;

/**
 * Of Dawn: shared memory is not cleared before a kernel, as in CUDA; a kernel that needs zeros writes them. Some drivers take half a minute to
 * compile what clears 32 KiB.
 */
const options = ['enable-dawn-features=allow_unsafe_apis,disable_workgroup_init'];

/** The GPU of the page, or that of a package. */
async function findGpu(from: string | undefined): Promise<Gpu | string> {
  if (from === undefined) {
    const { gpu } = (globalThis as { readonly navigator?: { readonly gpu?: Gpu } }).navigator ?? {};
    return gpu ?? 'this browser has no WebGPU here (`navigator.gpu`)';
  }
  const found = (await import(from)) as {
    readonly create?: (options: readonly string[]) => Gpu;
    readonly globals?: object;
    readonly setupGlobals?: () => void;
  };
  if (found.create) {
    Object.assign(globalThis, found.globals);
    return found.create(options);
  }
  found.setupGlobals?.();
  return (globalThis as { readonly navigator?: { readonly gpu?: Gpu } }).navigator?.gpu ?? `${from} gives no WebGPU`;
}

/** A device with the best limits that are wanted. */
async function requestDevice(gpu: Gpu, adapter: GpuAdapter): Promise<GpuDevice> {
  try {
    return await adapter.requestDevice({ requiredLimits: Object.fromEntries(wanted.map((name) => [name, adapter.limits[name]!])) });
  } catch (error) {
    // `bun-webgpu` takes either all limits or none.
    const other = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    const all: Record<string, number> = {};
    for (const name in other?.limits) all[name] = other!.limits[name]!;
    if (!other) throw error;
    return other.requestDevice({ requiredLimits: all });
  }
}

async function open(from: string | undefined): Promise<{ service: Service; opened: Opened } | string> {
  const gpu = await findGpu(from);
  if (typeof gpu === 'string') return gpu;
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) return 'WebGPU finds no adapter: there is no driver for Vulkan, Metal or Direct3D 12';
  const device = await requestDevice(gpu, adapter);
  const entries = [
    { binding: 0, type: 'storage' },
    { binding: 1, type: 'read-only-storage' },
    { binding: 2, type: 'read-only-storage' },
  ].map(({ binding, type }) => ({ binding, visibility: computeStage, buffer: { type } }));
  const service: Service = {
    owners: [gpu, adapter],
    device,
    layout: device.createBindGroupLayout({ entries }),
    arena: newArena(device, 256),
    programs: new Map(),
    words: [],
    lost: undefined,
  };
  void device.lost.then(({ message }) => {
    service.lost = message || 'the driver says no more';
  });
  const { vendor = '', architecture = '', device: model = '', description = '' } = adapter.info ?? {};
  const name = description || [vendor, architecture, model].filter((word) => word !== '').join(' ') || 'a GPU';
  return { service, opened: { name, limits: Object.fromEntries(wanted.map((each) => [each, device.limits[each]!])) } };
}

const newArena = (device: GpuDevice, size: number): GpuBuffer =>
  device.createBuffer({ size, usage: usage.storage | usage.copySource | usage.copyTarget });

/** Runs work, and gives the errors that the device reports for it. */
async function guarded<T>({ device }: Service, work: () => T | Promise<T>): Promise<{ result: T; error: string | undefined }> {
  const kinds = ['validation', 'out-of-memory', 'internal'] as const;
  for (const kind of kinds) device.pushErrorScope(kind);
  const result = await work();
  let error: string | undefined;
  for (const _ of kinds) error = (await device.popErrorScope())?.message ?? error;
  return { result, error };
}

async function grow(service: Service, bytes: number): Promise<Answer> {
  const { device, arena } = service;
  const { result, error } = await guarded(service, () => {
    const made = newArena(device, bytes);
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(arena, 0, made, 0, Math.min(arena.size, bytes));
    device.queue.submit([encoder.finish()]);
    return made;
  });
  if (error !== undefined) return { isGood: false, why: error };
  arena.destroy();
  service.arena = result;
  return { isGood: true };
}

async function read({ device, arena }: Service, offset: number, into: SharedArrayBuffer): Promise<Answer> {
  const size = into.byteLength;
  const copy = device.createBuffer({ size, usage: usage.mapRead | usage.copyTarget });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(arena, offset, copy, 0, size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(mapRead);
  new Uint8Array(into).set(new Uint8Array(copy.getMappedRange()));
  copy.unmap();
  copy.destroy();
  return { isGood: true };
}

/** The errors of a compiler; none where the package does not tell. */
async function messagesOf(module: GpuShader): Promise<string[]> {
  try {
    const { messages } = await module.getCompilationInfo();
    return messages.filter(({ type }) => type === 'error').map(({ lineNum, message }) => `line ${lineNum}: ${message}`);
  } catch {
    return [];
  }
}

async function makeProgram(service: Service, { id, code, entry, constants, table }: Extract<Ask, { ask: 'program' }>): Promise<Answer> {
  const { device, layout, programs } = service;
  const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
  let module: GpuShader | undefined;
  const { result, error } = await guarded(service, () => {
    module = device.createShaderModule({ code });
    const compute = { module, entryPoint: entry, constants };
    return device.createComputePipelineAsync({ layout: pipelineLayout, compute }).catch((why: Error) => why.message);
  });
  if (typeof result === 'string' || error !== undefined)
    return { isGood: false, why: error ?? (result as string), notes: await messagesOf(module!) };
  const bytes = new Uint8Array(Math.max(16, Math.ceil((table?.length ?? 0) / 4) * 4));
  if (table) bytes.set(table);
  const own = device.createBuffer({ size: bytes.length, usage: usage.storage | usage.copyTarget });
  device.queue.writeBuffer(own, 0, bytes);
  programs.set(id, { pipeline: result, table: own });
  return { isGood: true };
}

/** A buffer for the words of the dispatch of a number. */
function wordsOf({ device, words }: Service, at: number, bytes: Uint8Array): GpuBuffer {
  const power = Math.max(6, Math.ceil(Math.log2(bytes.length)));
  words[power] ??= [];
  words[power][at] ??= device.createBuffer({ size: 2 ** power, usage: usage.storage | usage.copyTarget });
  device.queue.writeBuffer(words[power][at]!, 0, bytes);
  return words[power][at]!;
}

/** Dispatches that a command buffer has at most: each has a buffer of its own for its words. */
const dispatchesAtOnce = 256;

/** Dispatches, in order: WebGPU lets each see what those before it have written. */
async function launch(service: Service, ask: Extract<Ask, { ask: 'launch' }>): Promise<Answer> {
  const { device } = service;
  const program = service.programs.get(ask.id)!;
  const { result, error } = await guarded(service, async () => {
    const start = performance.now();
    let batch: Dispatch[] = [];
    for (const dispatch of dispatchesOf(ask)) {
      batch.push(dispatch);
      if (batch.length < dispatchesAtOnce) continue;
      submit(service, program, batch);
      batch = [];
    }
    if (batch.length > 0) submit(service, program, batch);
    await device.queue.onSubmittedWorkDone();
    return performance.now() - start;
  });
  return error === undefined ? { isGood: true, ms: result } : { isGood: false, why: error };
}

function submit(service: Service, { pipeline, table }: Program, batch: readonly Dispatch[]): void {
  const { device, arena, layout } = service;
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  for (const [i, { words, groups }] of batch.entries()) {
    const buffers = [arena, wordsOf(service, i, words), table];
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
    pass.dispatchWorkgroups(...groups);
  }
  pass.end();
  device.queue.submit([encoder.finish()]);
}

/** Answers messages, one after the other. */
export function newServer(): (ask: Ask) => Promise<Answer> {
  let service: Service | undefined;
  const one = async (ask: Ask): Promise<Answer> => {
    if (ask.ask === 'open') {
      const found = await open(ask.from);
      if (typeof found === 'string') return { isGood: false, why: found };
      service = found.service;
      return { isGood: true, opened: found.opened };
    }
    if (!service) return { isGood: false, why: 'no GPU is open' };
    const { device, arena, programs } = service;
    switch (ask.ask) {
      case 'arena':
        return grow(service, ask.bytes);
      case 'write':
        device.queue.writeBuffer(arena, ask.offset, ask.bytes);
        return { isGood: true };
      case 'clear': {
        const encoder = device.createCommandEncoder();
        encoder.clearBuffer(arena, ask.offset, ask.size);
        device.queue.submit([encoder.finish()]);
        return { isGood: true };
      }
      case 'read':
        return read(service, ask.offset, ask.into);
      case 'program':
        return makeProgram(service, ask);
      case 'forget':
        programs.get(ask.id)?.table.destroy();
        programs.delete(ask.id);
        return { isGood: true };
      case 'launch':
        return launch(service, ask);
    }
  };
  return async (ask) => {
    const answer = await one(ask).catch(
      (error: unknown): Answer => ({ isGood: false, why: error instanceof Error ? error.message : String(error) }),
    );
    return service?.lost === undefined ? answer : { isGood: false, why: service.lost, isLost: true };
  };
}
