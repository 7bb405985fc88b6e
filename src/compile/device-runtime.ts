/**
 * The functions of CUDA's device runtime by which kernels launch kernels: they note a launch in the memory of the service `launches`
 * (`src/ir/services.ts`), and the CPU device runs what is noted when the grid has ended. Their bodies are appended to the text of a module that
 * declares them, as those of the heap are. Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"; `cuda_device_runtime_api.h`.
 */
import { SourceFile } from '../base/source.ts';
import { type DeviceRuntimeKind, deviceRuntimeKind } from '../ptx/index.ts';

const declaration = /\.extern(\s+\.func\s*\([^()]*\)\s*((?:__cudaCDP2|cuda)\w+)\s*\([^()]*\)\s*);/g;

/** The source with the functions that it declares; the same source if it declares none of them. */
export function withDeviceRuntime(source: SourceFile): SourceFile {
  const { text, path } = source;
  if (!/\.func[^;{]*\b(?:__cudaCDP2|cuda)[A-Z]/.test(text)) return source;
  const added: string[] = [];
  const own = text.replace(declaration, (whole: string, head: string, name: string) => {
    const kind = deviceRuntimeKind(name);
    if (!kind) return whole;
    const code = codes[kind];
    const [result, ...params] = [...head.matchAll(/([\w$]+)\s*(?:\[\d+\]\s*)?(?=[,)])/g)].map(([, each]) => each!);
    added.push(
      `.visible${head}\n{\n${registers}\n${service}\n${code.replace(/\$(\d|r)/g, (_, n) => (n === 'r' ? result! : params[Number(n)]!))}\nret;\n}`,
    );
    return `       ${head};`;
  });
  if (added.length === 0) return source;
  const heap = added.some((body) => /, malloc,|\bfree,/.test(body)) ? heapFunctions : '';
  const assertion = /\b__assertfail\b/.test(text) ? '' : failing;
  return new SourceFile(path, `${own}\n${assertion}\n${heap}\n${lastError}\n${texts}\n${added.join('\n')}\n`);
}

const failing =
  '.extern .func __assertfail(.param .b64 __assertfail_param_0, .param .b64 __assertfail_param_1, .param .b32 __assertfail_param_2, .param .b64 __assertfail_param_3, .param .b64 __assertfail_param_4);';
const heapFunctions = '.extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);';
/** The error of the last launch that failed, of each thread: registers of a module are those of all functions. */
const lastError = '.reg .b32 cumetal_last_error;';
const registers = '.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<30>;';
const service = 'mov.b32 %r1, %envreg28; mov.b32 %r2, %envreg29; mov.b64 %rd1, {%r1, %r2};';

const faults = {
  kernel: 'launch of a kernel of this module',
  memory: 'memory for one more launch',
  place: 'the device runtime',
} as const;

const bytesOf = (text: string): string => {
  const bytes = [...new TextEncoder().encode(text), 0];
  return `[${bytes.length}] = {${bytes.join(', ')}}`;
};
const texts = Object.entries(faults)
  .map(([name, text]) => `.global .align 1 .b8 cumetal_launch_${name}${bytesOf(text)};`)
  .join('\n');

/** The address of a text in a register of its own, as the reader of assertions follows it. */
const address = (number: number, name: keyof typeof faults): string =>
  `mov.u64 %t${number}, cumetal_launch_${name}; cvta.global.u64 %t${number + 1}, %t${number};`;

/** Stops the kernel. */
const stop = (
  why: keyof typeof faults,
): string => `{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; .reg .b64 %t<7>; .reg .b32 %u;
${address(0, why)} st.param.b64 [a], %t1; ${address(2, 'place')} st.param.b64 [b], %t3; mov.b32 %u, 0; st.param.b32 [c], %u;
${address(4, 'place')} st.param.b64 [d], %t5; mov.b64 %t6, 1; st.param.b64 [e], %t6; call.uni __assertfail, (a, b, c, d, e); }`;

