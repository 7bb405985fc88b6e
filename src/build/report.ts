/** What a kernel says and how it stops itself: `printf`, `assert` and `trap`. Source: CUDA's device runtime (vprintf, __assertfail). */
import { alignUp } from '../base/bytes.ts';
import { when } from './control.ts';
import { fail } from './fail.ts';
import { computed, type Handle, inRegister, type Readable } from './handle.ts';
import { itemsOf } from './inline.ts';
import { addressNode, instructionNode, integerNode, nameNode, variableNode, vectorNode } from './nodes.ts';
import { callerPlace } from './place.ts';
import { trace } from './trace.ts';
import { types } from './types.ts';
import { Value } from './value.ts';

/** A text in memory, as the generic address of its first byte. */
function textAddress(text: string): string {
  const to = trace();
  const bytes = [...new TextEncoder().encode(text), 0];
  const known = [...to.globals.values()].find(
    (each) => each.name.startsWith('text_') && each.dims[0] === bytes.length && textIn(each) === text,
  );
  const name = known?.name ?? to.named('text_');
  const init = vectorNode(bytes.map(integerNode));
  to.globals.set(name, known ?? variableNode({ space: 'global', type: 'b8', name, align: 1, dims: [bytes.length], init }));
  return computed('u64', 'cvta.global.u64', [nameNode(computed('u64', 'mov.u64', [nameNode(name)]))]);
}

function textIn({ init }: ReturnType<typeof variableNode>): string {
  const elements = init?.kind === 'vector' ? init.elements : [];
  return new TextDecoder().decode(Uint8Array.from(elements.slice(0, -1), (each) => (each.kind === 'integer' ? Number(each.value) : 0)));
}

const declarations = {
  vprintf: '.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);',
  __assertfail:
    '.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);',
} as const;

/** Calls a function of the runtime with the contents of registers. */
function call(name: keyof typeof declarations, types: readonly string[], registers: readonly string[]): void {
  const to = trace();
  to.declarations.set(name, itemsOf(declarations[name])[0]!);
  const hasResult = name === 'vprintf';
  const number = to.named('');
  const params = registers.map((_, i) => `argument${number}_${i}`);
  const span = { start: 0, end: 0 };
  const list = (names: readonly string[]) => ({ kind: 'list' as const, elements: names.map(nameNode), span });
  to.located();
  to.statements.push({
    kind: 'block',
    span,
    body: [
      ...params.map((param, i) => variableNode({ space: 'param', type: types[i]!, name: param })),
      ...(hasResult ? [variableNode({ space: 'param', type: 'b32', name: `result${number}` })] : []),
      ...params.map((param, i) => instructionNode(`st.param.${types[i]}`, [addressNode(nameNode(param)), nameNode(registers[i]!)])),
      instructionNode('call.uni', [...(hasResult ? [list([`result${number}`])] : []), nameNode(name), list(params)]),
    ],
  });
}

/** A value that `printf` prints. */
type Printed = Handle | Readable;

/**
 * Prints by a format of C: `%d`, `%u`, `%x`, `%lld`, `%llu`, `%f`, `%g` and so on, with a value for each. Floats of any width are printed as
 * doubles; integers of 64 bits need `ll`. The text arrives when the launch has ended.
 */
export function printf(format: string, ...values: readonly Printed[]): void {
  const to = trace('printf');
  const holes = format.replaceAll('%%', '').match(/%[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|j|z|t)?[a-zA-Z]/g) ?? [];
  if (holes.length !== values.length)
    fail('CM5088', { what: '`printf`', why: `the format has ${holes.length} places and there are ${values.length} values` });
  let size = 0;
  const stores = values.map((value) => {
    const { type, register } = promoted(value);
    const bytes = types[type].bits / 8;
    const offset = alignUp(size, bytes);
    size = offset + bytes;
    return { type, register, offset };
  });
  const buffer = to.named('printed');
  to.variables.push(variableNode({ space: 'local', type: 'b8', name: buffer, align: 8, dims: [Math.max(8, alignUp(size, 8))] }));
  for (const { type, register, offset } of stores) to.emit(`st.local.${type}`, [addressNode(nameNode(buffer), offset), nameNode(register)]);
  const address = computed('u64', 'cvta.local.u64', [nameNode(computed('u64', 'mov.u64', [nameNode(buffer)]))]);
  call('vprintf', ['b64', 'b64'], [textAddress(format), address]);
}

/** A value as C's variadic arguments have it: at least 32 bits, and floats as doubles. */
function promoted(given: Printed): { readonly type: 'u32' | 's32' | 'u64' | 'f64'; readonly register: string } {
  const handle = 'register' in given ? given : given.get();
  const node = inRegister(handle.type, handle);
  const { kind, bits } = types[handle.type];
  const value = new Value(handle.type, (node as { name: string }).name) as Value<'f32'>;
  if (kind === 'float') return { type: 'f64', register: value.to({ kind: 'scalar', name: 'f64' }).register };
  if (bits === 64) return { type: 'u64', register: value.register };
  if (bits === 32) return { type: 'u32', register: value.register };
  const to = kind === 'signed' ? 's32' : 'u32';
  return { type: to, register: value.to({ kind: 'scalar', name: to }).register };
}

/** Stops the launch with an error. */
export const trap = (): void => trace('trap').emit('trap');

/** Stops the launch with a message, the line of TypeScript, and the thread, if a condition does not hold. */
export function assert(condition: Value<'pred'>, message: string): void {
  const place = callerPlace();
  when(condition.not(), () => {
    const line = computed('u32', 'mov.u32', [integerNode(place?.line ?? 0)]);
    const size = computed('u64', 'mov.u64', [integerNode(1)]);
    const [said, file, name] = [message, place?.path ?? '', trace().name].map(textAddress);
    call('__assertfail', ['b64', 'b64', 'b32', 'b64', 'b64'], [said!, file!, line, name!, size]);
  });
}
