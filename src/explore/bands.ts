/** Lines that belong together: the line under the pointer on one side, and the lines on the other side that come from it or that it comes from. */

interface Sides {
  readonly text: HTMLTextAreaElement;
  readonly view: HTMLElement;
  readonly left: HTMLElement;
  readonly right: HTMLElement;
}

const lineHeight = 19;
const padding = 10;
/** Of the text, left of its first character. */
const leftPadding = 4;

export class Bands {
  readonly #sides: Sides;
  /** By line of the view: the line of the text, 0 for none. */
  #lines: readonly number[] = [];
  #chosen: number | undefined;
  readonly #characterWidth: number;

  constructor(sides: Sides) {
    this.#sides = sides;
    const { text, view } = sides;
    this.#characterWidth = widthOfCharacter(text);
    text.addEventListener('mousemove', ({ clientY }) => this.#choose(lineAt(text, clientY)));
    view.addEventListener('mousemove', ({ clientY }) => this.#choose(this.#lines[lineAt(view, clientY) - 1] ?? 0));
    text.addEventListener('keyup', () => this.#choose(text.value.slice(0, text.selectionStart).split('\n').length));
    text.addEventListener('scroll', () => this.#draw());
    view.addEventListener('scroll', () => this.#draw());
    // What is chosen on the left is made visible on the right.
    text.addEventListener('click', () => this.#reveal());
  }

  /** The lines of a new view. */
  match(lines: readonly number[]): void {
    this.#lines = lines;
    this.#draw();
  }

  clear(): void {
    this.#lines = [];
    this.#chosen = undefined;
    this.#draw();
  }

  /** The offset in the text at a place of the page; undefined behind the end of a line. */
  offsetAt(x: number, y: number): number | undefined {
    const { text } = this.#sides;
    const box = text.getBoundingClientRect();
    const line = lineAt(text, y);
    const column = Math.floor((x - box.left + text.scrollLeft - leftPadding) / this.#characterWidth);
    const rows = text.value.split('\n', line);
    const row = rows[line - 1];
    if (row === undefined || column < 0) return undefined;
    const character = characterAt(row, column);
    return character === undefined ? undefined : rows.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + character;
  }

  #choose(line: number): void {
    if (line === this.#chosen) return;
    this.#chosen = line;
    this.#draw();
  }

  #reveal(): void {
    const first = this.#lines.indexOf(this.#chosen ?? -1);
    const { view } = this.#sides;
    const top = padding + first * lineHeight;
    const isVisible = top >= view.scrollTop && top < view.scrollTop + view.clientHeight - lineHeight;
    if (first >= 0 && !isVisible) view.scrollTop = Math.max(0, top - view.clientHeight / 3);
  }

  #draw(): void {
    const { text, view, left, right } = this.#sides;
    const chosen = this.#chosen ?? 0;
    const belonging = chosen === 0 ? [] : this.#lines.flatMap((line, i) => (line === chosen ? [i + 1] : []));
    right.replaceChildren(...belonging.map((line) => bandAt(line, view.scrollTop)));
    left.replaceChildren(...(belonging.length > 0 ? [bandAt(chosen, text.scrollTop)] : []));
  }
}

function bandAt(line: number, scrolled: number): HTMLElement {
  const band = document.createElement('i');
  band.style.top = `${padding + (line - 1) * lineHeight - scrolled}px`;
  return band;
}

function lineAt(element: HTMLElement, y: number): number {
  return Math.floor((y - element.getBoundingClientRect().top + element.scrollTop - padding) / lineHeight) + 1;
}

const tabSize = 4;

/** The character of a row at a column, with tabs. */
function characterAt(row: string, column: number): number | undefined {
  let at = 0;
  for (let i = 0; i < row.length; i++) {
    at = row[i] === '\t' ? at - (at % tabSize) + tabSize : at + 1;
    if (column < at) return i;
  }
  return undefined;
}

function widthOfCharacter(element: HTMLElement): number {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return 8;
  context.font = getComputedStyle(element).font;
  return context.measureText('0'.repeat(100)).width / 100;
}
