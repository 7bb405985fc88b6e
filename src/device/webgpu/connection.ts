/** The connection to the worker that has the GPU: messages to it, and answers that the calling thread waits for. */
import { canShare, type SpawnedWorker, spawn } from '../spawn.ts';
import { type Answer, type Ask, answerBytes, control, type Opened } from './worker/messages.ts';
import { workerSource } from './worker/worker-source.ts';

export interface Connection {
  readonly opened: Opened;
  /** Sends work that needs no answer. */
  send(ask: Ask): void;
  /** Waits for an answer; undefined after `timeoutMs`, where that is not 0. */
  ask(ask: Ask, timeoutMs?: number): Answer | undefined;
  close(): void;
}

/** Milliseconds that a GPU may take to open. */
const openMs = 60_000;

interface Line {
  readonly worker: SpawnedWorker;
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly answer: SharedArrayBuffer;
  number: number;
}

function newLine(): Line | string {
  if (!canShare()) return 'the page is not isolated (`Cross-Origin-Opener-Policy`), so that it cannot share memory with workers';
  const worker = spawn(workerSource(), { message: () => undefined, ended: () => undefined });
  if (!worker) return 'there are no workers here';
  const words = new Int32Array(new SharedArrayBuffer(4 * control.words));
  const answer = new SharedArrayBuffer(answerBytes);
  worker.post({ control: words.buffer, answer });
  return { worker, words, answer, number: 0 };
}

function received({ words, answer }: Line): Answer {
  const bytes = new Uint8Array(answer).slice(0, words[control.length]);
  return JSON.parse(new TextDecoder().decode(bytes)) as Answer;
}

function ask(line: Line, message: Ask, timeoutMs: number): Answer | undefined {
  const before = line.number++;
  line.worker.post({ ...message, number: line.number });
  const end = performance.now() + timeoutMs;
  for (;;) {
    const left = timeoutMs === 0 ? Number.POSITIVE_INFINITY : end - performance.now();
    if (left <= 0 || Atomics.wait(line.words, control.answered, before, left) === 'timed-out') return undefined;
    if (Atomics.load(line.words, control.answered) === line.number) return received(line);
  }
}

const connectionOf = (line: Line, opened: Opened): Connection => ({
  opened,
  send: (message) => line.worker.post(message),
  ask: (message, timeoutMs = 0) => ask(line, message, timeoutMs),
  close: () => line.worker.terminate(),
});

/** Opens the GPU of a package, or of the page; a text if that fails. */
export function connect(from: string | undefined): Connection | string {
  const line = newLine();
  if (typeof line === 'string') return line;
  const answer = ask(line, { ask: 'open', from }, openMs);
  if (answer?.isGood && answer.opened) return connectionOf(line, answer.opened);
  line.worker.terminate();
  return answer && !answer.isGood ? answer.why : 'WebGPU does not answer';
}

/** As `connect`, without waiting: a page starts workers only while its thread is idle. */
export async function connectLater(from: string | undefined): Promise<Connection | string> {
  const line = newLine();
  if (typeof line === 'string') return line;
  line.worker.post({ ask: 'open', from, number: ++line.number });
  for (const end = performance.now() + openMs; Atomics.load(line.words, control.answered) !== 1; ) {
    if (performance.now() > end) return 'WebGPU does not answer';
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const answer = received(line);
  if (answer.isGood && answer.opened) return connectionOf(line, answer.opened);
  line.worker.terminate();
  return answer.isGood ? 'WebGPU does not answer' : answer.why;
}
