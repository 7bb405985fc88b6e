/**
 * Whether a program for macOS carries the signature without which Apple silicon does not start it: of each page the SHA-256 that its code
 * directory states. Who signed it is not looked at; linkers sign for nobody in particular ("ad hoc").
 * Source: mach-o/loader.h and cs_blobs.h of Apple's open sources.
 */
import { createHash } from 'node:crypto';

const [machO64, arm64, codeSignature] = [0xfeedfacf, 0x0100000c, 0x1d];
const [superBlob, codeDirectory] = [0xfade0cc0, 0xfade0c02];
const sha256Type = 2;

/** What is wrong with the program; nothing where it is for arm64 and every page has its hash. */
export function signatureFault(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== machO64 || view.getUint32(4, true) !== arm64) return 'it is no program for macOS on arm64';
  const at = signatureOffset(view);
  if (at === undefined) return 'it is not signed';
  const directory = view.getUint32(at) === superBlob ? directoryIn(view, at) : undefined;
  return directory === undefined ? 'its signature has no code directory' : pageFault(bytes, view, directory);
}

/** Where the load command of the signature says that it lies. */
function signatureOffset(view: DataView): number | undefined {
  const commands = view.getUint32(16, true);
  for (let i = 0, at = 32; i < commands; i++, at += view.getUint32(at + 4, true))
    if (view.getUint32(at, true) === codeSignature) return view.getUint32(at + 8, true);
  return undefined;
}

/** Numbers of a signature have their most significant byte first. */
function directoryIn(view: DataView, at: number): number | undefined {
  for (let i = 0; i < view.getUint32(at + 8); i++) {
    const blob = at + view.getUint32(at + 12 + 8 * i + 4);
    if (view.getUint32(blob) === codeDirectory) return blob;
  }
  return undefined;
}

function pageFault(bytes: Uint8Array, view: DataView, directory: number): string | undefined {
  const hashes = directory + view.getUint32(directory + 16);
  const [slots, limit] = [view.getUint32(directory + 28), view.getUint32(directory + 32)];
  const [hashSize, hashType, pageBits] = [bytes[directory + 36]!, bytes[directory + 37]!, bytes[directory + 39]!];
  if (hashType !== sha256Type) return `its hashes are of type ${hashType}`;
  if (slots !== Math.ceil(limit / 2 ** pageBits)) return `it has ${slots} hashes for ${limit} bytes`;
  for (let page = 0; page < slots; page++) {
    const start = page * 2 ** pageBits;
    const hash = createHash('sha256')
      .update(bytes.subarray(start, Math.min(start + 2 ** pageBits, limit)))
      .digest();
    const stated = bytes.subarray(hashes + page * hashSize, hashes + (page + 1) * hashSize);
    if (!hash.equals(stated)) return `page ${page} is not what was signed`;
  }
  return undefined;
}
