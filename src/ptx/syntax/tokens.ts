/**
 * The tokenizer: positions and kinds of tokens in flat arrays. Tokens of the kinds `word` to `string` are the holes of a shape, so the
 * classification must agree with the rules of the same names in `grammar.ohm`; a spec compares the two.
 */

/** Token kinds. A single punctuation mark has its own character code, which is below all of these. */
export const Kind = {
  word: 128,
  integer: 129,
  decimalFloat: 130,
  hexFloat: 131,
  string: 132,
  dotWord: 133,
  /** Two characters: `<<`, `||`. */
  operator: 134,
  /** A malformed number, such as `089`, `0x` or `0f3F8`. */
  badNumber: 135,
  /** A string without its closing quotation mark on the same line. */
  badString: 136,
  /** Any other character. */
  bad: 137,
} as const;

/** The tokens of a text. Entries from `count` on are unused, except that the one at `count` marks the end of the text. */
export interface Tokens {
  readonly text: string;
  readonly count: number;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly kinds: Uint8Array;
  /** The offset of an unclosed comment, or -1. */
  readonly openComment: number;
}

// Classes of characters below 128.
const space = 1;
const letter = 2;
const digit = 3;
const sign = 4; // other first characters of names: _ $ %
const mark = 5; // characters that are always a token by themselves
const classes = new Uint8Array(128);
for (let c = 0; c <= 32; c++) classes[c] = space;
for (const c of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ') classes[c.charCodeAt(0)] = letter;
for (const c of '0123456789') classes[c.charCodeAt(0)] = digit;
for (const c of '_$%') classes[c.charCodeAt(0)] = sign;
for (const c of '{}[](),;:+-*~^@?') classes[c.charCodeAt(0)] = mark;

const wordCharacters = new Uint8Array(128);
for (let c = 0; c < 128; c++) wordCharacters[c] = classes[c] === letter || classes[c] === digit ? 1 : 0;
wordCharacters[code('_')] = 1;
wordCharacters[code('$')] = 1;

/** The first characters of two-character operators, which are also tokens by themselves. */
const startsOperator = new Uint8Array(128);
for (const c of '<>=/!&|') startsOperator[code(c)] = 1;

const [underscore, percent, dot, quote, slash, star, hash] = [...'_%."/*#'].map(code) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];
const [less, greater, equals, exclamation, ampersand, bar] = [...'<>=!&|'].map(code);

const isWordCharacter = (c: number): boolean => c < 128 && wordCharacters[c] === 1;

function code(character: string): number {
  return character.charCodeAt(0);
}

/** Tokenizes a text; never fails. */
export function tokenize(text: string): Tokens {
  const lexer = new Lexer(text);
  lexer.run();
  return lexer;
}

class Lexer implements Tokens {
  readonly text: string;
  count = 0;
  starts: Int32Array;
  ends: Int32Array;
  kinds: Uint8Array;
  openComment = -1;

  constructor(text: string) {
    this.text = text;
    const capacity = 64 + (text.length >> 2);
    this.starts = new Int32Array(capacity);
    this.ends = new Int32Array(capacity);
    this.kinds = new Uint8Array(capacity);
  }

  run(): void {
    const text = this.text;
    let at = 0;
    while (at < text.length) {
      const c = text.charCodeAt(at);
      const kind = c < 128 ? classes[c]! : 0;
      if (kind === space) at++;
      else if (kind === letter) at = this.#add(Kind.word, at, wordEnd(text, at + 1));
      else if (kind === mark) at = this.#add(c, at, at + 1);
      else if (kind === sign) at = this.#marked(at, c);
      else if (kind === digit) at = this.#number(at);
      else at = this.#other(at, c);
    }
    this.#add(0, text.length, text.length);
    this.count--;
  }

