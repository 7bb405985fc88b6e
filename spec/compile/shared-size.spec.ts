/** Static shared memory: what `ptxas` 13.0 refuses as "too much shared data" (more than 0xc000 bytes), every target refuses. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { CompileOptions } from '../../src/compile/options.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('compile/shared-size');

const kernel = (body: string): string =>
  `.visible .entry k(.param .u64 out) {\n.reg .b32 x; .reg .b64 p; ld.param.u64 p, [out]; ${body} st.global.u32 [p], 1; ret; }\n`;
const bytes = (name: string, size: number, align = 4): string => `.shared .align ${align} .b8 ${name}[${size}];`;
const load = (name: string): string => `ld.shared.u8 x, [${name}];`;
const called = (body: string): string => `.func f(.reg .u64 p) { .reg .b32 x; ${body} st.global.u32 [p+4], 1; ret; }\n`;

/** By what the text shows: the text, and the bytes that `ptxas` names; nothing where it takes the text. */
const forms: Readonly<Record<string, readonly [text: string, size?: number]>> = {
  'all that there is': [kernel(bytes('a', 49152) + load('a'))],
  'a word more': [kernel(bytes('a', 49156) + load('a')), 0xc004],
  'a variable that nothing uses': [kernel(bytes('a', 100000)), 0x186a0],
  'a variable in braces': [kernel(`{ ${bytes('a', 50000)} }`), 0xc350],
  'an unused one next to a used one': [kernel(bytes('a', 40000) + bytes('b', 40000) + load('b')), 0x13880],
  'a variable of the module': [bytes('b', 50000) + kernel(load('b')), 0xc350],
  'a variable of the module that no entry names': [bytes('b', 60000) + kernel('')],
  'a variable of the module behind the last return': [bytes('b', 50000) + kernel(`bra e; ${load('b')} e:`), 0xc350],
  'variables of the module and of the entry': [bytes('b', 40000) + kernel(bytes('a', 40000) + load('b')), 0x13880],
  'a variable of a function': [called(bytes('a', 50000)) + kernel('call.uni f, (p);'), 0xc350],
  'a variable of a function that is not called': [called(bytes('a', 50000) + load('a')) + kernel('')],
  'two entries with a part each': [
    bytes('a', 40000) + bytes('b', 40000) + kernel(load('a')) + kernel(load('b')).replace('entry k', 'entry l'),
  ],
  'a gap before an aligned variable': [kernel(bytes('a', 49137, 1) + bytes('b', 4, 16) + load('a') + load('b')), 0xc004],
  'dynamic shared memory in addition': [`.extern .shared .align 4 .b8 d[];${kernel(bytes('a', 49152) + load('a') + load('d'))}`],
};

const textOf = (form: string): string => `.version 8.0\n.target sm_80\n.address_size 64\n${form}`;

for (const [name, [form, size]] of Object.entries(forms))
  test(`${name}: ${size === undefined ? 'taken' : `${size} bytes are refused`}`, () => {
    for (const options of [{ target: 'cpu' }, { target: 'macos15' }, { target: 'macos14' }] as CompileOptions[]) {
      const source = new SourceFile('k.ptx', textOf(form));
      const diagnostics = new Diagnostics(source);
      compile(source, options, diagnostics);
      const found = diagnostics.list.filter(({ code }) => code === 'CM2093').map(({ message }) => message);
      // Apple GPUs have less, but only what is used counts there.
      if (size === undefined && options.target !== 'cpu' && found.every((message) => message.includes('Apple GPUs'))) continue;
      const wanted = `kernel \`k\` declares ${size} bytes of shared memory, and NVIDIA GPUs take 49152`;
      assert.equal(found, size === undefined ? [] : [wanted], options.target);
    }
  });

need(test, ['ptxas'], 'ptxas takes the same texts', async () => {
  const all = Object.values(forms);
  assert.equal(
    await ptxasTakes(
      all.map(([form]) => textOf(form)),
      'sm_80',
    ),
    all.map(([, size]) => size === undefined),
  );
});

test.run();
