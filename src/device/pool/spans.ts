/**
 * Free spans of pages, in lists by their length: a span is taken from the shortest list that fits, split, and joined with its free
 * neighbors when it is released. Pages are numbered; a number between two ranges belongs to no page, so that ranges are never joined.
 */
import { bug } from '../../base/bug.ts';

const none = -1;
/** What a page is the first or the last one of. */
const kinds = { nothing: 0, free: 1, taken: 2 } as const;
/** Spans up to this many pages have a list for each length. */
const exactLists = 32;
/** Above that, lists for each power of two. */
const stepsPerPower = 4;
const listCount = 128;

/** The list of spans of a length; each holds one length, or lengths below the next list's. */
export function listOf(pages: number): number {
  if (pages <= exactLists) return pages - 1;
  const power = 31 - Math.clz32(pages);
  const step = (pages >>> (power - 2)) & (stepsPerPower - 1);
  return Math.min(listCount - 1, exactLists + (power - 5) * stepsPerPower + step);
}

/** Numbers that no range has. */
interface Gap {
  readonly start: number;
  readonly count: number;
}

export class Spans {
  #kind = new Uint8Array(0);
  /** Of a span, at its first and its last page. */
  #length = new Int32Array(0);
  #next = new Int32Array(0);
  #previous = new Int32Array(0);
  readonly #heads = new Int32Array(listCount).fill(none);
  /** A bit for each list that has a span. */
  readonly #filled = new Uint32Array(listCount / 32);
  #end = 0;
  #gaps: Gap[] = [];
  #free = 0;

  /** Pages of all free spans. */
  get free(): number {
    return this.#free;
  }

  /** One above the last number. */
  get end(): number {
    return this.#end;
  }

  /** Pages of the longest free span. */
  get longest(): number {
    for (let word = this.#filled.length - 1; word >= 0; word--) {
      const bits = this.#filled[word]!;
      if (bits === 0) continue;
      let longest = 0;
      for (let at = this.#heads[32 * word + 31 - Math.clz32(bits)]!; at !== none; at = this.#next[at]!)
        longest = Math.max(longest, this.#length[at]!);
      return longest;
    }
    return 0;
  }

  /** Adds a range of free pages, and returns the number of its first one. */
  add(pages: number): number {
    // One number more keeps ranges apart.
    const wanted = pages + 1;
    const gap = this.#gaps.find(({ count }) => count >= wanted);
    const first = gap ? gap.start : this.#end;
    if (gap) {
      this.#gaps = this.#gaps.filter((each) => each !== gap);
      if (gap.count > wanted) this.#gaps.push({ start: gap.start + wanted, count: gap.count - wanted });
    } else {
      this.#end += wanted;
      this.#growTo(this.#end + 1);
    }
    this.#insert(first, pages);
    return first;
  }

  /** Whether no page of a range is taken. */
  isIdle(first: number, pages: number): boolean {
    return this.#kind[first] === kinds.free && this.#length[first] === pages;
  }

  /** Removes a range, none of whose pages is taken. */
  remove(first: number, pages: number): void {
    if (!this.isIdle(first, pages)) bug(`the range of ${pages} pages at ${first} is in use`);
    this.#unlink(first, pages);
    this.#mark(first, pages, kinds.nothing);
    this.#gaps.push({ start: first, count: pages + 1 });
  }

  /** The first of some free neighbors; undefined if there are not so many. */
  take(pages: number): number | undefined {
    const first = this.#find(pages);
    if (first === none) return undefined;
    const length = this.#length[first]!;
    this.#unlink(first, length);
    this.#mark(first, pages, kinds.taken);
    if (length > pages) this.#insert(first + pages, length - pages);
    return first;
  }

  /** Gives a span back by its first page. */
  give(first: number): void {
    const pages = this.takenAt(first);
    if (pages === 0) bug(`no span starts at page ${first}`);
    let [start, length] = [first, pages];
    this.#mark(first, pages, kinds.nothing);
    const after = first + pages;
    if (this.#kind[after] === kinds.free) {
      const more = this.#length[after]!;
      this.#unlink(after, more);
      this.#mark(after, more, kinds.nothing);
      length += more;
    }
    if (first > 0 && this.#kind[first - 1] === kinds.free) {
      const more = this.#length[first - 1]!;
      start = first - more;
      this.#unlink(start, more);
      this.#mark(start, more, kinds.nothing);
      length += more;
    }
    this.#insert(start, length);
  }

  /** Pages of the taken span that starts at a page; 0 if none does. */
  takenAt(page: number): number {
    return this.#kind[page] === kinds.taken ? this.#length[page]! : 0;
  }

  #find(pages: number): number {
    const list = listOf(pages);
    if (pages > exactLists) for (let at = this.#heads[list]!; at !== none; at = this.#next[at]!) if (this.#length[at]! >= pages) return at;
    const from = pages > exactLists ? list + 1 : list;
    for (let word = from >>> 5; word < this.#filled.length; word++) {
      const mask = word === from >>> 5 ? 0xffff_ffff << (from & 31) : 0xffff_ffff;
      const bits = this.#filled[word]! & mask;
      if (bits !== 0) return this.#heads[32 * word + 31 - Math.clz32(bits & -bits)]!;
    }
    return none;
  }

  /** Notes a span at its ends: pages inside have nothing. A span of one page that is taken has the same end twice. */
  #mark(first: number, pages: number, kind: number): void {
    const last = first + pages - 1;
    // Only the first page of a taken span is asked for, and the last one of a free span.
    this.#kind[last] = kind === kinds.free ? kind : kinds.nothing;
    this.#kind[first] = kind;
    this.#length[last] = pages;
    this.#length[first] = pages;
  }

  #insert(first: number, pages: number): void {
    this.#mark(first, pages, kinds.free);
    const list = listOf(pages);
    const head = this.#heads[list]!;
    this.#next[first] = head;
    this.#previous[first] = none;
    if (head !== none) this.#previous[head] = first;
    this.#heads[list] = first;
    this.#filled[list >>> 5]! |= 1 << (list & 31);
    this.#free += pages;
  }

  #unlink(first: number, pages: number): void {
    const list = listOf(pages);
    const [next, previous] = [this.#next[first]!, this.#previous[first]!];
    if (next !== none) this.#previous[next] = previous;
    if (previous !== none) this.#next[previous] = next;
    else {
      this.#heads[list] = next;
      if (next === none) this.#filled[list >>> 5]! &= ~(1 << (list & 31));
    }
    this.#free -= pages;
  }

  #growTo(count: number): void {
    if (count <= this.#kind.length) return;
    const room = Math.max(64, 2 * this.#kind.length, count);
    this.#kind = copied(new Uint8Array(room), this.#kind);
    this.#length = copied(new Int32Array(room), this.#length);
    this.#next = copied(new Int32Array(room), this.#next);
    this.#previous = copied(new Int32Array(room), this.#previous);
  }
}

function copied<A extends Uint8Array | Int32Array>(to: A, from: A): A {
  to.set(from);
  return to;
}