/** The place %r4 of the kernel %rd2 in the table, and its entry at %rd3. */
const find = `ld.u32 %r3, [%rd1+20]; mov.u32 %r4, 0; add.u64 %rd3, %rd1, 64;
FIND: setp.ge.u32 %p1, %r4, %r3; @%p1 bra NONE; ld.u64 %rd4, [%rd3]; setp.eq.u64 %p2, %rd4, %rd2; @%p2 bra FOUND;
add.u64 %rd3, %rd3, 16; add.u32 %r4, %r4, 1; bra FIND;
NONE: ${stop('kernel')}
FOUND:`;

/** A record at %rd5 with %r5 bytes of parameters, which no launch has yet. */
const takeRecord = `add.u32 %r5, %r5, 127; shr.u32 %r5, %r5, 6; atom.add.u32 %r6, [%rd1+8], %r5; add.u32 %r7, %r6, %r5;
ld.u64 %rd6, [%rd1]; shr.u64 %rd6, %rd6, 6; cvt.u64.u32 %rd7, %r7; setp.le.u64 %p3, %rd7, %rd6; @%p3 bra ROOM;
${stop('memory')}
ROOM: mul.wide.u32 %rd5, %r6, 64; add.u64 %rd5, %rd5, %rd1; mov.u32 %r9, 0; st.u32 [%rd5+44], %r5; st.u32 [%rd5+40], %r9; st.u32 [%rd5+48], %r9;`;

/** The shape of a launch, of parameters with grid, block and shared memory. */
const shape = (grid: number, block: number, shared: number): string =>
  [grid, block]
    .flatMap((param, which) => [0, 4, 8].map((at) => `ld.param.b32 %r10, [$${param}+${at}]; st.u32 [%rd5+${4 + 12 * which + at}], %r10;`))
    .concat(`ld.param.b32 %r10, [$${shared}]; st.u32 [%rd5+28], %r10;`)
    .join('\n');

/** The shared memory of a block at most, which an H200 has too. */
const maxSharedBytes = 232_448;

/** A shape that no device runs gives `cudaErrorInvalidConfiguration`. */
const checkShape = `ld.u32 %r10, [%rd5+4]; ld.u32 %r11, [%rd5+8]; ld.u32 %r12, [%rd5+12]; ld.u32 %r13, [%rd5+16]; ld.u32 %r14, [%rd5+20]; ld.u32 %r15, [%rd5+24];
setp.gt.u32 %p4, %r10, 0x7fffffff; max.u32 %r16, %r11, %r12; setp.gt.or.u32 %p4, %r16, 65535, %p4; max.u32 %r16, %r13, %r14; setp.gt.or.u32 %p4, %r16, 1024, %p4;
setp.gt.or.u32 %p4, %r15, 64, %p4; min.u32 %r17, %r10, %r11; min.u32 %r17, %r17, %r12; min.u32 %r17, %r17, %r13; min.u32 %r17, %r17, %r14; min.u32 %r17, %r17, %r15;
setp.eq.or.u32 %p4, %r17, 0, %p4; mul.lo.u32 %r18, %r13, %r14; mul.lo.u32 %r18, %r18, %r15; setp.gt.or.u32 %p4, %r18, 1024, %p4;
ld.u32 %r19, [%rd5+28]; setp.gt.or.u32 %p4, %r19, ${maxSharedBytes}, %p4; @!%p4 bra GOOD; mov.u32 %r9, 9; mov.u32 cumetal_last_error, %r9; st.param.b32 [$r], %r9; ret;
GOOD:`;

/** Notes the launch of the record at %rd5 in the stream %rd8. */
const noteLaunch = `st.u64 [%rd5+32], %rd8; atom.add.u32 %r8, [%rd1+12], 1; add.u32 %r8, %r8, 1; membar.gl; st.u32 [%rd5+40], %r8; mov.u32 %r9, 0; st.param.b32 [$r], %r9;`;

