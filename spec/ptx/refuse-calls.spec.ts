/** Refused calls: one diagnostic per call, with the name of the function, and none for instructions that only pass arguments. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';

const test = suite('ptx/refuse-calls');

const head = `.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 r) twice (.param .b32 p);
.func nothing (); .extern .func free (.param .b64 p);
.visible .entry k (.param .u64 entry) {
.reg .b32 %r<4>; .reg .b64 %rd<4>;
`;

const textOf = (body: string): string => `${head}${body}\nret;\n}\n`;

/** Line, code and message. */
const said = (body: string): string[] => saidOf(textOf(body));

function saidOf(text: string): string[] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  check(parse(file, diagnostics), {}, diagnostics);
  return diagnostics.sorted().map(({ code, labels, message }) => `${file.position(labels[0]!.span.start).line} ${code} ${message}`);
}

const direct = `{ .param .b32 in; .param .align 4 .b8 wide[8]; .param .b32 out;
st.param.b32 [in+0], %r1;
st.param.v2.b32 [wide], {%r1, %r2};
call.uni (out), twice, (in);
ld.param.b32 %r2, [out+0];
}`;

const pointer = `P: .callprototype (.param .b32 _) _ (.param .b32 _);
{ .param .b32 in; .param .b32 out;
st.param.b32 [in], %r1;
call (out), %rd1, (in), P;
ld.param.b32 %r2, [out];
}`;

const unreturned = `P: .callprototype _ (.param .b32 _);
call %rd1, (%r1), P;`;

const print = `{ .param .b64 format; .param .b64 values; .param .b32 out;
st.param.b64 [format], %rd1;
st.param.b64 [values], %rd1;
call.uni (out), vprintf, (format, values);
ld.param.b32 %r2, [out];
}`;

const noBody = 'its body is not in this module';

test('a call of a function without a body is refused once, by the name of the function', () => {
  assert.equal(said(direct), [`12 CM2040 a call of \`twice\` is not supported: ${noBody}`]);
  assert.equal(said('call nothing;'), [`9 CM2040 a call of \`nothing\` is not supported: ${noBody}`]);
});

test('a call through a pointer that can be of no function says so', () => {
  const why = 'the module does not take the address of any function with these parameters and results';
  assert.equal(said(pointer), [`12 CM2040 a call through the pointer \`%rd1\` is not supported: ${why}`]);
  assert.equal(said(unreturned), [`10 CM2040 a call through the pointer \`%rd1\` is not supported: ${why}`]);
  assert.equal(said('P: .callprototype _ ();\ncall %rd1, P;'), [`10 CM2040 a call through the pointer \`%rd1\` is not supported: ${why}`]);
});

test('vprintf is taken as CUDA declares it, and refused otherwise', () => {
  assert.equal(said(print), []);
  const narrow = 'vprintf (.param .b64 a, .param .b32 b)';
  const text = textOf(print).replace('vprintf (.param .b64 a, .param .b64 b)', narrow).replace('.param .b64 values', '.param .b32 values');
  const other = text.replace('st.param.b64 [values], %rd1', 'st.param.b32 [values], %r1');
  assert.equal(saidOf(other), ['12 CM2040 a call of `vprintf` is not supported: its declaration differs from CUDA’s']);
});

test('what is wrong with a result is said all the same', () => {
  const found = said(direct.replace('ld.param.b32 %r2', 'ld.param.b64 %r2'));
  assert.is(found.length, 2, found.join('\n'));
  assert.match(found[1]!, /^13 CM1107 `%r2` has type \.b32/);
});

need(test, ['ptxas'], 'ptxas takes these calls', () => {
  for (const body of [direct, pointer, unreturned, print, 'call nothing;']) {
    const faults = ptxasFaults(textOf(body));
    assert.equal([...faults.values()], [], body);
  }
});

test.run();
