/** Modules that are LLVM and no kernel that can be run: refused by name, never an exception. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, raiseModule, targets } from '../../src/air/index.ts';
import { node, textAt } from '../../src/air/metadata-values.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type Constant, type Instruction, type Module, type Type, types, type Value } from '../../src/bitcode/index.ts';
import type { Metadata, MetadataNode } from '../../src/bitcode/model.ts';
import { vectorAdd } from '../support/kernels.ts';

const test = suite('air refusals');

const int = (type: Type, value: bigint): Constant => ({ kind: 'constant', form: 'int', type, value }) as Constant;
const zero = (type: Type): Constant => ({ kind: 'constant', form: 'null', type });

const reachable = (nodes: readonly MetadataNode[]): MetadataNode[] =>
  nodes.flatMap((each) => [each, ...reachable(each.operands.filter((operand): operand is MetadataNode => operand?.kind === 'node'))]);

/** The diagnostics of raising `vector_add` with an added global or added instructions. */
function refusal(change: (module: Module, put: (inst: Record<string, unknown>) => Value) => void): string {
  const module = emitKernel(vectorAdd(), targets.macos14, new Diagnostics());
  const { body } = module.functions[0]!.blocks[0]!;
  let at = 0;
  change(module, (inst) => {
    const made = { kind: 'instruction', ...inst } as unknown as Instruction;
    body.splice(at++, 0, made);
    return made;
  });
  const diagnostics = new Diagnostics();
  const raised = raiseModule(module, diagnostics);
  assert.is(raised.length === 0, diagnostics.hasErrors);
  return diagnostics.list.map((d) => `${d.code} ${d.message}`).join();
}

function global(module: Module, valueType: Type, space: number): void {
  module.globals.push({
    kind: 'global',
    name: 'vast',
    type: types.pointer(valueType, space),
    valueType,
    isConstant: true,
    init: zero(valueType),
    linkage: 'internal',
    align: 4,
    section: undefined,
    unnamedAddr: 'none',
    externallyInitialized: false,
    dsoLocal: false,
  });
}

const vast = Array.from({ length: 40 }).reduce<Type>((type) => types.array(type, 2 ** 31), types.i32);

test('without a change: raised', () =>
  assert.is(
    refusal(() => {}),
    '',
  ));

/** A call of a function with one parameter, which is also its type: void, or the result of a name with a type. */
function callOf(name: string, result: Type, arg: Constant): string {
  return refusal((module, put) => {
    const functionType = types.function(result, [arg.type]);
    const attributes = { function: [], result: [], params: [] };
    const common = { kind: 'function', name, functionType, type: types.pointer(functionType), linkage: 'external', attributes } as const;
    module.functions.push({ ...common, unnamedAddr: 'none', dsoLocal: false, section: undefined, args: [], blocks: [], metadata: [] });
    const callee = module.functions[module.functions.length - 1]!;
    put({ op: 'call', type: result, functionType, callee, args: [arg], attributes, tail: 'none', flags: 0 });
  });
}

test('a call of an unknown function is refused by its name; a hint to the compiler is left out', () => {
  assert.match(callOf('air.nobody_knows', types.void, int(types.i64, 1n)), /^CM4053 .*the function `air.nobody_knows`/);
  assert.is(callOf('llvm.lifetime.start.p0i8', types.void, int(types.i64, 1n)), '');
});

test('a known function of another type is refused by its name and type', () => {
  const name = 'air.normalize_function_constant_predicate.i8';
  assert.is(callOf(name, types.i8, int(types.i8, 1n)), '');
  assert.match(
    callOf(name, types.i8, int(types.i32, 1n)),
    /^CM4053 .*the function `air.normalize_function_constant_predicate.i8` of type i8 \(i32\)/,
  );
  assert.match(callOf(name, types.i32, int(types.i8, 1n)), /^CM4053 .* of type i32 \(i8\)/);
});

