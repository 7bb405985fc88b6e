/**
 * Errors: every row of CUDA's errors that the API knows is provoked, and has the number, name and text that CUDA's own library gave
 * (fixtures/cuda/errors.json); every error of a Metal command buffer is the error of CUDA that it has to be.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type CudaErrorName,
  CumetalError,
  cudaErrorNumbered,
  cudaErrors,
  Device,
  DeviceLostError,
  DeviceNotFoundError,
  failures,
  type Kernel,
  type Module,
  type ModuleSymbol,
  type Stream,
} from '../../src/api/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import * as cuda from '../../src/cudart/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { openMetalDevice } from '../../src/device/metal/index.ts';
import { codeOf, head, kernels } from '../support/api-contract.ts';
import { delayed, withoutStart } from '../support/delayed-device.ts';
import { checkFake } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';

const all = suite('api/errors');
const { test, fake, binding } = openFake(all);

const recorded: { errors: Record<string, [name: string, text: string]> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/cuda/errors.json'), 'utf8'),
);

all('numbers, names and texts are those of CUDA’s own library', () => {
  for (const { number, name, text } of Object.values(cudaErrors)) {
    assert.equal([name, text], recorded.errors[number]);
    assert.equal([cuda.cudaGetErrorName(number), cuda.cudaGetErrorString(number)], recorded.errors[number]);
  }
  const missing = Object.keys(recorded.errors).filter((number) => cudaErrorNumbered(Number(number)) === undefined);
  assert.equal(
    missing.filter((number) => recorded.errors[number]![0] !== 'unrecognized error code'),
    [],
  );
  assert.equal([cuda.cudaGetErrorName(12345), cuda.cudaGetErrorString(12345)], recorded.errors[12345]);
});

const { ref } = cuda;

/** What a function left. */
function got<T>(run: (to: cuda.Ref<T>) => number): T {
  const to = ref<T>();
  assert.is(run(to), 0);
  return to.value;
}

const kernelOf = (text: string): Kernel => {
  const module = got<Module>((to) => cuda.cudaLibraryLoadData(to, text));
  return module.kernel();
};

const inPairs = `${head}.visible .entry pairs(.param .u64 out)\n.reqnctapercluster 2\n{ ret; }`;

const memory = (bytes = 64): bigint => got((to) => cuda.cudaMalloc(to, bytes));

const endless = `${head}.visible .entry endless(.param .u64 out)
{ .reg .b32 x; .reg .b64 p; ld.param.u64 p, [out];
again: atom.global.add.u32 x, [p], 1; bra again; }`;
const stray = `${head}.visible .entry stray(.param .u64 out)
{ .reg .b32 x; .reg .b64 p, q; ld.param.u64 p, [out]; mov.u64 q, 4; ld.global.u32 x, [q]; st.global.u32 [p], x; ret; }`;
const asserts = `${head}.extern .func __assertfail(.param .b64 e, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 text[2] = {120, 0};
.visible .entry asserts(.param .u64 out)
{
  .reg .b64 e, f;
  mov.u64 e, text; cvta.global.u64 f, e;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], f; st.param.b64 [p1], f; st.param.b32 [p2], 12; st.param.b64 [p3], f; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4);
  }
  ret;
}`;
const textured = `${head}.global .texref image;
.visible .entry k(.param .u64 out)
{ .reg .f32 a, b, c, d, x; tex.1d.v4.f32.f32 {a, b, c, d}, [image, {x}]; ret; }`;

/** Launches a kernel that fails, and gives what the device says when it is waited for. */
async function launched(text: string): Promise<number> {
  const kernel = kernelOf(text);
  assert.is(cuda.cudaLaunchKernel(kernel, 1, 1, [memory()]), 0);
  return cuda.cudaDeviceSynchronize();
}

type Provoke = (device: Device) => number | Promise<number>;
const toDevice = cuda.cudaMemcpyKind.cudaMemcpyHostToDevice;

