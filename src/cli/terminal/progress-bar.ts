/** How far a launch is, as a bar on a terminal: one line, drawn again and again, that is gone when there is anything else to say. */
import type { Terminal } from './index.ts';

export interface ProgressBar {
  /** Blocks that have ended, of how many. */
  update(done: number, total: number): void;
  /** Takes the bar away. */
  clear(): void;
}

const width = 24;
/** Milliseconds before which a bar is not worth a look. */
const patienceMs = 500;

/** A bar for a launch that begins now. Nothing is drawn where nobody looks. */
export function progressBar(kernel: string, terminal: Pick<Terminal, 'status'>, now: () => number = () => performance.now()): ProgressBar {
  const start = now();
  let isDrawn = false;
  return {
    update(done, total) {
      const spent = now() - start;
      if (spent < patienceMs) return;
      isDrawn = true;
      terminal.status?.(barText(kernel, { done, total, spent }));
    },
    clear() {
      if (isDrawn) terminal.status?.('');
      isDrawn = false;
    },
  };
}

/** `kernel [######------]  50 %  3 s, 3 s to go`. */
function barText(
  kernel: string,
  { done, total, spent }: { readonly done: number; readonly total: number; readonly spent: number },
): string {
  const part = total > 0 ? done / total : 0;
  const full = Math.floor(part * width);
  const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
  const left = done > 0 ? `, ${seconds((spent / done) * (total - done))} to go` : '';
  const percent = `${Math.floor(part * 100)}`.padStart(3);
  return `${kernel} [${'#'.repeat(full)}${'-'.repeat(width - full)}] ${percent} %  ${seconds(spent)}${left}`;
}
