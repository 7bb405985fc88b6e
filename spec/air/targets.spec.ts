/**
 * Each target's modules and containers, with the values of Apple's own files written out: kernel.13, kernel.14, kernel.15 and
 * kernel.26 of Metal.jl (`kernel void foo() {}`), and constants.* for parameters; for iOS the header, triple, versions and SDK of
 * UntoldEngineKernels-ios and SwiftGLTFRenderer.iphoneos, with the patch of the system at 0. Where a folder has those files, against them too.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { disassemble, type Instruction, type Module, readModule, types } from '../../src/bitcode/index.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import { readMetallib, validateMetallib } from '../../src/metallib/index.ts';
import { exampleNames, exampleText } from '../support/examples.ts';
import { launchMetallib } from '../support/launch.ts';
import { scratch, tool } from '../support/llvm.ts';
import { need } from '../support/need.ts';
import { realFiles } from '../support/real.ts';

const test = suite('air targets');
const file = scratch();

type Name = 'macos13' | 'macos14' | 'macos15' | 'macos26' | 'ios17' | 'ios18';

interface Facts {
  /** Bytes 4 to 15 of the file: container with the macOS bit, executable, 64-bit macOS, system. */
  readonly head: readonly number[];
  readonly versions: readonly number[];
  readonly triple: string;
  readonly sdk: string;
  readonly language: string;
  readonly framePointerFlag: boolean;
  readonly attributes: string;
  readonly parameters: string;
  readonly operands: { readonly function: number; readonly variable: number };
}

const modern = {
  framePointerFlag: true,
  attributes:
    'mustprogress nofree norecurse nosync nounwind willreturn "frame-pointer"="all" "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8"',
  parameters: 'i32 addrspace(1)* noundef writeonly %0, i32 noundef %1',
  operands: { function: 21, variable: 18 },
} as const;

const facts: Record<Name, Facts> = {
  macos13: {
    head: [1, 0x80, 2, 0, 7, 0, 0, 0x81, 13, 0, 0, 0],
    versions: [2, 5, 3, 0],
    triple: 'air64-apple-macosx13.0.0',
    sdk: 'i32 14, i32 4',
    language: 'i32 3, i32 0, i32 0',
    framePointerFlag: false,
    attributes:
      'norecurse nounwind "min-legal-vector-width"="0" "no-builtins" "no-frame-pointer-elim"="true" "no-frame-pointer-elim-non-leaf"="true" "no-trapping-math"="true" "stack-protector-buffer-size"="8"',
    parameters: 'i32 addrspace(1)* %0, i32 %1',
    operands: { function: 18, variable: 16 },
  },
  macos14: {
    head: [1, 0x80, 2, 0, 7, 0, 0, 0x81, 14, 0, 0, 0],
    versions: [2, 6, 3, 1],
    triple: 'air64-apple-macosx14.0.0',
    sdk: 'i32 14, i32 4',
    language: 'i32 3, i32 1, i32 0',
    ...modern,
  },
  macos15: {
    head: [1, 0x80, 2, 0, 8, 0, 0, 0x81, 15, 0, 0, 0],
    versions: [2, 7, 3, 2],
    triple: 'air64-apple-macosx15.0.0',
    sdk: 'i32 15, i32 0',
    language: 'i32 3, i32 2, i32 0',
    ...modern,
  },
  macos26: {
    head: [1, 0x80, 2, 0, 9, 0, 0, 0x81, 26, 0, 0, 0],
    versions: [2, 8, 4, 0],
    triple: 'air64_v28-apple-macosx26.0.0',
    sdk: 'i32 26, i32 5',
    language: 'i32 4, i32 0, i32 0',
    ...modern,
  },
  ios17: {
    head: [1, 0, 2, 0, 7, 0, 0, 0x82, 17, 0, 0, 0],
    versions: [2, 6, 3, 1],
    triple: 'air64-apple-ios17.0.0',
    sdk: 'i32 17, i32 5',
    language: 'i32 3, i32 1, i32 0',
    ...modern,
  },
  ios18: {
    head: [1, 0, 2, 0, 7, 0, 0, 0x82, 18, 0, 0, 0],
    versions: [2, 7, 3, 2],
    triple: 'air64-apple-ios18.0.0',
    sdk: 'i32 18, i32 5',
    language: 'i32 3, i32 2, i32 0',
    ...modern,
  },
};
const names = Object.keys(facts) as Name[];

