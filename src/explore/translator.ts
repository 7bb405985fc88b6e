/** The compiler of the page of programs, which makes PTX of CUDA C++. It is fetched when it is first asked for. */
import type { BuildOrder, BuildReport } from '../page/messages.ts';
import { sourceName, type Translation, translationOf } from './translation.ts';

export class Translator {
  readonly #base: string;
  readonly #say: (words: string) => void;
  #worker: Worker | undefined;
  #waiting: { readonly text: string; readonly done: (made: Translation) => void; readonly failed: (why: Error) => void } | undefined;

  /** `base` is the folder of the page of programs; `say` takes what the user waits for. */
  constructor(base: string, say: (words: string) => void) {
    this.#base = base;
    this.#say = say;
  }

  /** Translates a text; what was asked before and is not done yet has no answer. */
  translate(text: string): Promise<Translation> {
    this.#worker ??= this.#start();
    const isBusy = this.#waiting !== undefined;
    const made = new Promise<Translation>((done, failed) => {
      this.#waiting = { text, done, failed };
    });
    if (!isBusy) this.#ask(text);
    return made;
  }

  #start(): Worker {
    const worker = new Worker(`${this.#base}compile-worker.js#manifest.json`, { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<BuildReport>) => this.#take(data);
    worker.onerror = ({ message }) => this.#fail(message || 'the compiler cannot be loaded');
    return worker;
  }

  #asked = '';
  #ask(text: string): void {
    this.#asked = text;
    const order: BuildOrder = { files: [{ name: sourceName, bytes: new TextEncoder().encode(text) }], isDevice: true };
    this.#worker?.postMessage(order);
  }

  #take(report: BuildReport): void {
    if (report.kind === 'loading') this.#say(`The compiler comes: ${megabytes(report.done)} of ${megabytes(report.all)} MB.`);
    else if (report.kind === 'step') this.#say(`${report.what} …`);
    else if (report.kind === 'failed') this.#fail(report.why);
    else if (report.kind === 'device' && this.#waiting) {
      const { text, done } = this.#waiting;
      // The text has changed meanwhile.
      if (text !== this.#asked) return this.#ask(text);
      this.#waiting = undefined;
      done(translationOf(text, report.ptx, report.messages));
    }
  }

  #fail(why: string): void {
    this.#waiting?.failed(new Error(why));
    this.#waiting = undefined;
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
