/** The files of the page: tabs, a text field for the chosen one, and its numbers of lines, of which those with errors are marked. */

export interface TextFile {
  readonly name: string;
  text: string;
}

interface Parts {
  readonly tabs: HTMLElement;
  readonly gutter: HTMLElement;
  readonly text: HTMLTextAreaElement;
}

/** Most files, which have to fit in the row of tabs. */
const maxFiles = 20;
const nameOfFile = /^(?!\.)[\w.+-]+$/;

export class Editor {
  readonly #parts: Parts;
  readonly #changed: () => void;
  #files: TextFile[] = [];
  #chosen = 0;
  /** Lines with errors, by file. */
  #marked = new Map<string, Set<number>>();

  /** `changed` is called after each change of a file. */
  constructor(parts: Parts, changed: () => void) {
    this.#parts = parts;
    this.#changed = changed;
    parts.text.addEventListener('input', () => {
      this.#files[this.#chosen]!.text = parts.text.value;
      this.#marked.clear();
      this.#drawNumbers();
      changed();
    });
    parts.text.addEventListener('scroll', () => {
      parts.gutter.scrollTop = parts.text.scrollTop;
    });
    parts.text.addEventListener('keydown', (event) => this.#indent(event));
  }

  get files(): readonly TextFile[] {
    return this.#files;
  }

  open(files: readonly TextFile[]): void {
    this.#files = files.map((file) => ({ ...file }));
    this.#marked.clear();
    this.#choose(0);
  }

  /** Marks the lines of errors. */
  mark(places: readonly { readonly file: string; readonly line: number }[]): void {
    this.#marked = new Map();
    for (const { file, line } of places) this.#marked.set(file, (this.#marked.get(file) ?? new Set()).add(line));
    this.#drawNumbers();
  }

  /** Shows a line; false if there is no such file. */
  show(file: string, line: number): boolean {
    const index = this.#files.findIndex(({ name }) => name === file);
    if (index < 0) return false;
    this.#choose(index);
    const { text } = this.#parts;
    const start = text.value.split('\n', line - 1).join('\n').length + (line > 1 ? 1 : 0);
    const end = text.value.indexOf('\n', start);
    text.focus();
    text.setSelectionRange(start, end < 0 ? text.value.length : end);
    text.scrollTop = Math.max(0, (line - 8) * 19);
    return true;
  }

  #choose(index: number): void {
    this.#chosen = index;
    this.#parts.text.value = this.#files[index]!.text;
    this.#parts.text.scrollTop = 0;
    this.#drawTabs();
    this.#drawNumbers();
  }

  #drawTabs(): void {
    const button = (label: string, act: () => void): HTMLButtonElement => {
      const element = document.createElement('button');
      element.textContent = label;
      element.addEventListener('click', act);
      return element;
    };
    const tabs = this.#files.map(({ name }, i) => {
      const tab = button(name, () => (i === this.#chosen ? this.#rename(i) : this.#choose(i)));
      tab.setAttribute('aria-selected', String(i === this.#chosen));
      tab.title = i === this.#chosen ? 'another name; an empty one removes the file' : name;
      return tab;
    });
    const more = button('+', () => this.#add());
    more.title = 'another file';
    this.#parts.tabs.replaceChildren(...tabs, more);
  }

  #ask(question: string, name: string): string | undefined {
    const answer = globalThis.prompt(question, name)?.trim();
    const isTaken = answer !== name && this.#files.some((file) => file.name === answer);
    if (answer && (!nameOfFile.test(answer) || isTaken)) {
      globalThis.alert(isTaken ? `There is a file ${answer}.` : 'A name has letters, digits, dots and dashes.');
      return undefined;
    }
    return answer;
  }

  #add(): void {
    const name = this.#files.length < maxFiles ? this.#ask('The name of the file: .cu, .cpp and .c are compiled', 'kernels.cu') : undefined;
    if (!name) return;
    this.#files.push({ name, text: '' });
    this.#choose(this.#files.length - 1);
    this.#changed();
  }

  #rename(index: number): void {
    const file = this.#files[index]!;
    const name = this.#ask('The name of the file; none removes it', file.name);
    if (name === undefined || (name === '' && this.#files.length === 1)) return;
    if (name === '') this.#files.splice(index, 1);
    else this.#files[index] = { name, text: file.text };
    this.#choose(Math.min(index, this.#files.length - 1));
    this.#changed();
  }

  #drawNumbers(): void {
    const { name, text } = this.#files[this.#chosen]!;
    const marked = this.#marked.get(name);
    const parts: (Node | string)[] = [];
    const count = text.split('\n').length;
    for (let line = 1; line <= count; line++) {
      if (!marked?.has(line)) parts.push(`${line}\n`);
      else {
        const number = document.createElement('b');
        number.textContent = `${line}`;
        parts.push(number, '\n');
      }
    }
    this.#parts.gutter.replaceChildren(...parts);
    this.#parts.gutter.scrollTop = this.#parts.text.scrollTop;
  }

  /** The tabulator indents; with Escape before it, it leaves the field, as people who use no mouse expect. */
  #isLeaving = false;
  #indent(event: KeyboardEvent): void {
    if (event.key === 'Escape') this.#isLeaving = true;
    if (event.key !== 'Tab' || event.shiftKey || this.#isLeaving) {
      if (event.key === 'Tab') this.#isLeaving = false;
      return;
    }
    event.preventDefault();
    const { text } = this.#parts;
    text.setRangeText('  ', text.selectionStart, text.selectionEnd, 'end');
    text.dispatchEvent(new Event('input'));
  }
}
