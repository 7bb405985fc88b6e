/** The worker of the page, so that typing never waits. */
import { answerTo } from './answer.ts';
import type { Order } from './messages.ts';

self.onmessage = async ({ data }: MessageEvent<Order>): Promise<void> => postMessage(await answerTo(data));
