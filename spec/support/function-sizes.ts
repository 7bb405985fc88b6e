/** Sizes of the functions of a WebAssembly module. Source: WebAssembly 2.0, 5.5.2 and 5.5.13. */

/** Bytes of each body in the code section. */
export function functionSizes(module: Uint8Array): number[] {
  let at = 8;
  const number = (): number => {
    for (let [sum, shift] = [0, 0]; ; shift += 7) {
      const byte = module[at++]!;
      sum |= (byte & 0x7f) << shift;
      if (byte < 0x80) return sum >>> 0;
    }
  };
  while (at < module.length) {
    const id = module[at++];
    const end = number() + at;
    if (id === 10)
      return Array.from({ length: number() }, () => {
        const size = number();
        at += size;
        return size;
      });
    at = end;
  }
  return [];
}
