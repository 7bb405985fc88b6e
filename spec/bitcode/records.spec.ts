/** The table of records against LLVM 14: each field by its name, worked out from the text, where `llvm-bcanalyzer` finds it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planOf, type RecordRow } from '../../src/bitcode/fields.ts';
import { type BlockName, blocks } from '../../src/bitcode/records.ts';
import { bodyRecords, endRecord, typed, word } from '../../src/bitcode/write/record-fields.ts';
import { tapeFor } from '../../src/bitcode/write/tape.ts';
import type { Walk } from '../../src/bitcode/write/walk.ts';
import { assembled, scratch, tool } from '../support/llvm.ts';
import { need } from '../support/need.ts';

const test = suite('bitcode records');
const file = scratch();

/** Ids: `@g` 0, `@callee` 1, `@f` 2, the 7 of `@g` 3, arguments 4 to 9, constants 1 and 5 of the function 10 and 11, `%add` 12. */
const text = `
%pair = type { i32, i64 }
@g = internal addrspace(2) constant i32 7, align 8
declare void @callee(i32, ...)
define i32 @f(i32* %p, i32 %x, i1 %c, <4 x i32> %v, %pair %s, float %y) {
entry:
  %add = add nuw i32 %x, %x
  %cast = zext i32 %add to i64
  %load = load volatile i32, i32* %p, align 4
  store volatile i32 %load, i32* %p, align 16
  %cmp = icmp ult i32 %load, %x
  %fcmp = fcmp ninf olt float %y, %y
  %sel = select i1 %cmp, i32 %load, i32 %add
  %gep = getelementptr inbounds i32, i32* %p, i64 %cast
  %ext = extractvalue %pair %s, 1
  %ins = insertvalue %pair %s, i32 %x, 0
  %ee = extractelement <4 x i32> %v, i32 %x
  %ie = insertelement <4 x i32> %v, i32 %ee, i32 %x
  %neg = fneg nnan float %y
  %al = alloca i32, align 8
  tail call void (i32, ...) @callee(i32 %x, i64 %cast)
  br i1 %c, label %one, label %two
one:
  br label %two
two:
  %phi = phi i32 [ %add, %entry ], [ %x, %one ], [ %later, %two ]
  %later = freeze i32 %phi
  switch i32 %later, label %two [ i32 5, label %end ]
end:
  ret i32 %later
}
`;
const [i32, i64, calleeType] = [0, 8, 3];

type Expected = readonly [llvmName: string, block: BlockName, name: string, fields: Readonly<Record<string, number | readonly number[]>>];

/** Of the records of these names those that the text makes, in their order. */
const expected: readonly Expected[] = [
  ['INTEGER', 'types', 'integer', { bits: 32 }],
  ['POINTER', 'types', 'pointer', { pointee: i32, space: 2 }],
  ['VECTOR', 'types', 'vector', { count: 4, element: i32 }],
  ['STRUCT_NAMED', 'types', 'structNamed', { packed: 0, elements: [i32, i64] }],
  ['INST_BINOP', 'function', 'binop', { a: 12 - 5, b: 12 - 5, opcode: 0, flags: 1 }],
  ['INST_CAST', 'function', 'cast', { value: 13 - 12, type: i64, opcode: 1 }],
  ['INST_LOAD', 'function', 'load', { pointer: 14 - 4, type: i32, align: 3, volatile: 1 }],
  ['INST_STORE', 'function', 'store', { pointer: 15 - 4, value: 15 - 14, align: 5, volatile: 1 }],
  ['INST_CMP2', 'function', 'cmp2', { a: 15 - 14, b: 15 - 5, predicate: 36 }],
  ['INST_CMP2', 'function', 'cmp2', { a: 16 - 9, b: 16 - 9, predicate: 4, flags: 4 }],
  ['INST_VSELECT', 'function', 'select', { true: 17 - 14, false: 17 - 12, condition: 17 - 15 }],
  ['INST_GEP', 'function', 'gep', { inbounds: 1, type: i32, base: 18 - 4, indices: [18 - 13] }],
  ['INST_EXTRACTVAL', 'function', 'extractValue', { aggregate: 19 - 8, path: [1] }],
  ['INST_INSERTVAL', 'function', 'insertValue', { aggregate: 20 - 8, value: 20 - 5, path: [0] }],
  ['INST_EXTRACTELT', 'function', 'extractElement', { vector: 21 - 7, index: 21 - 5 }],
  ['INST_INSERTELT', 'function', 'insertElement', { vector: 22 - 7, value: 22 - 21, index: 22 - 5 }],
  ['INST_UNOP', 'function', 'unop', { value: 23 - 9, opcode: 0, flags: 2 }],
  ['INST_ALLOCA', 'function', 'alloca', { type: i32, sizeType: i32, size: 10, align: 64 + 4 }],
  ['INST_CALL', 'function', 'call', { attributes: 0, cc: 2 ** 15 + 1, type: calleeType, callee: 25 - 1, args: [25 - 5, 25 - 13] }],
  ['INST_BR', 'function', 'br', { then: 1, else: 2, condition: 25 - 6 }],
  ['INST_BR', 'function', 'br', { then: 2 }],
  ['INST_PHI', 'function', 'phi', { type: i32, incoming: [2 * (25 - 12), 0, 2 * (25 - 5), 1, 2 * (26 - 25) + 1, 2] }],
  ['INST_SWITCH', 'function', 'switch', { type: i32, condition: 27 - 26, default: 2, cases: [11, 3] }],
  ['INST_RET', 'function', 'ret', { value: 27 - 26 }],
];