test('a buffer in another address space than its metadata says', () => {
  const inSpace = (space: number): string =>
    refusal((module) => {
      const nodes = reachable(module.namedMetadata.find(({ name }) => name === 'air.kernel')!.nodes);
      const buffer = nodes.find(({ operands }) => operands.some((each) => textAt(each) === 'air.address_space'))!;
      const at = buffer.operands.findIndex((each) => textAt(each) === 'air.address_space');
      (buffer.operands as Metadata[])[at + 1] = node(space).operands[0]!;
    });
  assert.is(inSpace(1), '');
  assert.match(inSpace(2), /^CM4053 .*buffer parameter `\w+` in two address spaces/);
});

test('variables larger than any memory', () => {
  for (const [type, space] of [
    [types.array(types.i32, 2 ** 31), 2],
    [types.array(types.i32, 2 ** 31), 3],
    [vast, 2],
    [vast, 3],
  ] as const)
    assert.match(
      refusal((module) => global(module, type, space)),
      /^CM4053 .*the variable `vast` of .* bytes/,
    );
});

test('stack memory larger than any memory', () => {
  const alloca = (allocated: Type, count: bigint) =>
    refusal((_, put) => void put({ op: 'alloca', type: types.pointer(allocated), allocated, count: int(types.i64, count), align: 4 }));
  assert.match(alloca(types.i32, 2n ** 40n), /^CM4053 .*stack memory/);
  assert.match(alloca(vast, 1n), /^CM4053 .*stack memory/);
  assert.is(alloca(types.i32, 4n), '');
});

test('an address in steps that no number holds', () => {
  const found = refusal((module, put) => {
    const base = zero(types.pointer(vast, 1));
    put({ op: 'gep', type: base.type, sourceType: vast, inbounds: false, base, indices: [module.functions[0]!.args[4]!] });
  });
  assert.match(found, /^CM4053 .*an address of/);
});

test('vector elements out of range', () => {
  const vector = types.vector(types.i32, 2);
  for (const lane of [2n, 2n ** 32n - 1n])
    assert.match(
      refusal(
        (_, put) =>
          void put({ op: 'insertelement', type: vector, vector: zero(vector), value: int(types.i32, 1n), index: int(types.i32, lane) }),
      ),
      /^CM4053 .*out of range/,
    );
});

test('vectors of thousands of elements', () => {
  const vector = types.vector(types.i32, 60_000);
  assert.match(
    refusal((_, put) => void put({ op: 'freeze', type: vector, value: zero(vector) })),
    /^CM4053 .*vectors of 60000 elements/,
  );
});

test('a result that is not of its type', () => {
  assert.match(
    refusal((_, put) => void put({ op: 'cast', opcode: 'bitcast', type: types.vector(types.i32, 3), value: int(types.i64, 1n) })),
    /^CM4053 /,
  );
  assert.match(
    refusal((_, put) => void put({ op: 'binary', opcode: 'add', type: types.i64, a: int(types.i32, 1n), b: int(types.i32, 1n), flags: 0 })),
    /^CM4053 .*a result of type i64/,
  );
});

test('a bitcast between elements of which none holds the other', () => {
  const three = types.vector(types.i16, 3);
  assert.match(
    refusal((_, put) => void put({ op: 'cast', opcode: 'bitcast', type: types.vector(types.int(24), 2), value: zero(three) })),
    /^CM4053 /,
  );
});

test('a value that is not defined on every path to its use', () => {
  const module = emitKernel(vectorAdd(), targets.macos14, new Diagnostics());
  const [entry, body, exit] = module.functions[0]!.blocks;
  assert.is(entry!.body[entry!.body.length - 1]!.op, 'condbr');
  const some = body!.body.find((inst) => inst.type === types.float)!;
  exit!.body.unshift({ kind: 'instruction', op: 'fneg', type: types.float, value: some, flags: 0 });
  const diagnostics = new Diagnostics();
  assert.equal(raiseModule(module, diagnostics), []);
  assert.is(diagnostics.list[0]!.code, 'CM4053');
});

test.run();
