/** Kernels that print, in the words of CUDA's compilers: strings of the module, a list of arguments in local memory, a call. */

/** A string as a variable of the module, with the 0 behind it. Each character is one byte. */
export const stringNamed = (name: string, text: string): string =>
  `.global .align 1 .b8 ${name}[${text.length + 1}] = {${[...text, '\0'].map((char) => char.charCodeAt(0)).join(', ')}};`;

/** The declaration that CUDA gives `printf`. */
export const vprintf = '.extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);';

/** A call; `list` is a register with the address of the arguments, or 0; `result` takes what it gives. Registers are made for each call. */
export function printCall(format: string, list = '0', { guard = '', result = 'given' } = {}): string {
  return `{
  .reg .b64 at, generic;
  .reg .b32 given;
  .param .b64 param0; .param .b64 param1; .param .b32 retval0;
  mov.u64 at, ${format};
  cvta.global.u64 generic, at;
  st.param.b64 [param0+0], generic;
  st.param.b64 [param1+0], ${list};
  ${guard}call.uni (retval0), vprintf, (param0, param1);
  ${guard}ld.param.b32 ${result}, [retval0+0];
  }`;
}

/** A module with strings and one kernel of the parameter `out`, in which `t` is the thread and `list` the generic address of `depot`. */
export const printingModule = (strings: Readonly<Record<string, string>>, code: string, more = ''): string => `.version 9.0
.target sm_90
.address_size 64
${vprintf}
${Object.entries(strings)
  .map(([name, text]) => stringNamed(name, text))
  .join('\n')}
${more}
.visible .entry k(.param .u64 out)
{
  .local .align 8 .b8 depot[80];
  .reg .pred p, q;
  .reg .b32 t, x, y, r<8>;
  .reg .b64 base, offset, depotat, list, w, s<8>;
  .reg .f32 f;
  .reg .f64 d;
  mov.u64 depotat, depot;
  cvta.local.u64 list, depotat;
  mov.u32 t, %tid.x;
  ld.param.u64 base, [out];
  cvta.to.global.u64 base, base;
  mul.wide.u32 offset, t, 4;
  add.s64 base, base, offset;
  st.global.u32 [base], t;
${code}
  ret;
}
`;
