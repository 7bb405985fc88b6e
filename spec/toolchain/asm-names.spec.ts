/** Names of registers in templates of inline assembly: where clang wants a second percent sign, and where a source stays as it is. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withAsmNames } from '../../src/toolchain/asm-names.ts';

const test = suite('toolchain/asm-names');

const changed = (text: string): string => new TextDecoder().decode(withAsmNames(new TextEncoder().encode(text)));

for (const [what, text, expected] of [
  ['a name', 'asm("mov.u64 %0, %clock64;" : "=l"(x));', 'asm("mov.u64 %0, %%clock64;" : "=l"(x));'],
  ['two signs', 'asm("mov.u64 %0, %%clock64;" : "=l"(x));', undefined],
  ['a modifier and a number, a name of an operand', 'asm("add %c0, %[x], %=;" : "=r"(r));', undefined],
  ['several literals', 'asm volatile("a" // "x" :\n "mov %%a, %tid.x;" : );', 'asm volatile("a" // "x" :\n "mov %%a, %%tid.x;" : );'],
  ['a raw literal', '__asm__ __volatile__(R"q(mov %0, %laneid; ")" )q" ::);', '__asm__ __volatile__(R"q(mov %0, %%laneid; ")" )q" ::);'],
  ['no operands', 'asm("mov.u32 r, %laneid;");', undefined],
  ['a macro', 'asm(TEXT "%laneid" : );', undefined],
  ['operands behind it', 'asm("x %smid;" : "=r"(f("%smid")));', 'asm("x %%smid;" : "=r"(f("%smid")));'],
  ['a quote in a literal', 'asm("// \\" %smid" : );', 'asm("// \\" %%smid" : );'],
  ['another word', 'plasm("%smid" : ); // asm', undefined],
  ['an open end', 'asm("%smid', undefined],
] as const)
  test(what, () => assert.is(changed(text), expected ?? text));

test('bytes of other encodings stay, and a source without assembly is the same object', () => {
  const bytes = Uint8Array.of(0x2f, 0x2f, 0xe9, 0x80, 0x0a, ...new TextEncoder().encode('é asm("%smid":);'));
  const found = withAsmNames(bytes);
  assert.equal([...found.subarray(0, 7)], [...bytes.subarray(0, 7)]);
  assert.is(found.length, bytes.length + 1);
  const plain = new TextEncoder().encode('int asn;');
  assert.is(withAsmNames(plain), plain);
});

test('a long source takes no longer than a pass over it', () => {
  const line = 'asm volatile("mov.u32 %0, %smid;" : "=r"(x)); // asm asm ("\n';
  assert.is(changed(line.repeat(20_000)).length, (line.length + 1) * 20_000);
});

test.run();
