/** The progress bar of a launch: one status line on a terminal, cleared before other output. */
import type { Terminal } from './index.ts';

export interface ProgressBar {
  /** Shows the number of finished blocks. */
  update(done: number, total: number): void;
  /** Clears the bar. */
  clear(): void;
}

const width = 24;
/** The delay in milliseconds before the bar appears. */
const delayMs = 500;

/** A bar for a launch that begins now. Without a terminal nothing is drawn. */
export function progressBar(kernel: string, terminal: Pick<Terminal, 'status'>, now: () => number = () => performance.now()): ProgressBar {
  const start = now();
  let isDrawn = false;
  return {
    update(done, total) {
      const spent = now() - start;
      if (spent < delayMs) return;
      isDrawn = true;
      terminal.status?.(barText(kernel, { done, total, spent }));
    },
    clear() {
      if (isDrawn) terminal.status?.('');
      isDrawn = false;
    },
  };
}

/** `kernel [######------]  50 %  3 s elapsed, 3 s left`. */
function barText(
  kernel: string,
  { done, total, spent }: { readonly done: number; readonly total: number; readonly spent: number },
): string {
  const part = total > 0 ? done / total : 0;
  const full = Math.floor(part * width);
  const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
  const left = done > 0 ? `, ${seconds((spent / done) * (total - done))} left` : '';
  const percent = `${Math.floor(part * 100)}`.padStart(3);
  return `${kernel} [${'#'.repeat(full)}${'-'.repeat(width - full)}] ${percent} %  ${seconds(spent)} elapsed${left}`;
}
