/**
 * Device code beside host code. The host half of a source names its device code by a key, and a custom section of the object has the code, so
 * that both halves can be compiled at the same time. A linker puts the sections of all objects one behind the other.
 * Source: WebAssembly Core Specification, 5.5.3 (custom sections); tool conventions, Linking.
 */
import { ByteReader, ByteWriter } from '../base/bytes.ts';
import { readUnsigned, unsigned } from '../wasm/leb.ts';

const sectionName = 'cumetal.device';
const customSection = 0;
/** Bytes of the magic number and the version. */
const headBytes = 8;

/** What the host half has in place of its device code. */
export const imageOf = (key: string): string => `cumetal device code ${key}`;

/** The key of device code that is linked with that of other files. */
export const relocatableKey = (key: string): string => `relocatable ${key}`;
const linkedKey = 'linked';

/** The device code of a module that has to be linked, by the image that stands for it. */
export const relocatableCodes = (module: Uint8Array): ReadonlyMap<string, string> =>
  new Map([...deviceCodes(module)].filter(([image]) => image.startsWith(imageOf(relocatableKey('')))));

/** A module whose relocatable device code is linked: all of its images stand for one code. */
export function withLinkedCode(module: Uint8Array, images: Iterable<string>, code: string): Uint8Array {
  let out = withDeviceCode(module, linkedKey, code);
  for (const image of images) out = withDeviceCode(out, image.slice(imageOf('').length), imageOf(linkedKey));
  return out;
}

/** An object or module with a section for a piece of device code: its name and its text, each with a zero byte behind it. */
export function withDeviceCode(module: Uint8Array, key: string, code: string): Uint8Array {
  const encoder = new TextEncoder();
  const name = encoder.encode(sectionName);
  const content = encoder.encode(`${imageOf(key)}\0${code}\0`);
  const inner = new ByteWriter();
  unsigned(inner, name.length);
  inner.bytes(name);
  inner.bytes(content);
  const payload = inner.finish();
  const out = new ByteWriter();
  out.bytes(module);
  out.u8(customSection);
  unsigned(out, payload.length);
  out.bytes(payload);
  return out.finish();
}

/** Device code of a whole module, by the image that stands for it. */
export function deviceCodes(module: Uint8Array): ReadonlyMap<string, string> {
  const codes = new Map<string, string>();
  const reader = new ByteReader(module, headBytes);
  while (reader.remaining > 0) {
    const id = reader.u8();
    const section = new ByteReader(reader.take(readUnsigned(reader)));
    if (id === customSection && textOf(section, readUnsigned(section)) === sectionName)
      addTexts(textOf(section, section.remaining).split('\0'), codes);
  }
  for (const [image, code] of codes) codes.set(image, codes.get(code) ?? code);
  return codes;
}

const textOf = (reader: ByteReader, bytes: number): string => new TextDecoder().decode(reader.take(bytes));

function addTexts(texts: readonly string[], codes: Map<string, string>): void {
  for (let i = 0; i + 1 < texts.length; i += 2) codes.set(texts[i]!, texts[i + 1]!);
}
