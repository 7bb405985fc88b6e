/** The numbers of lines beside the text: errors and warnings are marked, and after a launch how often a line ran. */
import type { Finding } from './messages.ts';

const lineHeight = 19;

export class Margin {
  readonly #numbers: HTMLElement;
  readonly #text: HTMLTextAreaElement;
  #marked = new Map<number, Finding>();
  #heat = new Map<number, number>();

  constructor(numbers: HTMLElement, text: HTMLTextAreaElement) {
    this.#numbers = numbers;
    this.#text = text;
    text.addEventListener('scroll', () => {
      numbers.scrollTop = text.scrollTop;
    });
  }

  /** Marks the lines of errors and warnings; of several in a line, the first error. */
  mark(findings: readonly Finding[]): void {
    this.#marked = new Map();
    for (const finding of [...findings].reverse())
      if (finding.line > 0 && finding.severity !== 'note' && this.#marked.get(finding.line)?.severity !== 'error')
        this.#marked.set(finding.line, finding);
    this.draw();
  }

  /** Shows how often lines ran, by their share of the most frequent one. */
  heat(counts: readonly (readonly [line: number, warps: number])[]): void {
    this.#heat = new Map(counts);
    this.draw();
  }

  clearHeat(): void {
    this.#heat = new Map();
  }

  draw(): void {
    const count = this.#text.value.split('\n').length;
    const most = Math.max(1, ...this.#heat.values());
    const rows = Array.from({ length: count }, (_, i) => {
      const row = document.createElement('span');
      row.textContent = String(i + 1);
      const finding = this.#marked.get(i + 1);
      const warps = this.#heat.get(i + 1);
      if (finding) {
        row.className = finding.severity;
        row.title = finding.message;
      } else if (warps !== undefined) {
        row.className = 'heat';
        row.style.setProperty('--share', `${Math.round(12 + (68 * warps) / most)}%`);
        row.title = `ran ${warps} times, counted by warps`;
      }
      return row;
    });
    this.#numbers.replaceChildren(...rows);
    this.#numbers.scrollTop = this.#text.scrollTop;
  }

  /** Selects a line. */
  show(line: number): void {
    const before = this.#text.value.split('\n', line - 1).join('\n').length;
    const start = before + (line > 1 ? 1 : 0);
    const end = this.#text.value.indexOf('\n', start);
    this.#text.focus();
    this.#text.setSelectionRange(start, end < 0 ? this.#text.value.length : end);
    this.#text.scrollTop = Math.max(0, (line - 8) * lineHeight);
  }
}
