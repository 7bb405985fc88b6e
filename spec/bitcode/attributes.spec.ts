/** Each attribute that LLVM 14 knows: its number and its spelling, as LLVM itself has them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, readModule } from '../../src/bitcode/index.ts';
import { attributeNames } from '../../src/bitcode/names.ts';
import { assembled, llvmText, scratch } from '../support/llvm.ts';
import { need } from '../support/need.ts';

const test = suite('bitcode attributes');
const file = scratch();

/** Where an attribute may stand, by name, as the LLVM 14 Language Reference has it; a function's own where it is not here. */
const places: Readonly<Record<string, string>> = {
  align: 'declare void @f(i8* align 8)',
  alignstack: 'declare void @f() alignstack(8)',
  allocsize: 'declare i8* @f(i32) allocsize(0)',
  byref: 'declare void @f(i32* byref(i32))',
  byval: 'declare void @f(i32* byval(i32))',
  dereferenceable: 'declare void @f(i8* dereferenceable(8))',
  dereferenceable_or_null: 'declare void @f(i8* dereferenceable_or_null(8))',
  immarg: 'declare i8* @llvm.returnaddress(i32 immarg)',
  inalloca: 'declare void @f(i32* inalloca(i32))',
  inreg: 'declare void @f(i32 inreg)',
  jumptable: 'declare void @f() unnamed_addr jumptable',
  nest: 'declare void @f(i8* nest)',
  noalias: 'declare void @f(i8* noalias)',
  nocapture: 'declare void @f(i8* nocapture)',
  nonnull: 'declare void @f(i8* nonnull)',
  noundef: 'declare void @f(i8 noundef)',
  optnone: 'declare void @f() optnone noinline',
  preallocated: 'declare void @f(i32* preallocated(i32))',
  returned: 'declare i8* @f(i8* returned)',
  signext: 'declare void @f(i8 signext)',
  sret: 'declare void @f(i32* sret(i32))',
  swiftasync: 'declare void @f(i8* swiftasync)',
  swifterror: 'declare void @f(i8** swifterror)',
  swiftself: 'declare void @f(i8* swiftself)',
  vscale_range: 'declare void @f() vscale_range(1,2)',
  zeroext: 'declare void @f(i8 zeroext)',
};
/** Of calls alone, and what this LLVM verifies no declaration with. */
const elsewhere: Readonly<Record<string, string>> = {
  builtin: 'declare void @g() nobuiltin\ndefine void @f() {\n  call void @g() builtin\n  ret void\n}',
  elementtype:
    'declare i32* @llvm.preserve.array.access.index.p0i32.p0i32(i32*, i32, i32)\ndefine i32* @f(i32* %p) {\n  %1 = call i32* @llvm.preserve.array.access.index.p0i32.p0i32(i32* elementtype(i32) %p, i32 0, i32 0)\n  ret i32* %1\n}',
};

/** What has an attribute, under a name with its number. */
const textOf = (number: string, name: string): string =>
  (elsewhere[name] ?? places[name] ?? `declare void @f() ${name}`).replaceAll(/@([fg])\b/g, `@$1${number}`);

const text = Object.entries(attributeNames)
  .map(([number, name]) => textOf(number, name))
  .join('\n');

need(test, ['llvm-as-14', 'llvm-dis-14'], 'the number of each is LLVM’s', () => {
  const module = readModule(assembled(file('given.ll', new TextEncoder().encode(text))), new Diagnostics())!;
  for (const [number, name] of Object.entries(attributeNames)) {
    const own = /@(llvm\.[\w.]+)/.exec(places[name] ?? '')?.[1] ?? `f${number}`;
    const fn = module.functions.find((each) => each.name === own);
    assert.ok(fn, `${own} for ${name}`);
    const calls = fn!.blocks.flatMap(({ body }) => body.flatMap((inst) => (inst.op === 'call' ? inst.attributes : [])));
    const given = [fn!.attributes, ...calls].flatMap((list) => [list.function, list.result, ...list.params].flat());
    assert.ok(
      given.some((of) => of.form !== 'string' && of.kind === Number(number)),
      name,
    );
  }
});

need(test, ['llvm-as-14', 'llvm-dis-14'], 'the text of each is what LLVM reads as the same', () => {
  const bytes = assembled(file('given.ll', new TextEncoder().encode(text)));
  const again = assembled(file('ours.ll', new TextEncoder().encode(disassemble(readModule(bytes, new Diagnostics())!))));
  assert.is(llvmText(file('again.bc', again)), llvmText(file('given.bc', bytes)));
});

test.run();
