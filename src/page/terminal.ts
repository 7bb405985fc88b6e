/** The output of a program in the page: text that comes in pieces, and places in messages that can be followed. */

/** A place that a message of a compiler names. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly isError: boolean;
}

/** `main.cu:3:5: error: …` of clang, and ` --> main.cu:3:5` of this compiler. */
const place = /^(?:\s*--> )?([\w.+-]+):(\d+):\d+(?:: (fatal error|error|warning|note))?/;
/** Sequences for colors and cursors of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with the character Escape
const escapes = /\u001b\[[0-9;?]*[A-Za-z]/g;

export function placeOf(line: string): Place | undefined {
  const [, file, number, kind] = place.exec(line) ?? [];
  if (file === undefined) return undefined;
  return { file, line: Number(number), isError: kind === undefined || kind.endsWith('error') };
}

export class OutputPane {
  readonly #element: HTMLElement;
  readonly #follow: (place: Place) => void;
  readonly #decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  /** What is to be shown with the next frame: pieces of one stream each. */
  #waiting: { stream: 1 | 2; text: string }[] = [];
  #dropped: HTMLElement | undefined;

  constructor(element: HTMLElement, follow: (place: Place) => void) {
    this.#element = element;
    this.#follow = follow;
  }

  clear(): void {
    this.#waiting = [];
    this.#dropped = undefined;
    this.#element.replaceChildren();
  }

  /** A piece of a stream. Pieces of one frame are shown together. */
  write(stream: 1 | 2, bytes: Uint8Array): void {
    const text = this.#decoders[stream].decode(bytes, { stream: true });
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.text += text;
    else {
      if (this.#waiting.length === 0) setTimeout(() => this.flush(), 16);
      this.#waiting.push({ stream, text });
    }
  }

  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    this.#append(...waiting.map(({ stream, text }) => span(text.replace(escapes, ''), stream === 2 ? 'err' : '')));
  }

  /** A line of the page itself. */
  note(text: string, kind: 'note' | 'err' = 'note'): void {
    this.flush();
    this.#append(span(`${text}\n`, kind));
  }

  /** How much output is not shown; the number changes in its place. */
  dropped(bytes: number): void {
    this.flush();
    if (!this.#dropped) {
      this.#dropped = span('', 'note');
      this.#append(this.#dropped);
    }
    this.#dropped.textContent = `\n… ${bytes.toLocaleString('en')} bytes of output are not shown …\n`;
  }

  /** Messages of the compiler, whose places lead to the line. */
  messages(text: string): void {
    this.flush();
    const lines = text.split(/(?<=\n)/).map((line) => {
      const found = placeOf(line);
      if (!found) return span(line, '');
      const link = document.createElement('a');
      link.textContent = line.replace(/\n$/, '');
      link.addEventListener('click', () => this.#follow(found));
      const whole = span('', found.isError ? 'err' : '');
      whole.append(link, '\n');
      return whole;
    });
    this.#append(...lines);
  }

  #append(...parts: HTMLElement[]): void {
    const pane = this.#element;
    const isAtEnd = pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 30;
    pane.append(...parts);
    if (isAtEnd) pane.scrollTop = pane.scrollHeight;
  }
}

function span(text: string, kind: string): HTMLElement {
  const element = document.createElement('span');
  element.className = kind;
  element.textContent = text;
  return element;
}
