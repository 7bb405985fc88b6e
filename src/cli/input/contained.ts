/** PTX images in the containers that nvcc writes: extraction and listing. */
import { readableName } from '../../base/demangle/index.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import { SourceFile } from '../../base/source.ts';
import { type Container, chooseImage, type Image, imageEntries, imageText, imageWords, readContainer } from '../../ptx/container/index.ts';
import { usageError } from '../command/usage-error.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { diagnosticJson } from '../terminal/formats.ts';
import type { Terminal } from '../terminal/index.ts';
import { jsonDocument } from '../terminal/json.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { binaryDiagnostics } from './binary.ts';

interface Contained {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** The PTX of one image, or the exit code after reporting an error. A note names the image where there are several. */
export function readContainedPtx(
  { path, bytes }: Contained,
  selector: string | undefined,
  terminal: Terminal,
  diagnostics: Diagnostics,
): SourceFile | ExitCode {
  const choice = selector === undefined ? undefined : imageWords(selector);
  if (selector !== undefined && !choice)
    return usageError(
      `invalid value \`${selector}\` for \`--image\`: expected the number of an image, or an architecture such as sm_80`,
      'cumetal check --help',
      terminal,
    );
  const own = binaryDiagnostics(path);
  const container = readContainer(bytes, own);
  const image = own.hasErrors ? undefined : chooseImage(container, choice, own);
  const text = image && imageText(image, own);
  diagnostics.addAll(own.list);
  if (!image || text === undefined)
    return own.list.some(({ code }) => code === 'CM4062' || code === 'CM4063') ? exit.usage : exit.doesNotCompile;
  const count = container.images.filter(({ kind }) => kind === 'ptx').length;
  if (count > 1 && !choice)
    terminal.err(
      `note: ${printable(path)} contains ${count} PTX images; using image ${image.index} (${image.arch}); \`--image\` selects another\n`,
    );
  return new SourceFile(`${path}#${image.index}`, text);
}

/** The maximum number of bytes decompressed to list the kernels of images. */
const maxUnpackedBytes = 512 * 1024 * 1024;

/** `cumetal inspect` on a container: lists its images. Unreadable images are reported, and the rest are listed. */
export function inspectContainer({ path, bytes }: Contained, isJson: boolean, terminal: Terminal): ExitCode {
  const diagnostics = binaryDiagnostics(path);
  const container = readContainer(bytes, diagnostics);
  const rows = rowsOf(container);
  writeDiagnostics(diagnostics.list, terminal);
  if (isJson) {
    const images = rows.map(imageJson);
    const faults = diagnostics.list.map(diagnosticJson);
    terminal.out(jsonDocument({ file: path, bytes: bytes.length, format: container.format, images, diagnostics: faults }));
  } else terminal.out(containerText(path, bytes, container, rows));
  return diagnostics.hasErrors ? exit.failed : exit.ok;
}

interface Row {
  readonly image: Image;
  /** Undefined if the image is unreadable or beyond the decompression limit. */
  readonly kernels: readonly string[] | undefined;
}

function rowsOf({ images }: Container): Row[] {
  const stored = images.reduce((sum, image) => sum + image.stored.length, 0);
  let left = Math.min(maxUnpackedBytes, 16 * 1024 * 1024 + 32 * stored);
  return images.map((image) => {
    left -= image.size;
    return { image, kernels: left >= 0 ? imageEntries(image) : undefined };
  });
}

const imageJson = ({ image, kernels }: Row) => ({
  image: image.index,
  kind: image.kind,
  arch: image.arch,
  ptx_version: image.kind === 'ptx' ? image.version : undefined,
  compression: image.compression,
  bytes: image.size,
  stored_bytes: image.stored.length,
  source: image.source,
  kernels: kernels ?? null,
});

const formatNames = { fatbinary: 'fatbinary', cubin: 'cubin', elf: 'ELF file' } as const;
const kindNames = { ptx: 'PTX', sass: 'SASS', lto: 'LTO', other: 'unknown' } as const;

function containerText(path: string, bytes: Uint8Array, { format, images }: Container, rows: readonly Row[]): string {
  const what = images.length === 0 ? 'no images' : `${images.length} image${images.length === 1 ? '' : 's'}`;
  return `${[`${path}: ${formatNames[format]}, ${bytes.length} bytes, ${what}`, ...rows.map(imageLine)].map(printable).join('\n')}\n`;
}

function imageLine({ image, kernels }: Row): string {
  const kind = `${kindNames[image.kind]}${image.kind === 'ptx' ? ` ${image.version}` : ''}`;
  const size = image.compression === 'none' ? `${image.size} bytes` : `${image.size} bytes, ${image.stored.length} in ${image.compression}`;
  const names = kernels === undefined ? 'kernels unknown' : kernels.length === 0 ? 'no kernels' : kernels.map(readableName).join(', ');
  return `  ${String(image.index).padStart(2)}  ${kind.padEnd(8)} ${image.arch.padEnd(7)} ${size}: ${names}`;
}
