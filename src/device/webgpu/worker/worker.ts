/**
 * The program of the worker that has the GPU: WebGPU answers by promises, and the thread that launches waits for them. Errors of messages that
 * want no answer are part of the next answer.
 */
import { type Answer, answerBytes, control, type Message, type Start } from './messages.ts';
import { newServer } from './service.ts';

interface Port {
  on?(event: 'message', act: (data: never) => void): void;
  onmessage?: ((event: { readonly data: never }) => void) | null;
}

const serve = newServer();
let start: Start | undefined;
let late: Answer | undefined;
let last: Promise<void> = Promise.resolve();

function reply({ control: words, answer }: Start, number: number, text: string): void {
  const bytes = new TextEncoder().encode(text).subarray(0, answerBytes);
  new Uint8Array(answer).set(bytes);
  const shared = new Int32Array(words);
  shared[control.length] = bytes.length;
  Atomics.store(shared, control.answered, number);
  Atomics.notify(shared, control.answered);
}

async function take(message: Message): Promise<void> {
  const answer = await serve(message);
  if (message.number === undefined) {
    if (!answer.isGood) late ??= answer;
    return;
  }
  const given = late ?? answer;
  late = undefined;
  const whole = JSON.stringify(given);
  // The messages of a compiler may be long.
  const isShort = whole.length < answerBytes / 4 || given.isGood;
  reply(start!, message.number, isShort ? whole : JSON.stringify({ isGood: false, why: given.why.slice(0, answerBytes / 16) }));
}

function receive(message: Message | Start): void {
  if ('control' in message) {
    start = message;
    return;
  }
  last = last.then(() => take(message));
}

interface Process {
  getBuiltinModule?(name: string): { parentPort: Port | null } | undefined;
}

/** The parent port in Node; otherwise, and in Bun, which has both, the global object. */
function portOf(): Port {
  const scope = globalThis as { readonly onmessage?: unknown; readonly process?: Process };
  if (scope.onmessage !== undefined || 'WorkerGlobalScope' in scope) return scope as unknown as Port;
  return scope.process?.getBuiltinModule?.('node:worker_threads')?.parentPort ?? (scope as unknown as Port);
}

const port = portOf();
if (port.on) port.on('message', receive as (data: never) => void);
else port.onmessage = ({ data }) => receive(data);