const kernel = (body: string, more = ''): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 p, q;
  .reg .b32 r, s;
  .reg .b16 h;
  ${more}
  ld.param.u64 p, [out];
  cvta.to.global.u64 p, p;
  ${body}
  ret;
}
`;

/** Stores a thread's number in its block: one buffer, one input. */
const plain = kernel('mov.u32 r, %tid.x; mul.wide.u32 q, r, 4; add.u64 p, p, q; st.global.u32 [p], r;');

function compiled(text: string, target: CompileOptions['target']): { metallib: Uint8Array; module: Module; bitcode: Uint8Array } {
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  const made = compile(source, { target: target! }, diagnostics);
  assert.ok(made, diagnostics.list.map((d) => d.message).join());
  const { bitcode } = readMetallib(made!.metallib, diagnostics)!.functions[0]!;
  return { metallib: made!.metallib, module: readModule(bitcode, diagnostics)!, bitcode };
}

test('the target is the named one, else that of the host, else macos15', () => {
  const source = new SourceFile('k.ptx', plain);
  const metallib = (options: CompileOptions): Uint8Array => compile(source, options, new Diagnostics(source))!.metallib;
  assert.equal(metallib({}), compiled(plain, 'macos15').metallib);
  assert.equal(metallib({ hostTarget: 'macos26' }), compiled(plain, 'macos26').metallib);
  assert.equal(metallib({ hostTarget: 'macos26', target: 'macos14' }), compiled(plain, 'macos14').metallib);
  assert.is(compile(source, { hostTarget: 'macos13' }, new Diagnostics(source))!.reflection.target, 'macos13');
});

/** Operands of each record of a kind, as LLVM's own dump counts them. */
function operandCounts(bitcode: Uint8Array, record: string): Set<number> {
  const dump = tool('llvm-bcanalyzer-14', ['-dump', file('k.bc', bitcode)]).toString();
  const lines = dump.match(new RegExp(`^  <${record} .*$`, 'gm')) ?? [];
  return new Set(lines.map((line) => line.match(/ op\d+=/g)!.length));
}

for (const name of names) {
  const fact = facts[name];

  test(`${name}: header and versions of the container`, () => {
    const { metallib } = compiled(plain, name);
    assert.equal([...metallib.subarray(4, 16)], fact.head);
    const { airVersion, metalVersion } = readMetallib(metallib, new Diagnostics())!.functions[0]!;
    assert.equal([...airVersion, ...metalVersion], fact.versions);
  });

  test(`${name}: triple, flags, versions, attributes`, () => {
    const text = disassemble(compiled(plain, name).module);
    const has = (line: string): void => assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
    has(`target triple = "${fact.triple}"`);
    has(`!0 = !{i32 2, !"SDK Version", [2 x i32] [${fact.sdk}]}`);
    has('!1 = !{i32 1, !"wchar_size", i32 4}');
    const flag = '{i32 7, !"frame-pointer", i32 2}';
    assert.is(text.includes(flag), fact.framePointerFlag);
    has(`!llvm.module.flags = !{${Array.from({ length: fact.framePointerFlag ? 9 : 8 }, (_, i) => `!${i}`).join(', ')}}`);
    has(`attributes #0 = { ${fact.attributes} }`);
    has(`define void @k(${fact.parameters}) local_unnamed_addr #0 {`);
    const [major, minor] = fact.versions;
    assert.match(text, new RegExp(`= !\\{i32 ${major}, i32 ${minor}, i32 0\\}\n![0-9]+ = !\\{!"Metal", ${fact.language}\\}`));
  });

  need(test, ['llvm-bcanalyzer-14'], `${name}: operands of the records of functions and variables`, () => {
    const { bitcode } = compiled(
      kernel('mov.u32 r, %tid.x; st.shared.u32 [w], r; bar.sync 0; ld.shared.u32 r, [w]; st.global.u32 [p], r;', '.shared .u32 w;'),
      name,
    );
    assert.equal(operandCounts(bitcode, 'FUNCTION'), new Set([fact.operands.function]));
    assert.equal(operandCounts(bitcode, 'GLOBALVAR'), new Set([fact.operands.variable]));
  });

  test(`${name}: every example keeps the rules of container and AIR`, () => {
    for (const example of exampleNames) {
      const diagnostics = new Diagnostics();
      const { metallib } = compile(new SourceFile(`${example}.ptx`, exampleText(example)), { target: name }, diagnostics)!;
      assert.ok(validateMetallib(metallib, diagnostics));
      for (const { bitcode } of readMetallib(metallib, diagnostics)!.functions)
        assert.ok(validateAir(readModule(bitcode, diagnostics)!, diagnostics));
      assert.equal(diagnostics.list, [], example);
    }
  });
}

