/** One message to the helper and its answer. */
import { begun, unpacked } from './wire.ts';

export interface Limits {
  /** Milliseconds until the helper must have begun, for a command line; undefined for what it answers at once. */
  readonly beginMs?: number;
  readonly answerMs: number;
}

/** `absent`: no process listens. `failed`: one does, and did not answer in time or in full. */
export type Exchanged<T> = { readonly head: T; readonly rest: Uint8Array } | 'absent' | 'failed';

/** Sends bytes to a socket and waits for the answer. */
export function exchange<T>(socket: string, message: Uint8Array, { beginMs, answerMs }: Limits): Promise<Exchanged<T>> {
  const { promise, resolve } = Promise.withResolvers<Exchanged<T>>();
  let connection: Bun.Socket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = (result: Exchanged<T>): void => {
    clearTimeout(timer);
    resolve(result);
    connection?.terminate();
  };
  const limit = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(settle, ms, 'failed');
  };
  let isBegun = beginMs === undefined;
  let sent = 0;
  let received = Buffer.alloc(0);
  const send = (to: Bun.Socket): void => {
    sent += Math.max(0, to.write(message.subarray(sent)));
  };
  limit(beginMs ?? answerMs);
  Bun.connect({
    unix: socket,
    socket: {
      open(to) {
        connection = to;
        send(to);
      },
      drain(to) {
        if (sent < message.length) send(to);
      },
      data(_, chunk) {
        received = received.length === 0 ? Buffer.from(chunk) : Buffer.concat([received, chunk]);
        if (!isBegun) {
          if (received[0] !== begun) return settle('failed');
          isBegun = true;
          received = received.subarray(1);
          limit(answerMs);
        }
        const found = unpacked<T>(received);
        if (found === 'broken') settle('failed');
        else if (found !== 'more') settle(found);
      },
      close: () => settle('failed'),
      error: () => settle('failed'),
      connectError: () => settle('absent'),
    },
  }).catch(() => settle('absent'));
  return promise;
}
