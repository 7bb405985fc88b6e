/** The words of a thread that are recorded and not replayed yet, from `head` to `tail`. */
export interface Stream {
  words: Uint32Array;
  head: number;
  tail: number;
}

/** An empty stream. */
export const newStream = (): Stream => ({ words: new Uint32Array(64), head: 0, tail: 0 });

/** Appends words; returns by how many the capacity grew. */
export function append(stream: Stream, words: Uint32Array): number {
  if (stream.head === stream.tail) {
    stream.head = 0;
    stream.tail = 0;
  }
  let grown = 0;
  if (stream.tail + words.length > stream.words.length) {
    const held = stream.words.subarray(stream.head, stream.tail);
    const size = Math.max(2 * held.length, held.length + words.length, stream.words.length);
    const next = size === stream.words.length ? stream.words : new Uint32Array(size);
    grown = size - stream.words.length;
    next.set(held, 0);
    stream.words = next;
    stream.tail = held.length;
    stream.head = 0;
  }
  stream.words.set(words, stream.tail);
  stream.tail += words.length;
  return grown;
}
