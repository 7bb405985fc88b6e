/**
 * On a Mac: compares the methods that our bindings rely on (spec/support/metal/headers.ts, which the fake Metal answers by too) with
 * those that the system's own classes have, selector by selector and type by type. `bun scripts/metal/check-headers.ts` prints
 * each difference and ends with 1 where there is one.
 */
import { dlopen } from 'bun:ffi';
import { join } from 'node:path';
import { type Method, methods } from '../../spec/support/metal/headers.ts';
import { type Handle, type MetalBinding, openMetal } from '../../src/ffi/index.ts';
import { macLibraries } from '../../src/ffi/metal/system.ts';

const cText = (text: string): Uint8Array => new TextEncoder().encode(`${text}\0`);

/** The first type of an encoding and what is behind it, past the digits that say where on the stack it stands. */
function firstType(text: string): [type: string, rest: string] {
  // Qualifiers (const, oneway, in, out) say nothing of how a value is passed.
  const match = /^[rnNoORVA]*(\^*(?:@\?|\{[^={}]*=?[^{}]*\}|.))(?:<[^>]*>|"[^"]*")?-?\d*/.exec(text)!;
  return [match[1]!, text.slice(match[0].length)];
}

/** The types of `method_getTypeEncoding` as headers.ts spells them, without receiver and selector. */
export function typesOf(encoding: string): string {
  const types: string[] = [];
  for (let rest = encoding; rest !== ''; ) {
    const [type, more] = firstType(rest);
    types.push(structName(type));
    rest = more;
  }
  return [types[0], ...types.slice(3)].join(' ');
}

/** Names of structs are the system's business; what is in them is ours. */
function structName(type: string): string {
  if (/^\{[^=]*=QQQ\}$/.test(type)) return '{MTLSize}';
  return /^\{[^=]*=QQ\}$/.test(type) ? '{NSRange}' : type;
}

/** What differs, a line each, between the table and the classes behind a binding, whose runtime is the library at a path. */
export function differences(binding: MetalBinding, objc: string, metallib: Uint8Array, kernel: string): string[] {
  const runtime = dlopen(objc, {
    objc_getClass: { args: ['ptr'], returns: 'ptr' },
    object_getClass: { args: ['ptr'], returns: 'ptr' },
    sel_registerName: { args: ['ptr'], returns: 'ptr' },
    class_getInstanceMethod: { args: ['ptr', 'ptr'], returns: 'ptr' },
    class_getClassMethod: { args: ['ptr', 'ptr'], returns: 'ptr' },
    method_getTypeEncoding: { args: ['ptr'], returns: 'cstring' },
  }).symbols;
  const { objects, release } = oneOfEach(binding, metallib, kernel);
  const found = methods.flatMap((method) => {
    const object = objects[method.owner];
    // What no binding holds an object of is looked up by name, and protocols are not classes.
    const owner = object ? runtime.object_getClass(object as never) : runtime.objc_getClass(cText(method.owner));
    if (!owner) return [];
    const selector = runtime.sel_registerName(cText(method.selector));
    const lookUp = method.isOfClass ? runtime.class_getClassMethod : runtime.class_getInstanceMethod;
    const there = lookUp(owner, selector);
    return difference(method, there ? String(runtime.method_getTypeEncoding(there)) : undefined);
  });
  release();
  return found;
}

function difference({ owner, selector, types }: Method, encoding: string | undefined): string[] {
  if (encoding === undefined) return [`${owner} ${selector}: the system has no such method`];
  const [ours, theirs] = [types.join(' '), typesOf(encoding)];
  return ours === theirs ? [] : [`${owner} ${selector}: ours ${ours}, the system's ${theirs} (${encoding})`];
}

/** An object of every class that a launch meets, by the name of its protocol. */
function oneOfEach(
  binding: MetalBinding,
  metallib: Uint8Array,
  kernel: string,
): { objects: Readonly<Record<string, Handle | undefined>>; release(): void } {
  const device = binding.device()!;
  const queue = binding.queue(device, 4)!;
  const library = binding.library(device, metallib)!;
  const made = binding.function(library, kernel)!;
  const pipeline = binding.pipeline(device, made)!;
  const [buffer, event] = [binding.buffer(device, 64)!, binding.event(device)!];
  const commands = binding.commands(queue)!;
  const compute = binding.compute(commands)!;
  binding.end(compute);
  const blit = binding.blit(commands)!;
  binding.end(blit);
  const objects = {
    MTLDevice: device,
    MTLCommandQueue: queue,
    MTLLibrary: library,
    MTLFunction: made,
    MTLComputePipelineState: pipeline,
    MTLBuffer: buffer,
    MTLSharedEvent: event,
    MTLCommandBuffer: commands,
    MTLComputeCommandEncoder: compute,
    MTLBlitCommandEncoder: blit,
    MTLCommandEncoder: compute,
  };
  const all = [blit, compute, commands, event, buffer, pipeline, made, library, queue, device];
  return { objects, release: () => all.forEach((object) => void binding.release(object)) };
}

async function main(): Promise<number> {
  const { binding, failures } = openMetal();
  if (!binding) {
    console.log(failures.join('\n') || 'this is no Mac');
    return 1;
  }
  const { compile } = await import('../../src/compile/index.ts');
  const { Diagnostics } = await import('../../src/base/diagnostic.ts');
  const { SourceFile } = await import('../../src/base/source.ts');
  const text = await Bun.file(join(import.meta.dirname, '../../examples/vector_add.ptx')).text();
  const source = new SourceFile('vector_add.ptx', text);
  const { metallib } = compile(source, {}, new Diagnostics(source))!;
  const found = differences(binding, macLibraries.objc, metallib, 'vector_add');
  console.log(found.join('\n') || `all ${methods.length} methods are as the table has them`);
  return found.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exit(await main());