/** How each error comes about. What has `with` runs on a device of its own. */
const provoked: Readonly<Partial<Record<CudaErrorName, Provoke>>> = {
  cudaSuccess: () => cuda.cudaMalloc(ref(), 16),
  cudaErrorInvalidValue: () => cuda.cudaMemcpy(memory(), memory(), 16, toDevice),
  cudaErrorMemoryAllocation: () => cuda.cudaMalloc(ref(), 2 ** 40),
  cudaErrorInvalidConfiguration: () => cuda.cudaLaunchKernel(kernelOf(kernels.bump), 1, { x: 64, y: 64 }, [memory()]),
  cudaErrorInvalidClusterSize() {
    const { metallib } = compile(new SourceFile('pairs.ptx', inPairs), { target: 'cpu' }, new Diagnostics())!;
    const module = got<Module>((to) => cuda.cudaLibraryLoadData(to, metallib));
    return cuda.cudaLaunchKernel(module.kernel(), 1, 32, [memory()]);
  },
  cudaErrorInvalidSymbol: () =>
    cuda.cumetalGetSymbol(
      ref<ModuleSymbol>(),
      got<Module>((to) => cuda.cudaLibraryLoadData(to, kernels.module)),
      'nothing',
    ),
  cudaErrorInvalidMemcpyDirection: () => cuda.cudaMemcpy(memory(), new Uint8Array(16), 16, 9 as never),
  cudaErrorDevicesUnavailable: async () => {
    fake.reset();
    const device = Device.over(openMetalDevice(binding) as Exclude<ReturnType<typeof openMetalDevice>, string>);
    cuda.cumetalUseDevice(device);
    fake.set('fail', 11);
    const said = await launched(kernels.bump);
    device.close();
    return said;
  },
  cudaErrorInvalidDeviceFunction: () =>
    cuda.cudaLibraryGetKernel(
      ref<Kernel>(),
      got<Module>((to) => cuda.cudaLibraryLoadData(to, kernels.bump)),
      'nothing',
    ),
  cudaErrorNoDevice: () => {
    try {
      Device.open('abacus');
    } catch (error) {
      assert.instance(error, DeviceNotFoundError);
      return (error as CumetalError).cuda.number;
    }
    return 0;
  },
  cudaErrorInvalidDevice: () => cuda.cudaSetDevice(99),
  cudaErrorInvalidKernelImage: () => cuda.cudaLibraryLoadData(ref<Module>(), new Uint8Array(100)),
  cudaErrorNoKernelImageForDevice: () => cuda.cudaLibraryLoadData(ref<Module>(), textured),
  cudaErrorInvalidPtx: () => cuda.cudaLibraryLoadData(ref<Module>(), kernels.bump.replace('add.u32', 'ad.u32')),
  cudaErrorUnsupportedPtxVersion: () => cuda.cudaLibraryLoadData(ref<Module>(), kernels.bump.replace('9.0', '4.7')),
  cudaErrorInvalidResourceHandle: () => {
    const stream = got<Stream>((to) => cuda.cudaStreamCreate(to));
    assert.is(cuda.cudaStreamDestroy(stream), 0);
    return cuda.cudaMemsetAsync(memory(), 0, 16, stream);
  },
  cudaErrorSymbolNotFound: () =>
    cuda.cuModuleGetFunction(
      ref<Kernel>(),
      got<Module>((to) => cuda.cudaLibraryLoadData(to, kernels.bump)),
      'nothing',
    ),
  cudaErrorNotReady: () => {
    assert.is(cuda.cudaMemsetAsync(memory(), 0, 16), 0);
    return cuda.cudaStreamQuery(0);
  },
  cudaErrorIllegalAddress: () => launched(stray),
  cudaErrorLaunchOutOfResources: async () => {
    fake.reset();
    const device = Device.over(openMetalDevice(binding) as Exclude<ReturnType<typeof openMetalDevice>, string>);
    cuda.cumetalUseDevice(device);
    fake.set('no commands', 1);
    const said = await launched(kernels.bump);
    device.close();
    return said;
  },
  cudaErrorLaunchTimeout: () => launched(endless),
  cudaErrorContextIsDestroyed: (device) => {
    assert.is(cuda.cudaMemsetAsync(memory(), 0, 16), 0);
    const said = cuda.cudaDeviceSynchronize();
    device.close();
    return said;
  },
  cudaErrorAssert: () => launched(asserts),
  cudaErrorLaunchFailure: () => launched(kernels.stops),
  cudaErrorNotPermitted: async () => {
    let said = 0;
    cuda.cudaLaunchHostFunc(0, () => {
      said = cuda.cudaMalloc(ref(), 16);
    });
    assert.is(await cuda.cudaDeviceSynchronize(), 0);
    return said;
  },
  cudaErrorNotSupported: () => {
    const low = openCpuDevice();
    const blind = {
      ...low,
      allocate: (...given: Parameters<typeof low.allocate>) => {
        const { view: _, ...rest } = low.allocate(...given)!;
        return rest;
      },
    };
    cuda.cumetalUseDevice(Device.over(blind));
    const said = cuda.cudaMallocManaged(ref(), 16);
    assert.is(cuda.cumetalLastError()?.code, 'CM5065');
    return said;
  },
  cudaErrorUnknown: () => {
    cuda.cudaLaunchHostFunc(0, () => {
      throw new Error('of the host');
    });
    return cuda.cudaDeviceSynchronize();
  },
};

