/** Selects an image of a container. */
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Container } from './container.ts';
import { fitTogether, type Image, imageEntries, imageText } from './image.ts';

/** An image by index in the container, from 0, or by architecture. */
export type ImageChoice = { readonly index: number } | { readonly arch: string };

/** Parses `2`, `sm_80` or `compute_80`; undefined for other texts. */
export function parseImageChoice(words: string): ImageChoice | undefined {
  if (/^\d{1,9}$/.test(words)) return { index: Number(words) };
  const arch = /^(?:sm|compute)_(\d{2,3}[af]?)$/.exec(words)?.[1];
  return arch === undefined ? undefined : { arch: `sm_${arch}` };
}

/**
 * The selected PTX image: the chosen one, else the only one, else that of the highest architecture. Among several of one architecture, the
 * only one with kernels. Reports CM4061 (no PTX), CM4062 (several, none chosen) or CM4063 (no such image).
 */
export function chooseImage(container: Container, choice: ImageChoice | undefined, diagnostics: Diagnostics): Image | undefined {
  const all = container.images.filter(({ kind }) => kind === 'ptx');
  if (all.length === 0) {
    diagnostics.report('CM4061', { what: contents(container) });
    return undefined;
  }
  const fitting = choice === undefined ? highest(all) : all.filter((image) => fits(image, choice));
  if (fitting.length === 0) {
    diagnostics.report('CM4063', { what: missing(container, choice!) }, { help: `the PTX images are ${listed(all)}` });
    return undefined;
  }
  const [only, ...others] = fitting.length === 1 ? fitting : withKernels(fitting);
  if (only && others.length === 0) return only;
  diagnostics.report('CM4062', { count: fitting.length, arch: fitting[0]!.arch, list: listed(fitting, kernelsOf(fitting)) });
  return undefined;
}

const fits = (image: Image, choice: ImageChoice): boolean =>
  'index' in choice ? image.index === choice.index : image.arch === choice.arch;

const numberOf = (arch: string): number => Number.parseInt(arch.slice(3), 10);

/** The images of the highest architecture. For one number, the plain architecture is preferred to `sm_90a`, which only one chip runs. */
function highest(images: readonly Image[]): Image[] {
  const most = images.reduce((found, { arch }) => Math.max(found, numberOf(arch)), 0);
  const top = images.filter(({ arch }) => numberOf(arch) === most);
  const arch = ['', 'f', 'a'].map((suffix) => `sm_${most}${suffix}`).find((one) => top.some((image) => image.arch === one));
  return top.filter((image) => image.arch === arch);
}

/** The most bytes of text that are unpacked to distinguish images of one architecture. */
const maxReadBytes = 256 * 1024 * 1024;

const isReadable = (images: readonly Image[]): boolean => fitTogether(images, maxReadBytes);

/** The images with kernels, without duplicates of the same text. */
function withKernels(images: readonly Image[]): readonly Image[] {
  if (!isReadable(images)) return images;
  const first = new Map<string, Image>();
  for (const image of images) {
    if (imageEntries(image)?.length === 0) continue;
    const text = imageText(image, new Diagnostics()) ?? `unreadable ${image.index}`;
    if (!first.has(text)) first.set(text, image);
  }
  return first.size > 0 ? [...first.values()] : images;
}

/** The largest number of images and names that a message lists. */
const maxListed = 12;

const some = (words: readonly string[]): string =>
  words.length <= maxListed ? words.join(', ') : `${words.slice(0, maxListed).join(', ')} and ${words.length - maxListed} more`;

const listed = (images: readonly Image[], kernels?: (image: Image) => string): string =>
  some(images.map((image) => `${image.index} (${image.arch}${kernels?.(image) ?? ''})`));

/** The first kernels of an image, for a list of not too many images. */
function kernelsOf(images: readonly Image[]): (image: Image) => string {
  if (!isReadable(images)) return () => '';
  return (image) => {
    const [first, ...others] = imageEntries(image) ?? [];
    return first === undefined ? '' : `: ${first}${others.length > 0 ? ', …' : ''}`;
  };
}

/** A description of a container without PTX. */
function contents({ images }: Container): string {
  if (images.length === 0) return 'it contains no CUDA code';
  const archs = [...new Set(images.map(({ arch }) => arch))];
  const isSass = images.every(({ kind }) => kind === 'sass');
  return `it contains ${isSass ? 'SASS, the machine code of NVIDIA chips,' : 'code that is already compiled,'} for ${some(archs)}`;
}

const kindWords = { ptx: 'PTX', sass: 'SASS', lto: 'code for link-time optimization', other: 'an unknown kind of image' } as const;

function missing({ images }: Container, choice: ImageChoice): string {
  if ('arch' in choice) return `no PTX image is for ${choice.arch}`;
  const image = images[choice.index];
  return image ? `image ${image.index} is ${kindWords[image.kind]}, not PTX` : `there is no image ${choice.index}`;
}