/** A record of other work than a kernel: its kind, and its parameters. */
const work = (kind: number, params: readonly string[], stream: number): string => `mov.u32 %r5, 64; ${takeRecord}
mov.u32 %r9, ${kind}; st.u32 [%rd5+48], %r9; ${params.map((load, i) => `${load} st.u64 [%rd5+${64 + 8 * i}], %rd9;`).join('\n')}
ld.param.u64 %rd8, [$${stream}]; ${noteLaunch}`;
const long = (param: number): string => `ld.param.u64 %rd9, [$${param}];`;
const put = (value: string): string => `ld.param.u64 %rd2, [$0]; ${value} mov.u32 %r9, 0; st.param.b32 [$r], %r9;`;
const succeed = 'mov.u32 %r9, 0; st.param.b32 [$r], %r9;';

/** By kind of function: its code, with `$0` for the name of its first parameter and `$r` for that of its result. */
const codes: Readonly<Record<DeviceRuntimeKind, string>> = {
  buffer: `ld.param.u64 %rd2, [$0]; ${find} ld.u32 %r5, [%rd3+8]; ${takeRecord} st.u32 [%rd5], %r4; ${shape(1, 2, 3)} add.u64 %rd9, %rd5, 64; st.param.b64 [$r], %rd9;`,
  bufferOfSize: `ld.param.u64 %rd2, [$1]; cvt.u32.u64 %r5, %rd2; ${takeRecord} add.u64 %rd9, %rd5, 64; st.param.b64 [$r], %rd9;`,
  launch: `ld.param.u64 %rd5, [$0]; ld.param.u64 %rd8, [$1]; setp.ne.u64 %p1, %rd5, 0; @%p1 bra HAS; mov.u32 %r9, 1; mov.u32 cumetal_last_error, %r9; st.param.b32 [$r], %r9; ret;
HAS: sub.u64 %rd5, %rd5, 64; ${checkShape} ${noteLaunch}`,
  launchBuffer: `ld.param.u64 %rd2, [$0]; ld.param.u64 %rd5, [$1]; ld.param.u64 %rd8, [$5]; setp.ne.u64 %p5, %rd5, 0; @%p5 bra HAS; mov.u32 %r9, 1; mov.u32 cumetal_last_error, %r9; st.param.b32 [$r], %r9; ret;
HAS: sub.u64 %rd5, %rd5, 64; ${find} st.u32 [%rd5], %r4; ${shape(2, 3, 4)} ${checkShape} ${noteLaunch}`,
  newStream: put('atom.add.u32 %r8, [%rd1+12], 1; cvt.u64.u32 %rd9, %r8; add.u64 %rd9, %rd9, 16; st.u64 [%rd2], %rd9;'),
  allocate: `ld.param.u64 %rd2, [$0]; ld.param.u64 %rd3, [$1]; { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd3; call.uni (b), malloc, (a); ld.param.b64 %rd4, [b]; }
setp.eq.u64 %p1, %rd4, 0; @!%p1 st.u64 [%rd2], %rd4; selp.u32 %r9, 2, 0, %p1; @%p1 mov.u32 cumetal_last_error, 2; st.param.b32 [$r], %r9;`,
  release: `ld.param.u64 %rd2, [$0]; { .param .b64 a; st.param.b64 [a], %rd2; call.uni free, (a); } ${succeed}`,
  nothing: succeed,
  lastError: 'st.param.b32 [$r], cumetal_last_error; mov.u32 cumetal_last_error, 0;',
  peekError: 'st.param.b32 [$r], cumetal_last_error;',
  zero: put('mov.u32 %r10, 0; st.u32 [%rd2], %r10;'),
  one: put('mov.u32 %r10, 1; st.u32 [%rd2], %r10;'),
  copy: work(1, [long(0), long(1), long(2)], 4),
  fill: work(2, [long(0), 'ld.param.u32 %r10, [$1]; cvt.u64.u32 %rd9, %r10;', long(2)], 3),
};
