/** A module that is written and read again is the same module: by its text, and by the bytes it is written to once more. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, type Module, readModule, type Type, types, writeModule } from '../../src/bitcode/index.ts';
import { vectorAdd } from '../support/kernels.ts';
import { emptyModule, moduleFrom } from '../support/modules.ts';

const test = suite('bitcode round trip');

function reread(bytes: Uint8Array): Module {
  const diagnostics = new Diagnostics();
  const module = readModule(bytes, diagnostics);
  assert.equal(
    diagnostics.list.map((d) => d.message),
    [],
  );
  return module!;
}

function staysItself(module: Module): void {
  const bytes = writeModule(module);
  assert.equal(bytes, writeModule(module), 'the same module gives the same bytes');
  const back = reread(bytes);
  assert.is(disassemble(back), disassemble(module));
  assert.equal(writeModule(back), bytes, 'what is read is written as it was');
}

const global = (module: Module, valueType: Type): void =>
  void module.globals.push({
    kind: 'global',
    name: `g${module.globals.length}`,
    type: types.pointer(valueType),
    valueType,
    isConstant: false,
    init: undefined,
    linkage: 'external',
    align: 0,
    section: undefined,
    unnamedAddr: 'none',
    externallyInitialized: false,
    dsoLocal: false,
  });

test('a kernel as it is emitted', () => staysItself(emitKernel(vectorAdd(), targets.macos14, new Diagnostics())));

test('an empty module', () => staysItself(emptyModule()));

test('what stands around a module: identification, triple, layout, sections, source', () => {
  const module = {
    ...emptyModule(),
    identification: 'someone',
    triple: 'air64-apple-macosx14.0.0',
    dataLayout: 'e-p:64:64:64',
    sections: ['a'],
  };
  module.sourceFilename = 'é "quoted".metal';
  const back = reread(writeModule(module));
  assert.equal({ ...back }, { ...module });
});

test('two modules with structs of one name keep them apart', () => {
  const [one, two] = [emptyModule(), emptyModule()];
  for (const [module, field] of [
    [one, types.i32],
    [two, types.double],
  ] as const) {
    const pair = types.namedStruct('pair', [field, types.i8]);
    module.structs.push(pair);
    global(module, types.pointer(pair));
  }
  assert.is.not(one.globals[0]!.valueType, two.globals[0]!.valueType);
  const back = [one, two].map((module) => disassemble(reread(writeModule(module))));
  assert.match(back[0]!, /^%pair = type \{ i32, i8 \}$/m);
  assert.match(back[1]!, /^%pair = type \{ double, i8 \}$/m);
});

test('types are interned: equal ones are one object, structs without name too', () => {
  assert.is(types.pointer(types.struct([types.i32, types.float])), types.pointer(types.struct([types.i32, types.float])));
  assert.is.not(types.struct([types.i32]), types.struct([types.i32], true));
  assert.is.not(types.vector(types.i32, 2), types.array(types.i32, 2));
  assert.is.not(types.function(types.void, []), types.function(types.void, [], true));
});

test('structs that point to themselves and to each other', () => {
  const module = emptyModule();
  const list = types.namedStruct('list', undefined) as { fields?: readonly Type[] } & ReturnType<typeof types.namedStruct>;
  const tree = types.namedStruct('tree', [types.pointer(list), types.array(types.pointer(types.struct([list])), 2)]);
  Object.assign(list, { fields: [types.pointer(list), types.pointer(tree)] });
  module.structs.push(list, tree);
  global(module, tree);
  assert.is(disassemble(reread(writeModule(module))), disassemble(module));
  assert.match(disassemble(module), /^%tree = type \{ %list\*, \[2 x \{ %list \}\*\] \}\n%list = type \{ %list\*, %tree\* \}$/m);
});

test('any module', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { maxLength: 300, size: 'max' }), (tape) => staysItself(moduleFrom(tape))),
    { numRuns: 150, seed: 14 },
  );
});

test.run();
