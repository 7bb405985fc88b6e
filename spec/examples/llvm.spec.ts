/** LLVM 14 accepts every kernel of every example. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, readModule } from '../../src/bitcode/index.ts';
import { validateMetallib } from '../../src/metallib/index.ts';
import { assertQuiet, compileExample, exampleNames, libraryOf } from '../support/examples.ts';
import { llvmText, scratch, tool, verifiedText } from '../support/llvm.ts';
import { need } from '../support/need.ts';

const test = suite('examples/llvm');
const file = scratch();

for (const name of exampleNames) {
  need(test, ['llvm-dis-14', 'llvm-bcanalyzer-14', 'opt-14'], `${name}: LLVM accepts each kernel and reads the same module`, () => {
    const { functions } = libraryOf(compileExample(name).metallib);
    assert.ok(functions.length > 0);
    for (const [i, { bitcode }] of functions.entries()) {
      const path = file(`${name}.${i}.bc`, bitcode);
      tool('llvm-bcanalyzer-14', [path]);
      const text = llvmText(path);
      verifiedText(file, `${name}.${i}`, text);
      const diagnostics = new Diagnostics();
      const module = readModule(bitcode, diagnostics);
      assertQuiet(diagnostics);
      assert.is(disassemble(module!), text);
    }
  });

  test(`${name}: the metallib satisfies the container and AIR rules`, () => {
    const { metallib, reflection } = compileExample(name);
    const diagnostics = new Diagnostics();
    assert.ok(validateMetallib(metallib, diagnostics));
    const { functions } = libraryOf(metallib);
    for (const { bitcode } of functions) assert.ok(validateAir(readModule(bitcode, diagnostics)!, diagnostics));
    assertQuiet(diagnostics);
    assert.equal(
      functions.map((fn) => [fn.name, fn.type]),
      reflection.kernels.map((kernel) => [kernel.name, 'kernel']),
    );
  });

  test(`${name}: compilation is deterministic`, () => {
    assert.ok(Buffer.compare(compileExample(name).metallib, compileExample(name).metallib) === 0);
  });
}

test.run();