const rowOf = (block: BlockName, name: string): RecordRow => (blocks[block].records as Readonly<Record<string, RecordRow>>)[name]!;

/** The operands of fields in the order of the table. */
function operands([, block, name, fields]: Expected): number[] {
  const names = planOf(rowOf(block, name)).fields.map((field) => field.name);
  assert.equal(
    Object.keys(fields).filter((each) => !names.includes(each)),
    [],
    name,
  );
  return names.flatMap((each) => fields[each] ?? []);
}

need(test, ['llvm-as-14', 'llvm-bcanalyzer-14'], 'fields are where LLVM 14 writes them', () => {
  const bytes = assembled(file('fields.ll', new TextEncoder().encode(text)));
  const dump = tool('llvm-bcanalyzer-14', ['-dump', file('fields.bc', bytes)]).toString();
  // The constants block has records named INTEGER as well.
  const lines = dump.replace(/<CONSTANTS_BLOCK[\s\S]*?<\/CONSTANTS_BLOCK>/g, '').split('\n');
  for (const name of new Set(expected.map(([llvmName]) => llvmName))) {
    const found = lines.filter((line) => line.trimStart().startsWith(`<${name} `));
    const wanted = expected.filter(([llvmName]) => llvmName === name);
    assert.ok(found.length >= wanted.length, name);
    const written = found.map((line) => [...line.matchAll(/\bop\d+=(\d+)/g)].map(([, value]) => Number(value)));
    for (const [i, each] of wanted.entries()) assert.equal(written[i], operands(each), `${name} ${i}`);
  }
});

need(test, ['llvm-as-14', 'llvm-bcanalyzer-14'], 'a global and a function: their fields among those of LLVM 14', () => {
  const bytes = assembled(file('symbols.ll', new TextEncoder().encode(text)));
  const dump = tool('llvm-bcanalyzer-14', ['-dump', file('symbols.bc', bytes)]).toString();
  const fieldsIn = (name: string, row: RecordRow): Record<string, number> => {
    const line = dump.split('\n').find((each) => each.trimStart().startsWith(`<${name} op0=`))!;
    const values = [...line.matchAll(/\bop\d+=(\d+)/g)].map(([, value]) => Number(value));
    const { fields } = planOf(row);
    assert.is(values.length, fields.length, `${name} has as many operands as the table has fields`);
    return Object.fromEntries(fields.map((field, i) => [field.name, values[i]!]));
  };
  const global = fieldsIn('GLOBALVAR', blocks.module.records.globalVar);
  // Address space 2, explicit type, constant; the id of 7 plus 1; internal; 8 bytes as log2 + 1.
  const wanted = { name: 0, size: 1, type: i32, flags: (2 << 2) | 2 | 1, init: 3 + 1, linkage: 3, align: 4, dsoLocal: 1 };
  for (const [name, value] of Object.entries(wanted)) assert.is(global[name], value, name);
  const declared = fieldsIn('FUNCTION', blocks.module.records.function);
  for (const [name, value] of Object.entries({ name: 1, size: 6, type: calleeType, cc: 0, declaration: 1, linkage: 0 }))
    assert.is(declared[name], value, name);
});

const walk = (): Walk => ({ tape: tapeFor(1), slot: 0, typeAt: -1, instructions: [] }) as unknown as Walk;

test('a field that is written out of order is an error of ours', () => {
  assert.throws(() => word(walk(), bodyRecords.load.f.align, 3), /field 2 of a record in place of 0/);
});

test('so is a record that lacks a field', () => {
  const w = walk();
  w.instructions = [{ number: 0 }] as never;
  typed(w, bodyRecords.store.f.pointer, w.instructions[0]!);
  assert.throws(() => endRecord(w, bodyRecords.store), /record 44 lacks its field value/);
});

test.run();
