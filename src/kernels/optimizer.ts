/** Steps of optimizers. */
import { type Arguments, blockIndex, f32, kernel, ptr, threadIndex, u32, when } from '../build/index.ts';
import { refuse } from './refuse.ts';
import { blocksFor, portable, type Routine, routine } from './routine.ts';

const parameters = {
  ...{ weights: ptr(f32), gradients: ptr(f32), first: ptr(f32), second: ptr(f32), n: u32, rate: f32, beta1: f32, beta2: f32, epsilon: f32 },
  ...{ keep: f32, decay: f32, correction1: f32, correction2: f32 },
};
type Step = typeof parameters;

/** What a step of `adam` is given. */
export type AdamArguments = Pick<Arguments<Step>, 'weights' | 'gradients' | 'first' | 'second' | 'n' | 'rate'> & {
  /** The number of the step, from 1 on. */
  readonly step: number;
  /** 0.9 by default. */
  readonly beta1?: number;
  /** 0.999 by default. */
  readonly beta2?: number;
  /** 1e-8 by default. */
  readonly epsilon?: number;
  /** The decay of the weights, 0 by default. */
  readonly decay?: number;
};

const threads = 256;

/**
 * A step of Adam (arXiv:1412.6980) with the decay of weights in the gradient, or of AdamW (arXiv:1711.05101), in which `weights` shrink by `rate * decay`
 * instead. `first` and `second` are the moments, zeros before step 1. All arrays have n elements of f32. Deterministic.
 */
export function adam({ decoupled = false }: { readonly decoupled?: boolean } = {}): Routine<Step, AdamArguments> {
  const name = decoupled ? 'adamw_f32' : 'adam_f32';
  const make = (word: string) =>
    kernel(
      word,
      parameters,
      ({ weights, gradients, first, second, n, rate, beta1, beta2, epsilon, keep, decay, correction1, correction2 }) => {
        const i = blockIndex().mad(threads, threadIndex());
        when(i.lt(n), () => {
          const [weight, given] = [weights.at(i).get(), gradients.at(i).get()];
          const gradient = decay.fma(weight, given);
          const m = first.at(i).get().sub(gradient).fma(beta1, gradient);
          const square = gradient.mul(gradient);
          const v = second.at(i).get().sub(square).fma(beta2, square);
          first.at(i).set(m);
          second.at(i).set(v);
          const root = v.mul(correction2).sqrt().add(epsilon);
          weights.at(i).set(weight.mul(keep).sub(rate.mul(m.mul(correction1)).div(root)));
        });
      },
      { ...portable, block: threads },
    );
  return routine(name, make, ({ step, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0, ...given }: AdamArguments) => {
    const { n, rate } = given;
    if (!Number.isInteger(step) || step < 1) refuse(name, `\`step\` is ${step}, and the first one is 1`);
    const [correction1, correction2] = [1 / (1 - beta1 ** step), 1 / (1 - beta2 ** step)];
    const kept = decoupled ? { keep: 1 - rate * decay, decay: 0 } : { keep: 1, decay };
    return {
      grid: blocksFor(n, threads),
      block: threads,
      args: { ...given, beta1, beta2, epsilon, ...kept, correction1, correction2 },
      sizes: { n: n > 0xffff_ffff - threads ? Number.NaN : n },
      needs: { weights: n, gradients: n, first: n, second: n },
    };
  });
}
