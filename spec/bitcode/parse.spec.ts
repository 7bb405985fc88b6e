/** LLVM text to modules: what the disassembler writes comes back as it was, and everything else is refused with its place. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { disassemble, type Module, parseModules, readModule, writeModule } from '../../src/bitcode/index.ts';
import { type CompileOptions, emit } from '../../src/compile/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { examplesFolder } from '../support/examples.ts';
import { assembled } from '../support/llvm.ts';
import { need } from '../support/need.ts';

const test = suite('bitcode/parse');

function parsed(text: string): Module[] {
  const diagnostics = new Diagnostics(new SourceFile('t.ll', text));
  const modules = parseModules(text, diagnostics);
  assert.equal(
    diagnostics.list.map(
      ({ message, labels }) => `${message} at ${JSON.stringify(text.slice(labels[0]!.span.start, labels[0]!.span.start + 60))}`,
    ),
    [],
  );
  return modules!;
}

const fault = (text: string): string => {
  const file = new SourceFile('t.ll', text);
  const diagnostics = new Diagnostics(file);
  assert.is(parseModules(text, diagnostics), undefined, text.slice(0, 200));
  const [only] = diagnostics.list;
  const { line, column } = file.position(only!.labels[0]!.span.start);
  return `${only!.code} ${line}:${column} ${only!.message}`;
};

for (const target of ['macos13', 'macos15', 'cpu'] as const)
  test(`the bitcode of every example for ${target} comes back byte for byte from its text`, () => {
    for (const name of readdirSync(examplesFolder).filter((each) => each.endsWith('.ptx'))) {
      const source = new SourceFile(name, readFileSync(join(examplesFolder, name), 'utf8'));
      const as = (what: 'air-ll' | 'metallib'): string | Uint8Array => {
        const options: CompileOptions = { target };
        return emit(source, what, options, new Diagnostics(source))!;
      };
      const functions = readMetallib(as('metallib') as Uint8Array, new Diagnostics())!.functions;
      const modules = parsed(as('air-ll') as string);
      assert.is(modules.length, functions.length);
      modules.forEach((module, i) => {
        assert.ok(Buffer.from(writeModule(module, targets[target].dialect)).equals(functions[i]!.bitcode), `${name} ${functions[i]!.name}`);
      });
    }
  });

need(test, ['llvm-as-14'], 'text of LLVM 14 comes back as it was, of every construct', () => {
  for (const name of ['attributes', 'constants', 'control', 'floats', 'integers', 'memory', 'metadata']) {
    const path = new URL(`../../fixtures/bitcode/${name}.ll`, import.meta.url).pathname;
    const text = disassemble(readModule(assembled(path), new Diagnostics())!);
    const [module] = parsed(text);
    assert.is(disassemble(module!), text, name);
    const again = readModule(writeModule(module!, targets.macos15.dialect), new Diagnostics());
    assert.is(disassemble(again!), text, name);
  }
});

const head = 'source_filename = "t"\n';
const body = (text: string): string => `${head}define void @f(i32 %0, float* %1) {\n${text}\n  ret void\n}\n`;

test('what is not supported or wrong is an error at its place', () => {
  assert.is(fault(body('  fence acquire')), 'CM4072 3:8 this LLVM text cannot be read: the instruction `fence` is not supported');
  assert.match(fault(body('  %3 = add i32 %0, %9')), /`%9` is not defined/);
  assert.match(fault(body('  %3 = add i32 %0, %1')), /3:22 .*`%1` has another type/);
  assert.match(fault(body('  %3 = load i32, ptr %1, align 4')), /opaque pointers are not supported/);
  assert.match(fault(body('  %3 = add i32 %0, 1\n  %3 = add i32 %0, 2')), /`%3` is defined twice/);
  assert.match(fault(body('  br label %nowhere')), /block `%nowhere` is not defined/);
  assert.match(fault(body('  store i32 %0, float* %1')), /expected `,`/);
  assert.match(fault(body('  add i32 %0, 1')), /only an instruction with a result has a name/);
  assert.match(fault(body('  call void @missing(i32 1)')), /the module has no symbol `@missing`/);
  assert.match(fault(body('  %3 = fadd float 0.1, 1.0')), /`0\.1` is no float/);
  assert.match(fault(`${head}!0 = distinct !DICompileUnit(language: DW_LANG_C)\n`), /2:15 .*debug information in text is not supported/);
  assert.match(fault(`${head}!named = !{!4}\n`), /the module has no node `!4`/);
  assert.match(fault(`${head}module asm "nop"\n`), /2:1 .*not supported in LLVM text/);
  assert.match(fault(`${head}define void @f() {\n  br label %1\n`), /CM4072/);
  assert.match(
    fault(`${head}@g = global ${'['.repeat(0)}${'[1 x '.repeat(100)}i8${']'.repeat(100)} zeroinitializer\n`),
    /nested too deeply/,
  );
});

test('damaged text never throws, and ends soon', () => {
  const source = new SourceFile('block_sum.ptx', readFileSync(join(examplesFolder, 'block_sum.ptx'), 'utf8'));
  const text = emit(source, 'air-ll', {}, new Diagnostics(source)) as string;
  withinCpuSeconds(60, () => {
    for (let at = 0; at < text.length; at += 151) {
      const file = new SourceFile('t.ll', text);
      parseModules(text.slice(0, at), new Diagnostics(file));
      parseModules(`${text.slice(0, at)}${'%@!{}[]<>,"0x'[at % 13]}${text.slice(at + 1)}`, new Diagnostics(file));
      parseModules(text.slice(0, at) + text.slice(at + 1 + (at % 40)), new Diagnostics(file));
    }
  });
});

test.run();
