/** The worker of the page, so that typing never waits. */
import { answerTo } from './answer.ts';
import type { Order } from './messages.ts';

self.onmessage = ({ data }: MessageEvent<Order>): void => void postMessage(answerTo(data));