all('every error that a diagnostic stands for is provoked', () => {
  const names = new Set(Object.values(failures).map(({ cuda: name }) => name));
  assert.equal(
    [...names].filter((name) => !(name in provoked)),
    [],
  );
});

const sticky = [
  'cudaErrorDevicesUnavailable',
  'cudaErrorIllegalAddress',
  'cudaErrorLaunchTimeout',
  'cudaErrorAssert',
  'cudaErrorLaunchFailure',
];

for (const [name, provoke] of Object.entries(provoked) as [CudaErrorName, Provoke][])
  test(`${name} is provoked, is the last error, and stays if it has to`, async () => {
    const device = Device.over(withoutStart(openCpuDevice()), { timeoutMs: 100, reopen: () => openCpuDevice() });
    cuda.cumetalUseDevice(device);
    const said = await provoke(device);
    assert.is(said, cudaErrors[name].number);
    const [expectedName, text] = recorded.errors[said]!;
    assert.equal([name, cuda.cudaGetErrorName(said), cuda.cudaGetErrorString(said)], [expectedName, expectedName, text]);
    const stays = sticky.includes(name);
    // What is thrown at the API's edge, and what the driver's functions give, is nothing that the runtime remembers.
    if (name !== 'cudaErrorNoDevice') {
      assert.is(cuda.cudaPeekAtLastError(), said);
      assert.is(cuda.cudaGetLastError(), said);
    }
    assert.is(cuda.cudaGetLastError(), stays ? said : 0);
    if (stays && name !== 'cudaErrorDevicesUnavailable') {
      assert.is(cuda.cudaMalloc(ref(), 16), said);
      assert.is(await cuda.cudaDeviceReset(), 0);
      assert.equal([cuda.cudaGetLastError(), cuda.cudaMalloc(ref(), 16)], [0, 0]);
    }
    device.close();
    fake.reset();
  });

/** By the number of `MTLCommandBufferError`: the table of design, by hand. */
const metalToCuda: Readonly<Record<number, CudaErrorName>> = {
  1: 'cudaErrorLaunchFailure',
  2: 'cudaErrorLaunchTimeout',
  3: 'cudaErrorIllegalAddress',
  4: 'cudaErrorDevicesUnavailable',
  7: 'cudaErrorDevicesUnavailable',
  8: 'cudaErrorMemoryAllocation',
  9: 'cudaErrorLaunchFailure',
  10: 'cudaErrorLaunchFailure',
  11: 'cudaErrorDevicesUnavailable',
  12: 'cudaErrorLaunchFailure',
  14: 'cudaErrorLaunchTimeout',
};

for (const [number, name] of Object.entries(metalToCuda))
  test(`error ${number} of a Metal command buffer is ${name}`, async () => {
    fake.reset();
    const device = Device.over(openMetalDevice(binding) as Exclude<ReturnType<typeof openMetalDevice>, string>);
    const word = device.allocate('u32', 1);
    const kernel = device.load(kernels.bump).kernel();
    fake.set('fail', Number(number));
    const said = await kernel
      .launch({ grid: 1, block: 1, args: [word] })
      .ended()
      .catch((error: unknown) => error);
    assert.instance(said, CumetalError);
    assert.is((said as CumetalError).cuda.name, name);
    if (name === 'cudaErrorDevicesUnavailable') assert.instance(said, DeviceLostError);
    assert.is(device.failure === undefined, name === 'cudaErrorMemoryAllocation');
    device.close();
    checkFake(fake);
  });

