/**
 * A kernel that prints, run by the independent oracle: LLVM reads the bitcode, the records in the buffer have the documented layout, and
 * their text is that of the CPU device.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { emptyPrintBuffer, lostRecords, readPrinted } from '../../src/device/printed.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';
import { printCall, printingModule } from '../support/printing.ts';

const test = suite('oracle/printf');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const strings = { format: '%d: %.2f %s\n', even: 'even', odd: 'the odd', last: 'last of %d\n' };
const text = printingModule(
  strings,
  `  cvt.rn.f64.u32 d, t;
  mul.f64 d, d, 0d3FE8000000000000;
  mov.u64 s0, even; cvta.global.u64 s1, s0; mov.u64 s2, odd; cvta.global.u64 s3, s2;
  and.b32 x, t, 1;
  setp.eq.u32 p, x, 1;
  selp.b64 s4, s3, s1, p;
  st.local.u32 [depot], t; st.local.f64 [depot+8], d; st.local.u64 [depot+16], s4;
${printCall('format', 'list', { result: 'r0' })}
  st.global.u32 [base], r0;
  setp.eq.u32 q, t, 31;
  st.local.u32 [depot], 32;
${printCall('last', 'list', { guard: '@q ' })}`,
);

const threads = 32;
const lines = Array.from({ length: threads }, (_, t) => `${t}: ${(0.75 * t).toFixed(2)} ${t % 2 === 1 ? 'the odd' : 'even'}`);

interface Built {
  readonly metallib: Uint8Array;
  /** The bytes of each buffer by slot: the output, the module's memory, the printed records. */
  readonly args: Uint8Array[];
  readonly formats: readonly string[];
}

/** Binds arguments by the reflection alone. */
function built(printBytes: number): Built {
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'macos14' }, diagnostics)!;
  assert.equal(diagnostics.list, []);
  const { memory, printf } = compiled.reflection.kernels[0]!;
  assert.equal([memory?.slot, printf?.slot], [1, 2]);
  const own = new Uint8Array(memory!.size);
  for (const { name, offset } of memory!.symbols) own.set(new TextEncoder().encode(strings[name as keyof typeof strings]), offset);
  const printed = new Uint8Array(printBytes);
  emptyPrintBuffer(printed);
  return { metallib: compiled.metallib, args: [new Uint8Array(4 * threads), own, printed], formats: printf!.formats };
}

function launched({ metallib, args }: Built): readonly Uint8Array[] {
  const launch = { kernel: 'k', grid: [1, 1, 1], block: [threads, 1, 1], args, sharedBytes: undefined, order: 'fwd' };
  const { status, complaints, after } = launchOracle(folder, metallib, launch);
  assert.is(complaints, '');
  assert.is(status, 0);
  return after;
}

/** The lines of the printed text. */
function lined(read: (print: (piece: Uint8Array) => void) => void): string[] {
  let all = '';
  read((piece) => {
    all += new TextDecoder().decode(piece);
  });
  return all.trimEnd().split('\n');
}

need(test, oracleTools, 'the text of the records is as expected, and that of the CPU device', () => {
  const one = built(4096);
  const after = launched(one);
  const expected = [...lines, 'last of 32'].sort();
  assert.equal(lined((print) => readPrinted(after[2]!, one.formats, print)).sort(), expected);
  assert.equal([...new Uint32Array(after[0]!.slice().buffer)], new Array(threads).fill(3));
  assert.is(lostRecords(after[2]!), 0);
  const device = openCpuDevice();
  const diagnostics = new Diagnostics();
  const module = device.load(one.metallib, diagnostics)!;
  const buffer = device.allocate(4 * threads, diagnostics)!;
  const request = { kernel: 'k', grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 0 } as const;
  const args = [{ kind: 'buffer', buffer }] as const;
  assert.equal(lined((print) => module.launch({ ...request, args, print }, diagnostics)).sort(), expected);
});

need(test, oracleTools, 'the words of one record, and the count of lost ones', () => {
  // After the header of 3 words there is room for the record of thread 0: number, word, 2 words of the double, length, `even`.
  const after = launched(built(4 * (3 + 6)));
  const words = [...new Uint32Array(after[2]!.slice().buffer)];
  assert.equal(words, [6, 6, threads, 1, 0, 0, 0, 4, new Uint32Array(new TextEncoder().encode('even').buffer)[0]!]);
});

test.run();
