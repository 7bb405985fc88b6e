/**
 * Jumps of MT19937: the state after 2^e numbers is a polynomial of the step, x^(2^e) by the characteristic polynomial, applied to the state. Source:
 * H. Haramoto and others, "Efficient jump ahead for F2-linear random number generators", 2008.
 */

/** The words of a state, and which of them a step joins. */
export const stateWords = 624;
export const middle = 397;
/** The matrix of a step is the identity above these bits and this word below. */
export const twist = 0x9908b0df;
/** The bits of a state that matter. */
const degree = 19937;

type Polynomial = Uint32Array<ArrayBuffer>;
const wordsOf = (bits: number): number => Math.ceil(bits / 32);

/** The powers of the characteristic polynomial below the highest. Source: M. Matsumoto, T. Nishimura, "Mersenne Twister", 1998, appendix A. */
function characteristic(): number[] {
  const powers = new Set<number>();
  const toggle = (power: number): void => {
    if (!powers.delete(power)) powers.add(power);
  };
  /** Adds (x^624 + x^397)^high * (x^623 + x^396)^low: a binomial coefficient is odd where its bits are among those of the exponent. */
  const add = (high: number, low: number): void => {
    for (let i = 0; i <= high; i++)
      for (let j = 0; j <= low; j++)
        if ((high & i) === i && (low & j) === j)
          toggle(i * stateWords + (high - i) * middle + j * (stateWords - 1) + (low - j) * (middle - 1));
  };
  add(1, 31);
  for (let bit = 0; bit < 31; bit++) if ((twist >>> bit) & 1) add(1, 30 - bit);
  if (twist >>> 31) add(0, 0);
  powers.delete(degree);
  return [...powers];
}

/** The bits of a reduction at a time: below the distance of the two highest powers. */
const chunkWords = 19;

/** Adds words to a polynomial from a bit on. */
function addAt(to: Polynomial, bit: number, words: Polynomial): void {
  const [first, shift] = [bit >>> 5, bit & 31];
  if (shift === 0) for (let i = 0; i < words.length; i++) to[first + i]! ^= words[i]!;
  else
    for (let i = 0; i < words.length; i++) {
      to[first + i]! ^= words[i]! << shift;
      to[first + i + 1]! ^= words[i]! >>> (32 - shift);
    }
}

/** The remainder by the characteristic polynomial, in place. */
function reduce(whole: Polynomial, powers: readonly number[]): Polynomial {
  const chunk = new Uint32Array(chunkWords);
  const bits = 32 * chunkWords;
  for (let at = degree + bits * (Math.ceil(degree / bits) - 1); at >= degree; at -= bits) {
    const [first, shift] = [at >>> 5, at & 31];
    for (let i = 0; i < chunkWords; i++) {
      const [low, high] = [whole[first + i] ?? 0, whole[first + i + 1] ?? 0];
      chunk[i] = shift === 0 ? low : (low >>> shift) | (high << (32 - shift));
    }
    addAt(whole, at, chunk);
    for (const power of powers) addAt(whole, at - degree + power, chunk);
  }
  return whole.slice(0, wordsOf(degree));
}

/** Sixteen bits with a zero behind each. */
function spread(half: number): number {
  let x = half;
  x = (x | (x << 8)) & 0x00ff00ff;
  x = (x | (x << 4)) & 0x0f0f0f0f;
  x = (x | (x << 2)) & 0x33333333;
  return (x | (x << 1)) & 0x55555555;
}

function squared(polynomial: Polynomial, powers: readonly number[]): Polynomial {
  // Room for chunks that reach beyond the end.
  const whole = new Uint32Array(2 * polynomial.length + chunkWords + 2);
  for (const [i, word] of polynomial.entries()) {
    whole[2 * i] = spread(word & 0xffff);
    whole[2 * i + 1] = spread(word >>> 16);
  }
  return reduce(whole, powers);
}

let powersOf: readonly number[] | undefined;
let largest: { readonly exponent: number; readonly polynomial: Polynomial } | undefined;
/** x^(2^exponent) by the characteristic polynomial, from the last one that was asked for on if it is smaller. */
export function jumpOf(exponent: number): Polynomial {
  powersOf ??= characteristic();
  const x = new Uint32Array(wordsOf(degree));
  x[0] = 2;
  let { exponent: at, polynomial } = largest && largest.exponent <= exponent ? largest : { exponent: 0, polynomial: x };
  for (; at < exponent; at++) polynomial = squared(polynomial, powersOf);
  largest = { exponent, polynomial };
  return polynomial;
}

/** The bits of a polynomial by chunks of 227, the words that a state gives at a time: their places in their chunk, and where each chunk begins. */
export function placesOf(polynomial: Polynomial): { readonly places: Uint32Array; readonly starts: Uint32Array } {
  const each = stateWords - middle;
  const places: number[] = [];
  const starts: number[] = [];
  for (let bit = 0; bit < Math.ceil(degree / each) * each; bit++) {
    if (bit % each === 0) starts.push(places.length);
    if (((polynomial[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) places.push(bit % each);
  }
  return { places: Uint32Array.from(places), starts: Uint32Array.from([...starts, places.length]) };
}
