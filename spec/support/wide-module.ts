/** Modules with 64-bit memory, byte by byte, for specs of programs. */

export const uleb = (value: number | bigint): number[] => {
  const bytes: number[] = [];
  let rest = BigInt(value);
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest > 0n);
  return bytes;
};
export const sleb = (value: bigint): number[] => {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    const isLast = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40);
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
};
export const text = (value: string): number[] => [...uleb(value.length), ...new TextEncoder().encode(value)];
export const vector = (items: readonly (readonly number[])[]): number[] => [...uleb(items.length), ...items.flat()];
export const section = (id: number, body: readonly number[]): number[] => [id, ...uleb(body.length), ...body];

export const types = { i: 0x7f, l: 0x7e, f: 0x7d, d: 0x7c, v: 0x7b } as const;
export const signature = (words: string): number[] => {
  const [params = '', results = ''] = words.split('>');
  const list = (letters: string): number[] => vector([...letters].map((letter) => [types[letter as keyof typeof types]]));
  return [0x60, ...list(params), ...list(results)];
};
export const get = (local: number): number[] => [0x20, local];
export const i64 = (value: bigint): number[] => [0x42, ...sleb(value)];
export const i32 = (value: number): number[] => [0x41, ...sleb(BigInt(value))];

export interface Parts {
  /** `params>results` of each function by its code; locals are declared in front of it. */
  readonly functions: readonly {
    readonly type: string;
    readonly code: readonly number[];
    readonly locals?: readonly number[];
    readonly name?: string;
  }[];
  /** Sections behind the memory, by number. */
  readonly table?: readonly number[];
  readonly tag?: readonly number[];
  readonly elements?: readonly number[];
  readonly data?: readonly number[];
  readonly memory?: readonly number[];
  readonly imports?: readonly number[];
}

/** A module whose functions are exported by their names or numbers, with a memory of 64 bits. */
export function moduleOf(
  { functions, table, tag, elements, data, imports, memory = [1, 0x04, 2] }: Parts,
  imported: readonly string[] = [],
): Uint8Array {
  const bodies = functions.map(({ code, locals = [0] }) => [...locals, ...code, 0x0b]);
  const exports = functions.map(({ name }, i) => [...text(name ?? String(i)), 0, ...uleb(imported.length + i)]);
  const all = [...imported, ...functions.map(({ type }) => type)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(all.map(signature))),
    ...(imports ? section(2, imports) : []),
    ...section(3, vector(functions.map((_, i) => uleb(imported.length + i)))),
    ...(table ? section(4, table) : []),
    ...section(5, memory),
    ...(tag ? section(13, tag) : []),
    ...section(7, vector([...exports, [...text('memory'), 2, 0]])),
    ...(elements ? section(9, elements) : []),
    ...(data && data[1] === 1 ? section(12, [1]) : []),
    ...section(10, vector(bodies.map((body) => [...uleb(body.length), ...body]))),
    ...(data ? section(11, data) : []),
  ]);
}
