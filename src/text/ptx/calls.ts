/** Calls of functions of NVIDIA's system: `vprintf`, and `__assertfail`, by which `assert` fails. */
import type { Printer } from './printer.ts';

/** A string as a variable of the module; gives its generic address. */
function stringAddress(p: Printer, text: string): string {
  const bytes = [...new TextEncoder().encode(text), 0];
  const body = `${bytes.length}] = {${bytes.join(', ')}};`;
  const known = [...p.module.declared].find(
    ([, declared]) => declared.startsWith('.global .align 1 .b8 cumetal_text_') && declared.endsWith(`[${body}`),
  );
  const name = known?.[0] ?? `cumetal_text_${p.module.declared.size}`;
  if (!known) p.module.declared.set(name, `.global .align 1 .b8 ${name}[${body}`);
  const [own, made] = [p.temp('i64'), p.temp('i64')];
  p.line(`mov.b64 ${own}, ${name};`);
  p.line(`cvta.global.u64 ${made}, ${own};`);
  return made;
}

/** A call with 64-bit arguments, and 32-bit ones as they are named. */
function call(p: Printer, name: string, given: readonly (readonly [type: string, text: string])[], hasResult: boolean): void {
  p.line('{');
  given.forEach(([type, text], i) => {
    p.line(`.param .${type} argument_${i};`);
    p.line(`st.param.${type} [argument_${i}], ${text};`);
  });
  if (hasResult) p.line('.param .b32 result;');
  p.line(`call.uni ${hasResult ? '(result), ' : ''}${name}, (${given.map((_, i) => `argument_${i}`).join(', ')});`);
  p.line('}');
}

/** Prints with the arguments in the list. */
export function callPrintf(p: Printer, format: string): void {
  p.module.declared.set('vprintf', '.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 list);');
  const [own, list] = [p.temp('i64'), p.temp('i64')];
  p.line(`mov.b64 ${own}, printed;`);
  p.line(`cvta.local.u64 ${list}, ${own};`);
  call(
    p,
    'vprintf',
    [
      ['b64', stringAddress(p, format)],
      ['b64', list],
    ],
    true,
  );
}

/** Fails an assertion by what a launch says of it. */
export function callAssertion(p: Printer, why: string): void {
  const [, text = '', file = 'unknown', line = '0'] = /^assertion (?:`(.*?)` )?failed(?: \((.*):(\d+)\))?/.exec(why) ?? [];
  p.module.declared.set(
    '__assertfail',
    '.extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);',
  );
  call(
    p,
    '__assertfail',
    [
      ['b64', stringAddress(p, text)],
      ['b64', stringAddress(p, file)],
      ['b32', line],
      ['b64', stringAddress(p, p.kernel.name)],
      ['b64', '1'],
    ],
    false,
  );
}
