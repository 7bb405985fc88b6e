/** C++ names of kernels on the command line and in what it prints. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';

const test = suite('cli/names');

/** Each kernel stores its number. */
const kernel = (name: string, number: number): string =>
  `.visible .entry ${name}(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d1, [p]; mov.u32 %r1, ${number}; st.global.u32 [%d1], %r1; ret; }\n`;
const head = '.version 7.0\n.target sm_70\n.address_size 64\n';
const files = {
  'k.ptx': `${head}${kernel('_Z5scaleIfEvPT_', 1)}${kernel('_Z5scaleIdEvPT_', 2)}${kernel('_ZN2ns4onlyEPf', 3)}`,
  'bad.ptx': `${head}.visible .entry _ZN2ns3badEPf() { foo; ret; }\n`,
};
const launch = ['--grid', '1', '--block', '1', '--arg', 'u32:1'];

test('`--kernel` takes a C++ name, of PTX and of a metallib', async () => {
  const metallib = (await commandLine(['build', 'k.ptx', '-o', 'k.metallib'], files)).written['k.metallib']!;
  for (const file of ['k.ptx', 'k.metallib'])
    for (const [name, number, shown] of [
      ['only', 3, 'ns::only(float*)'],
      ['ns::only', 3, 'ns::only(float*)'],
      ['scale<float>', 1, 'scale<float>(float*)'],
      ['scale<double>(double*)', 2, 'scale<double>(double*)'],
      ['_Z5scaleIdEvPT_', 2, 'scale<double>(double*)'],
    ] as const) {
      const { code, out, err } = await commandLine(['run', file, '--kernel', name, ...launch], { ...files, 'k.metallib': metallib });
      assert.equal([code, err], [0, ''], `${file} ${name}`);
      assert.ok(out.startsWith(`${shown} on `), out);
      assert.match(out, new RegExp(`\\n {2}0 \\| ${number}\\n`));
    }
});

test('a name of several kernels is a usage error that lists them', async () => {
  const metallib = (await commandLine(['build', 'k.ptx', '-o', 'k.metallib'], files)).written['k.metallib']!;
  for (const [file, code] of [
    ['k.ptx', 'CM1121'],
    ['k.metallib', 'CM5004'],
  ] as const) {
    const ran = await commandLine(['run', file, '--kernel', 'scale', ...launch], { ...files, 'k.metallib': metallib });
    assert.is(ran.code, 2);
    assert.ok(ran.err.includes(`error[${code}]: \`scale\` names 2`), ran.err);
    assert.match(ran.err, /`scale<float>\(float\*\)`, `scale<double>\(double\*\)`/);
  }
});

test('an unknown name', async () => {
  const { code, err } = await commandLine(['run', 'k.ptx', '--kernel', 'ns::other', ...launch], files);
  assert.is(code, 1);
  assert.match(err, /the file holds `scale<float>\(float\*\)`, `scale<double>\(double\*\)`, `ns::only\(float\*\)`/);
});

test('`build --entry` and `inspect --function` take one as well', async () => {
  const built = await commandLine(['build', 'k.ptx', '--entry', 'ns::only', '-o', 'o.metallib'], files);
  assert.is(built.code, 0);
  const { code, out } = await commandLine(['inspect', 'o.metallib', '--function', 'only'], { 'o.metallib': built.written['o.metallib']! });
  assert.is(code, 0);
  assert.match(out, /\nkernel ns::only\(float\*\)\n {2}mangled name _ZN2ns4onlyEPf\n/);
});

test('machines get both names', async () => {
  const { out } = await commandLine(['run', 'k.ptx', '--kernel', 'ns::only', ...launch, '--json'], files);
  const { kernel, kernel_name } = JSON.parse(out);
  assert.equal([kernel, kernel_name], ['_ZN2ns4onlyEPf', 'ns::only(float*)']);
});

test('parameters of C++ kernels have no mangled names', async () => {
  const text = `${head}${kernel('_Z1kPf', 1)}`.replaceAll('.u64 p)', '.u64 _Z1kPf_param_0)').replaceAll('[p]', '[_Z1kPf_param_0]');
  for (const words of [
    ['run', 'p.ptx'],
    ['run', 'p.ptx', '--sanitize'],
    ['diff', 'p.ptx', '--devices', 'cpu:lane,cpu:simd'],
  ]) {
    const { out, err } = await commandLine(words, { 'p.ptx': text });
    assert.match(out, /0 param_0: u32\[1024\]/);
    assert.not.match(out + err, /_Z1k/);
  }
});

test('diagnostics name kernels as a person does', async () => {
  const { err } = await commandLine(['run', 'k.ptx', '--kernel', 'only', '--grid', '1', '--block', '1', '--arg', 'u32=1'], files);
  assert.match(err, /`ns::only\(float\*\)`/);
  assert.not.match(err, /_ZN2ns/);
});

test.run();