test('a negation keeps every other bit on every target, a NaN’s and a subnormal’s too; no `fneg` for macos13', () => {
  const given = [0x3f800000, 0x80000000, 0, 0x7fc00001, 0xff800000, 0x00000001];
  const body = (loads: string): string =>
    kernel(`mov.u32 r, %tid.x; mul.wide.u32 q, r, 4; add.u64 p, p, q; ${loads} st.global.b32 [p], r;`, '.reg .f32 f;');
  const text = body('ld.global.b32 r, [p]; mov.b32 f, r; neg.f32 f, f; mov.b32 r, f;');
  for (const name of names) {
    const { metallib, module } = compiled(text, name);
    assert.is(disassemble(module).includes('fneg'), name !== 'macos13');
    const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: given.length, args: [Uint32Array.from(given)] });
    assert.equal(
      [...new Uint32Array(after!.slice().buffer)],
      given.map((bits) => (bits ^ 0x80000000) >>> 0),
      name,
    );
  }
});

test('bfloat: from macOS 14 on, refused where it stands before', () => {
  const text = kernel('ld.global.b16 h, [p]; fma.rn.bf16 h, h, h, h; st.global.b16 [p], h;');
  for (const name of names.slice(1)) assert.match(disassemble(compiled(text, name).module), /bfloat/);
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  assert.is(compile(source, { target: 'macos13' }, diagnostics), undefined);
  assert.is(diagnostics.list[0]?.code, 'CM2090');
  assert.match(diagnostics.list[0]!.message, /macos13.*bfloat from macOS 14 on/);
  assert.is(text.slice(diagnostics.list[0]!.labels[0]!.span.start).startsWith('fma.rn.bf16'), true);
});

test('the barrier of a simdgroup: scope 1 up to AIR 2.7, 4 from 2.8 on', () => {
  const text = kernel('mov.u32 r, %tid.x; bar.warp.sync -1; st.global.u32 [p], r;');
  for (const name of names) {
    const scope = /@air\.simdgroup\.barrier\(i32 3, i32 (\d)\)/.exec(disassemble(compiled(text, name).module))?.[1];
    assert.is(scope, name === 'macos26' ? '4' : '1', name);
  }
});

test('fences of memory: from AIR 2.7 on, for macos15, macos26 and ios18 alone', () => {
  const source = new SourceFile('k.ptx', kernel('st.global.u32 [p], 7; membar.gl; st.global.u32 [p+4], 8;'));
  assert.equal(
    names.map((target) => compile(source, { target }, new Diagnostics(source)) !== undefined),
    [false, false, true, true, false, true],
  );
});

// ── the rule `level` ──

function complaints(change: (module: Module) => void, name: Name): string {
  const { module } = compiled(plain, name);
  change(module);
  const diagnostics = new Diagnostics();
  validateAir(module, diagnostics);
  return diagnostics.list.map((d) => `${d.code} ${d.message}`).join();
}

