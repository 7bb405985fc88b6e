/** `cumetal doctor`: tests what works on this machine, and names the next step for what does not. */
import { spawnSync } from 'node:child_process';
import { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { hostTarget } from '../device/host-target.ts';
import {
  type CudaState,
  cudaState,
  type Device,
  type DeviceModule,
  type MetalState,
  metalState,
  openCpuDevice,
  openDevice,
} from '../device/index.ts';
import { decodeElements, launch, parseArgument } from '../runtime/index.ts';
import { packageName, packageSize, programPackageName } from '../toolchain/locate.ts';
import { type Context, has } from './command/command.ts';
import { version } from './command/version.ts';
import { installationHelp, locateProgramToolchain } from './cuda/find.ts';
import { findCudaCompiler } from './input/cuda-source.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import type { Terminal } from './terminal/index.ts';
import { jsonDocument } from './terminal/json.ts';

interface Finding {
  readonly what: string;
  /** `absent` is not a failure: everything else works without it. */
  readonly state: 'works' | 'absent' | 'broken';
  readonly detail: string;
  readonly next?: string;
}

/** Runs the command. The exit code is 1 if something is broken that should work on any machine. */
export async function doctor({ parsed, terminal }: Context): Promise<ExitCode> {
  const metal = await metalFinding(metalState(), terminal, (to) => openDevice('metal', to));
  const cuda = await cudaFinding(cudaState(), terminal, (to) => openDevice('cuda', to));
  const findings = [
    runtimeFinding(),
    await pipelineFinding(terminal),
    metal,
    cuda,
    compilerFinding(terminal),
    programsFinding(terminal),
    llvmFinding(),
  ];
  if (has(parsed, 'json')) terminal.out(jsonDocument({ version, findings: findings.map(findingJson) }));
  else terminal.out(`cumetal ${version}\n\n${findings.map(findingText).join('')}`);
  return findings.some((f) => f.state === 'broken') ? exit.failed : exit.ok;
}

/** `words` is the key that the JSON has had from the start. */
const findingJson = ({ what, state, detail, next }: Finding): object => ({ what, state, words: detail, next });

const findingText = ({ what, state, detail, next }: Finding): string =>
  `${state.padEnd(6)}  ${what}: ${detail}\n${next ? `${' '.repeat(8)}next: ${next}\n` : ''}`;

function runtimeFinding(): Finding {
  const bun = process.versions.bun;
  return { what: 'runtime', state: 'works', detail: bun ? `Bun ${bun}` : `Node ${process.versions.node}` };
}

/** x[i] = 2 * x[i] + 1: a small kernel that needs every stage. */
const kernel = `.version 7.0
.target sm_70
.address_size 64
.visible .entry doctor(.param .u64 doctor_param_0)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [doctor_param_0];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  shl.b32 %r3, %r2, 1;
  add.s32 %r4, %r3, 1;
  st.global.u32 [%rd3], %r4;
  ret;
}
`;

/** The whole pipeline: PTX to metallib, metallib to the CPU device, right results back. */
async function pipelineFinding(terminal: Terminal): Promise<Finding> {
  const what = 'compiler and CPU device';
  const fault = await faultOn(terminal, () => openCpuDevice());
  if (fault === undefined) return { what, state: 'works', detail: 'a kernel compiles to a metallib and computes the right results' };
  return { what, state: 'broken', detail: fault, next: report };
}

const report = 'report it with the output of `cumetal doctor --json`';

/** The failure of a kernel on a device; undefined if it computes the right results. */
async function faultOn(io: Terminal, open: (diagnostics: Diagnostics) => Device | undefined): Promise<string | undefined> {
  const compiler = await import('../compile/index.ts');
  const diagnostics = new Diagnostics(new SourceFile('doctor.ptx', kernel));
  const device = open(diagnostics);
  const got = device && runKernel(device, loadKernel(device, compiler, diagnostics), io, diagnostics);
  device?.close();
  if (got === '1 3 5 7') return undefined;
  return diagnostics.list[0]?.message ?? `a kernel computed ${got}, expected 1 3 5 7`;
}

/** The kernel in the form that the device accepts. */
function loadKernel(
  device: Device,
  { compile, reflect }: typeof import('../compile/index.ts'),
  diagnostics: Diagnostics,
): DeviceModule | undefined {
  const source = diagnostics.file!;
  const reflection = device.loadPtx && reflect(source, {}, diagnostics);
  if (reflection) return device.loadPtx!({ source, kernels: reflection.kernels }, diagnostics);
  const compiled = compile(source, { hostTarget: hostTarget() }, diagnostics);
  return compiled && device.load(compiled.metallib, diagnostics);
}

function runKernel(device: Device, module: DeviceModule | undefined, io: Terminal, diagnostics: Diagnostics): string | undefined {
  const argument = parseArgument('u32:4=iota', diagnostics);
  if (!module || !argument) return undefined;
  const plan = { grid: [1, 1, 1], block: [4, 1, 1], sharedBytes: 0, constants: [], args: [argument] } as const;
  const output = launch(device, module, plan, { repeat: 1, timeoutMs: 10_000 }, { io, diagnostics })?.outputs[0];
  return output && decodeElements('u32', output.bytes).join(' ');
}

/** The GPU of a Mac: its binding, and whether a kernel computes the right results. */
export async function metalFinding(
  { name, way, failures }: MetalState,
  terminal: Terminal,
  open: (diagnostics: Diagnostics) => Device | undefined,
): Promise<Finding> {
  const what = 'Metal device';
  if (name !== undefined) {
    const fault = await faultOn(terminal, open);
    const before = failures.length > 0 ? ` (${failures.join('; ')})` : '';
    if (fault === undefined) return { what, state: 'works', detail: `a kernel computes the right results on ${name}, by ${way}${before}` };
    return { what, state: 'broken', detail: `${name}, by ${way}: ${fault}${before}`, next: report };
  }
  if (failures.length > 0)
    return { what, state: 'absent', detail: failures.join('; '), next: 'use the CPU device, which runs the same metallib' };
  return { what, state: 'absent', detail: 'requires a Mac', next: 'use the CPU device here; metallibs built here also run on a Mac' };
}

/** An NVIDIA GPU: whether its driver is present, and whether a kernel computes the right results. */
export async function cudaFinding(
  { name, failures }: CudaState,
  terminal: Terminal,
  open: (diagnostics: Diagnostics) => Device | undefined,
): Promise<Finding> {
  const what = 'CUDA device';
  if (name === undefined) {
    const detail = failures.join('; ') || 'requires an NVIDIA GPU on Linux or Windows';
    return { what, state: 'absent', detail, next: 'needed only to compare with an NVIDIA GPU' };
  }
  const fault = await faultOn(terminal, open);
  if (fault === undefined) return { what, state: 'works', detail: `a kernel computes the right results on ${name}` };
  return { what, state: 'broken', detail: `${name}: ${fault}`, next: report };
}

function compilerFinding(terminal: Terminal): Finding {
  const what = '.cu files';
  const compiler = findCudaCompiler(terminal);
  if (compiler?.name === 'wasm')
    return { what, state: 'works', detail: `clang ${compiler.found.version} as WebAssembly compiles them, with our own headers` };
  if (compiler) return { what, state: 'works', detail: `${compiler.name} compiles them to PTX` };
  return {
    what,
    state: 'absent',
    detail: `no nvcc, no clang with the NVPTX target, no package \`${packageName}\``,
    next: `\`npm install ${packageName}\` (${packageSize}) compiles \`.cu\` files; PTX files need no compiler`,
  };
}

function programsFinding(terminal: Terminal): Finding {
  const what = 'whole programs';
  if (locateProgramToolchain(terminal)) return { what, state: 'works', detail: `\`${programPackageName}\` compiles host code` };
  return { what, state: 'absent', detail: `no package \`${programPackageName}\`, which compiles host code`, next: installationHelp() };
}

function llvmFinding(): Finding {
  const what = 'LLVM 14 tools';
  const { status } = spawnSync('llvm-dis-14', ['--version'], { stdio: 'ignore' });
  if (status === 0) return { what, state: 'works', detail: 'specs that compare with LLVM will run' };
  return {
    what,
    state: 'absent',
    detail: 'not installed; only the specs of this project use them',
    next: 'on Debian and Ubuntu: `apt-get install llvm-14`',
  };
}
