/**
 * Modules that others' compilers wrote, with LLVM 14 as the judge: our text of each assembles to the same module, and so does what
 * is read and written again. Registered where CUMETAL_REAL_METALLIBS names a folder with such files.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, type Module, readModule, writeModule } from '../../src/bitcode/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { assembled, llvmText, scratch } from '../support/llvm.ts';
import { need } from '../support/need.ts';
import { needRealFiles, realFiles } from '../support/real.ts';

const test = suite('real modules');
const tools = ['llvm-as-14', 'llvm-dis-14'];
const file = scratch();

function read(bytes: Uint8Array): Module {
  const diagnostics = new Diagnostics();
  const module = readModule(bytes, diagnostics);
  assert.ok(module, diagnostics.list.map((d) => d.message).join());
  return module!;
}

needRealFiles(test, 'modules that others’ compilers wrote');

for (const { name, bytes } of realFiles())
  for (const fn of readMetallib(bytes, new Diagnostics())?.functions ?? [])
    need(test, tools, `${name}, ${fn.name}: disassembled, assembled, written again`, () => {
      const module = read(fn.bitcode);
      const expected = llvmText(file('real.bc', fn.bitcode));
      const text = file('real.ll', new TextEncoder().encode(disassemble(module)));
      assert.is(llvmText(file('assembled.bc', assembled(text))), expected);
      const again = writeModule(module);
      assert.is(llvmText(file('written.bc', again)), expected);
      assert.equal(writeModule(read(again)), again);
    });

test.run();
