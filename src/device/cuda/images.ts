/** Images of the CUDA driver, with the textures and surfaces that show them. */
import type { CudaBinding, CudaHandle, DriverArray, TextureResource } from '../../ffi/index.ts';
import type { DeviceImage, DeviceImages, TexelFormat, TextureReading, TextureSource } from '../images.ts';

/** What is destroyed with the device. */
export interface Images extends DeviceImages {
  close(): void;
}

/** `CUarray_format` by the kind of channels, and their bits. */
const formats: readonly Readonly<Record<number, number>>[] = [
  { 8: 0x08, 16: 0x09, 32: 0x0a },
  { 8: 0x01, 16: 0x02, 32: 0x03 },
  { 16: 0x10, 32: 0x20 },
];
const formatOf = ({ kind, bits, channels }: TexelFormat): { format: number; channels: number } => ({
  format: formats[kind]?.[bits] ?? 0,
  channels,
});

/** `CU_TRSF_…`, the flags of `CUDA_TEXTURE_DESC`. */
const flagBits = { asInteger: 1, normalized: 2, srgb: 16, seamless: 64 } as const;
const isFloat = 2;

const flagsOf = ({ isNormalizedFloat, isSrgb, normalizedCoords, isSeamless }: TextureReading, kind: number): number =>
  (isNormalizedFloat || kind === isFloat ? 0 : flagBits.asInteger) |
  (normalizedCoords === 0 ? 0 : flagBits.normalized) |
  (isSrgb ? flagBits.srgb : 0) |
  (isSeamless ? flagBits.seamless : 0);

interface CudaImage extends DeviceImage {
  readonly array: DriverArray;
  readonly format: TexelFormat;
}

/** A level of an image, or the image itself. */
function arrayOf(image: DeviceImage, level: number | undefined): CudaHandle | undefined {
  const { array } = image as CudaImage;
  return level === undefined ? array.handle : array.levels[level];
}

function resourceOf(source: TextureSource): TextureResource | undefined {
  if (source.kind === 'linear') return { ...formatOf(source.format), kind: 'linear', address: source.address, bytes: source.bytes };
  if (source.kind === 'pitched') {
    const { address, width, height, pitch } = source;
    return { ...formatOf(source.format), kind: 'pitched', address, width, height, pitch };
  }
  const handle = arrayOf(source.image, source.level);
  const isMipmap = (source.image as CudaImage).array.isMipmapped && source.level === undefined;
  return handle === undefined ? undefined : { kind: isMipmap ? 'mipmap' : 'array', handle };
}

/** `isUsable` says whether the driver may still be called. */
export function imagesOf(binding: CudaBinding, isUsable: () => boolean): Images {
  const images = new Set<CudaImage>();
  const textures = new Set<bigint>();
  const surfaces = new Set<bigint>();
  const noted = (set: Set<bigint>, made: bigint | undefined): bigint | undefined => {
    if (made !== undefined) set.add(made);
    return made;
  };
  return {
    create({ format, width, height, depth, flags, levels }) {
      const shape = { ...formatOf(format), width, height, depth, flags, ...(levels === undefined ? {} : { levels }) };
      const array = isUsable() ? binding.createArray(shape) : undefined;
      if (!array) return undefined;
      const image: CudaImage = {
        array,
        format,
        copy(level, { address, pitch, slice, size: [bytes, rows, planes] }, direction) {
          const at = array.levels[level];
          const copy = { address, pitch, rowsOfPlane: Math.max(rows, Math.floor(slice / pitch)), bytes, rows, planes };
          return at !== undefined && isUsable() && binding.copyArray(at, copy, direction);
        },
        free() {
          if (images.delete(image) && isUsable()) binding.destroyArray(array);
        },
      };
      images.add(image);
      return image;
    },
    texture(source, reading) {
      const resource = isUsable() ? resourceOf(source) : undefined;
      if (!resource) return undefined;
      const { kind } = source.kind === 'image' ? (source.image as CudaImage).format : source.format;
      // The driver wants coordinates from 0 to 1 where there are levels.
      const flags = flagsOf(reading, kind) | (resource.kind === 'mipmap' ? flagBits.normalized : 0);
      return noted(textures, binding.createTexture(resource, { ...reading, flags }));
    },
    surface(image, level) {
      const array = isUsable() ? arrayOf(image, level ?? 0) : undefined;
      return array === undefined ? undefined : noted(surfaces, binding.createSurface(array));
    },
    destroyTexture(handle) {
      if (textures.delete(handle) && isUsable()) binding.destroyTexture(handle);
    },
    destroySurface(handle) {
      if (surfaces.delete(handle) && isUsable()) binding.destroySurface(handle);
    },
    close() {
      for (const handle of textures) binding.destroyTexture(handle);
      for (const handle of surfaces) binding.destroySurface(handle);
      for (const { array } of images) binding.destroyArray(array);
    },
  };
}