test('other faults of Metal: what a launch wants and does not get', async () => {
  const cases: [setting: string, value: number, code: string, cuda: CudaErrorName, error: string][] = [
    ['no pipeline', 1, 'CM6027', 'cudaErrorNoKernelImageForDevice', 'PipelineCreationError'],
    ['width', 64, 'CM6028', 'cudaErrorNoKernelImageForDevice', 'PipelineCreationError'],
    ['no encoder', 1, 'CM6030', 'cudaErrorLaunchOutOfResources', 'LaunchError'],
    ['pipeline threads', 16, 'CM5021', 'cudaErrorInvalidConfiguration', 'LaunchError'],
  ];
  for (const [setting, value, code, name, error] of cases) {
    fake.reset();
    const device = Device.over(openMetalDevice(binding) as Exclude<ReturnType<typeof openMetalDevice>, string>);
    const word = device.allocate('u32', 1);
    const kernel = device.load(kernels.bump).kernel();
    fake.set(setting, value);
    kernel.launch({ grid: 1, block: 32, args: [word] });
    const said = (await device.synchronize().catch((thrown: unknown) => thrown)) as CumetalError;
    assert.equal([said.code, said.cuda.name, said.name], [code, name, error]);
    // It was told, and does not stay.
    await device.synchronize();
    fake.set(setting, 0);
    device.close();
    checkFake(fake);
  }
  fake.reset();
  const device = Device.over(openMetalDevice(binding) as Exclude<ReturnType<typeof openMetalDevice>, string>);
  fake.set('no library', 1);
  assert.is(await codeOf(() => device.load(kernels.bump)), 'CM6026');
  const source = new SourceFile('k.ptx', kernels.bump);
  const { metallib } = compile(source, { target: 'cpu' }, new Diagnostics(source))!;
  const said = (() => {
    try {
      device.load(metallib);
    } catch (error) {
      return error as CumetalError;
    }
    return undefined;
  })();
  assert.equal([said?.code, said?.cuda.name], ['CM4053', 'cudaErrorNoKernelImageForDevice']);
  device.close();
  checkFake(fake);
});

all('what is known of failures is of codes that are there, and the most general is the last resort', () => {
  for (const key of Object.keys(failures)) assert.match(key, /^CM\d{0,4}$/);
  assert.equal(failures.CM, { error: 'LaunchError', cuda: 'cudaErrorUnknown' });
});

test('a kernel that never ends is given up, by workers and by Metal, and the device with it', async () => {
  fake.reset();
  const metal = (): Device => Device.over(openMetalDevice(binding) as Exclude<ReturnType<typeof openMetalDevice>, string>);
  for (const [open, code] of [
    [() => Device.open('cpu'), 'CM6010'],
    [metal, 'CM6020'],
  ] as const) {
    const device = open();
    const word = device.allocate('u32', 1);
    if (code === 'CM6020') Object.assign(fake, { limitMs: 100, whenOver: 'never ends' });
    const work = device
      .load(endless)
      .kernel()
      .launch({ grid: 1, block: 1, args: [word], timeoutMs: 100 });
    const said = (await work.ended().catch((error: unknown) => error)) as CumetalError;
    assert.equal([said.code, said.cuda.name, device.failure], [code, 'cudaErrorLaunchTimeout', said]);
    device.close();
  }
  checkFake(fake);
});

all('a copy that the device does not do is told, and the stream goes on', async () => {
  const low = openCpuDevice();
  let fails = false;
  const device = Device.over({
    ...low,
    allocate(size, diagnostics) {
      const { view: _, ...buffer } = low.allocate(size, diagnostics)!;
      const write: typeof buffer.write = (bytes, offset) => {
        if (fails) throw new Error('the driver does not copy memory');
        buffer.write(bytes, offset);
      };
      return { ...buffer, write };
    },
  });
  const words = device.bufferOf('u32', [1]);
  fails = true;
  words.write([2]);
  assert.is(await codeOf(() => device.synchronize()), 'CM5075');
  assert.equal([...(await words.read())], [1]);
  device.close();
});

all('a kernel that runs on workers is ended when its device is closed', async () => {
  const device = Device.open('cpu');
  const word = device.allocate('u32', 1);
  const work = device
    .load(endless)
    .kernel()
    .launch({ grid: 1, block: 1, args: [word], timeoutMs: 0 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  device.close();
  assert.is(await codeOf(() => work.ended()), 'CM6016');
});

all('a launch that is given up when its device is closed', async () => {
  const { device: low } = delayed(openCpuDevice(), () => 1000);
  const device = Device.over(low);
  const word = device.allocate('u32', 1);
  const work = device
    .load(kernels.bump)
    .kernel()
    .launch({ grid: 1, block: 1, args: [word] });
  await new Promise((resolve) => setImmediate(resolve));
  device.close();
  assert.is(await codeOf(() => work.ended()), 'CM6010');
});

all.run();
