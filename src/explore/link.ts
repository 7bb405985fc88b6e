/** Addresses that carry a text: compressed, in the part behind `#`, which no server sees. */

/** Languages of a text, which are also the names of its part. */
export type Language = 'ptx' | 'cuda';

/** What a link carries. */
export interface Carried {
  readonly text: string;
  readonly view: string;
  readonly language: Language;
}

/** The part behind `#` for a text and a view. */
export async function linkOf({ text, view, language }: Carried): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const packed = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return `#${new URLSearchParams({ view, [language]: packed })}`;
}

/** The most characters of a text that a link may become. */
const maxLength = 4_000_000;

/** The text and the view of such a part; undefined for one that carries none or is damaged. */
export async function linked(hash: string): Promise<Carried | undefined> {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const language: Language = words.has('cuda') ? 'cuda' : 'ptx';
  const packed = words.get(language);
  if (packed === null) return undefined;
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
    const text = await limitedText(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')));
    return text === undefined ? undefined : { text, view: words.get('view') ?? '', language };
  } catch {
    return undefined;
  }
}

/** A text of at most so many characters: anyone can make a link, and a short one may become gigabytes. */
async function limitedText(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > maxLength) {
      await reader.cancel();
      return undefined;
    }
  }
}
