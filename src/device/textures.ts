/** The descriptors of textures and surfaces, which whoever creates one puts into memory of a device. */
export { texelDecoders, textureHead, textureImage, textureMagic } from '../ir/index.ts';