  /** Adds a token and returns its end. */
  #add(kind: number, start: number, end: number): number {
    if (this.count === this.starts.length) this.#grow();
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.kinds[this.count++] = kind;
    return end;
  }

  #grow(): void {
    const grown = <T extends Int32Array | Uint8Array>(larger: T, array: T): T => {
      larger.set(array);
      return larger;
    };
    const capacity = this.starts.length * 2;
    this.starts = grown(new Int32Array(capacity), this.starts);
    this.ends = grown(new Int32Array(capacity), this.ends);
    this.kinds = grown(new Uint8Array(capacity), this.kinds);
  }

  /** `_`, `_a`, `$a`, `%a`, or the operator `%`. */
  #marked(at: number, c: number): number {
    const end = wordEnd(this.text, at + 1);
    if (end > at + 1 || c === underscore) return this.#add(Kind.word, at, end);
    return this.#add(c === percent ? c : Kind.bad, at, at + 1);
  }

  #number(at: number): number {
    const end = numberEnd(this.text, at);
    return this.#add(numberKind(this.text, at, end), at, end);
  }

  #other(at: number, c: number): number {
    const next = this.text.charCodeAt(at + 1);
    if (c === dot) return this.#dot(at, next);
    if (c === quote) return this.#string(at);
    if (c === slash && (next === slash || next === star)) return this.#comment(at, next);
    if (c === hash) return this.#lineMarker(at);
    if (isDouble(c, next)) return this.#add(Kind.operator, at, at + 2);
    if (c < 128 && startsOperator[c] === 1) return this.#add(c, at, at + 1);
    return this.#add(Kind.bad, at, at + ((c & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00 ? 2 : 1));
  }

  #dot(at: number, next: number): number {
    if (next >= 48 && next <= 57) {
      const end = numberEnd(this.text, at);
      if (numberKind(this.text, at, end) === Kind.decimalFloat) return this.#add(Kind.decimalFloat, at, end);
    }
    let end = wordEnd(this.text, at + 1);
    if (end === at + 1) return this.#add(Kind.bad, at, end);
    while (this.text.startsWith('::', end) && isWordCharacter(this.text.charCodeAt(end + 2))) end = wordEnd(this.text, end + 2);
    return this.#add(Kind.dotWord, at, end);
  }

  #string(at: number): number {
    const close = this.text.indexOf('"', at + 1);
    const lineEnd = endOfLine(this.text, at);
    if (close >= 0 && close < lineEnd) return this.#add(Kind.string, at, close + 1);
    return this.#add(Kind.badString, at, lineEnd);
  }

  #comment(at: number, next: number): number {
    if (next === slash) return endOfLine(this.text, at);
    const close = this.text.indexOf('*/', at + 2);
    if (close >= 0) return close + 2;
    this.openComment = at;
    return this.text.length;
  }

  /** A line marker of a preprocessor, `# 1 "a.c"`, is a comment. */
  #lineMarker(at: number): number {
    marker.lastIndex = at;
    return marker.test(this.text) ? endOfLine(this.text, at) : this.#add(Kind.bad, at, at + 1);
  }
}

const marker = /# *(?:line +)?[0-9]/y;

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function wordEnd(text: string, at: number): number {
  let end = at;
  // Past the end of the text the code is NaN, for which every comparison is false.
  for (let c = text.charCodeAt(end); c < 128 && wordCharacters[c] === 1; c = text.charCodeAt(end)) end++;
  return end;
}

function isDouble(c: number, next: number): boolean {
  if (next === equals) return c === less || c === greater || c === equals || c === exclamation;
  return c === next && (c === less || c === greater || c === ampersand || c === bar);
}

const digitsEnd = (text: string, at: number): number => {
  for (let c = text.charCodeAt(at); c >= 48 && c <= 57; c = text.charCodeAt(at)) at++;
  return at;
};

/** The end of a number, including word characters and dots after it, which make it malformed. */
function numberEnd(text: string, at: number): number {
  let end = digitsEnd(text, at);
  if (text[end] === '.') end = digitsEnd(text, end + 1);
  const exponent = text[end];
  if (exponent === 'e' || exponent === 'E') {
    const signed = text[end + 1] === '+' || text[end + 1] === '-' ? end + 2 : end + 1;
    if (digitsEnd(text, signed) > signed) end = digitsEnd(text, signed);
  }
  while (isWordCharacter(text.charCodeAt(end)) || text[end] === '.') end++;
  return end;
}

const decimalInteger = /^(?:0[0-7]*|[1-9][0-9]*)U?$/;
const radixInteger = /^0(?:[xX][0-9a-fA-F]+|[bB][01]+)U?$/;
const decimalFloat = /^(?:[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)$/;
const hexFloat = /^0(?:[fF][0-9a-fA-F]{8}|[dD][0-9a-fA-F]{16})$/;

function numberKind(text: string, start: number, end: number): number {
  // Fast path for one digit, by far the most frequent number.
  if (end === start + 1) return Kind.integer;
  const word = text.slice(start, end);
  if (decimalInteger.test(word) || radixInteger.test(word)) return Kind.integer;
  if (hexFloat.test(word)) return Kind.hexFloat;
  return decimalFloat.test(word) ? Kind.decimalFloat : Kind.badNumber;
}