const put =
  (inst: Record<string, unknown>) =>
  ({ functions }: Module): void =>
    void functions[0]!.blocks[0]!.body.unshift({ kind: 'instruction', ...inst } as unknown as Instruction);
const one = { kind: 'constant', form: 'float', type: types.float, bits: 0x3f800000n };

const beyond: Record<string, (module: Module) => void> = {
  fneg: put({ op: 'fneg', type: types.float, value: one, flags: 0 }),
  freeze: put({ op: 'freeze', type: types.float, value: one }),
  bfloat: put({ op: 'cast', opcode: 'fptrunc', type: types.bfloat, value: one }),
  'attribute 68': ({ functions: [fn] }) => {
    fn!.attributes = { ...fn!.attributes, params: [[{ form: 'enum', kind: 68 }]] };
  },
};
for (const [what, change] of Object.entries(beyond))
  test(`the rule of levels: ${what} is one fault for AIR 2.5 and none from 2.6 on`, () => {
    assert.match(complaints(change, 'macos13'), new RegExp(`^CM4050 [^,]*level[^,]*${what}[^,]*$`));
    for (const name of names.slice(1)) assert.is(complaints(change, name), '');
  });

// ── Apple's own files, if present ──

for (const { name, bytes } of realFiles()) {
  const target = /_kernel\.(13|14|15|26)\.metallib$/.exec(name)?.[1];
  if (!target) continue;
  test(`macos${target}: an empty kernel beside ${name}`, () => {
    const empty = '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry foo() { ret; }\n';
    const [ours, theirs] = [compiled(empty, `macos${target}` as Name).metallib, bytes].map((each) => {
      const library = readMetallib(each, new Diagnostics())!;
      const { bitcode, airVersion, metalVersion } = library.functions[0]!;
      const lines = disassemble(readModule(bitcode, new Diagnostics())!).split('\n');
      return { head: [...each.subarray(0, 16)], airVersion, metalVersion, lines };
    });
    assert.equal([ours!.head, ours!.airVersion, ours!.metalVersion], [theirs!.head, theirs!.airVersion, theirs!.metalVersion]);
    // The compiler's name, and fast math, which PTX does not ask for.
    const relaxed = / "(approx-func|no-infs|no-nans|no-signed-zeros|unsafe)-fp-math"="true"/g;
    const same = (lines: string[]): string[] =>
      lines
        .filter((line) => !line.includes('metalfe') && !line.includes('!{!"cumetal"}'))
        .map((line) => line.replaceAll(relaxed, '').replace('fast_math_enable', 'fast_math_disable'));
    assert.equal(same(ours!.lines), same(theirs!.lines));
  });
}

/** Kernels of compute for iOS, by the end of the file's name. */
const ofIos: readonly (readonly [end: string, target: Name])[] = [
  ['UntoldEngineKernels-ios.metallib', 'ios17'],
  ['SwiftGLTFRenderer.iphoneos.metallib', 'ios18'],
];

for (const [end, target] of ofIos)
  for (const { name, bytes } of realFiles().filter((file) => file.name.endsWith(end)))
    test(`${target}: header, versions, triple and flags beside ${name}`, () => {
      const [ours, theirs] = [compiled(plain, target).metallib, bytes].map((each) => {
        const library = readMetallib(each, new Diagnostics())!;
        const { bitcode, airVersion, metalVersion } = library.functions.find(({ type }) => type === 'kernel')!;
        const lines = disassemble(readModule(bitcode, new Diagnostics())!).split('\n');
        const told = lines.filter((line) => /^target|"SDK Version"|"wchar_size"|"frame-pointer", i32|!"air\.max_|!"Metal"/.test(line));
        // All but the minor version of the system.
        const words = told.map((line) => line.replace(/(ios\d+)\.\d+\.\d+/, '$1').replace(/^!\d+ = /, ''));
        return { head: [...each.subarray(0, 13)], airVersion, metalVersion, words };
      });
      assert.equal(ours, theirs);
    });

test.run();
