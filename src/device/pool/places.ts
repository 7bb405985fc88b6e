/**
 * An allocator of places in reserved memory, which it never touches: slots of a size class for small requests, pages for large ones. A place
 * is a number: its page, and the byte in it. Both kinds take and give in constant time but for the search in one list of long spans.
 */
import { bug } from '../../base/bug.ts';
import { classOf, heldBytes, maxSmallBytes, pageBytes, type SizeClass, sizeClasses } from './size-classes.ts';
import { Spans } from './spans.ts';

/** What an allocator has given. Bytes. */
export interface PlaceCounts {
  /** Bytes that were asked for. */
  readonly used: number;
  /** Bytes of the slots and pages of these requests. */
  readonly held: number;
  readonly reserved: number;
  readonly allocations: number;
  /** Bytes of pages without an allocation, and of the most of them in a row. */
  readonly free: number;
  readonly longestFree: number;
}

/** A page of slots. */
class SlotPage {
  readonly class: number;
  readonly slotBytes: number;
  readonly slots: number;
  page = 0;
  /** Slots that are free again. */
  readonly #given: Uint16Array;
  #givenCount = 0;
  /** The first slot that was never taken. */
  #fresh = 0;
  /** Bytes of each request and one, 0 for a free slot. */
  readonly #requests: Uint32Array;
  used = 0;
  /** Its place among the pages of its class with a free slot. */
  at = -1;

  constructor(number: number, { bytes, slots }: SizeClass) {
    this.class = number;
    this.slotBytes = bytes;
    this.slots = slots;
    this.#given = new Uint16Array(slots);
    this.#requests = new Uint32Array(slots);
  }

  /** A free slot, which there is. */
  take(bytes: number): number {
    const slot = this.#givenCount > 0 ? this.#given[--this.#givenCount]! : this.#fresh++;
    this.#requests[slot] = bytes + 1;
    this.used++;
    return slot;
  }

  /** Bytes of the request at an offset of the page; -1 if there is none. */
  requestAt(offset: number): number {
    const slot = offset / this.slotBytes;
    return Number.isInteger(slot) && slot < this.slots ? this.#requests[slot]! - 1 : -1;
  }

  change(offset: number, bytes: number): void {
    this.#requests[offset / this.slotBytes] = bytes + 1;
  }

  give(offset: number): void {
    const slot = offset / this.slotBytes;
    this.#requests[slot] = 0;
    this.#given[this.#givenCount++] = slot;
    this.used--;
  }

  /** Makes an empty page one without a history, which is filled from its start. */
  renew(): void {
    this.#givenCount = 0;
    this.#fresh = 0;
  }
}

/** The page of a place. */
export const pageOf = (place: number): number => Math.floor(place / pageBytes);

export class Places {
  readonly #spans = new Spans();
  /** By page: its slots, or bytes of the request whose pages start there. */
  readonly #content: (SlotPage | number | undefined)[] = [];
  /** By class: pages with a free slot, and pages that may be used again. */
  readonly #open: SlotPage[][] = sizeClasses.map(() => []);
  readonly #spare: SlotPage[][] = sizeClasses.map(() => []);
  #used = 0;
  #held = 0;
  #reserved = 0;
  #allocations = 0;

  /** What is given now. */
  get counts(): PlaceCounts {
    return {
      used: this.#used,
      held: this.#held,
      reserved: this.#reserved,
      allocations: this.#allocations,
      free: this.#spans.free * pageBytes,
      longestFree: this.#spans.longest * pageBytes,
    };
  }

  /** Bytes that were asked for. */
  get used(): number {
    return this.#used;
  }

  /** Bytes of all ranges. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Adds a range of memory; returns the number of its first page. */
  add(pages: number): number {
    const first = this.#spans.add(pages);
    while (this.#content.length < this.#spans.end) this.#content.push(undefined);
    this.#reserved += pages * pageBytes;
    return first;
  }

  /** Whether nothing is in a range. */
  isIdle(first: number, pages: number): boolean {
    return this.#spans.isIdle(first, pages);
  }

  /** Removes a range with nothing in it. */
  remove(first: number, pages: number): void {
    this.#spans.remove(first, pages);
    this.#reserved -= pages * pageBytes;
  }

  /** A place for some bytes; undefined if no range has one. */
  take(bytes: number): number | undefined {
    const place = bytes <= maxSmallBytes ? this.#takeSlot(bytes) : this.#takePages(bytes);
    if (place === undefined) return undefined;
    this.#used += bytes;
    this.#allocations++;
    return place;
  }

  /** Gives a place back; returns the bytes that it was taken for, or -1 if nothing starts there. */
  give(place: number): number {
    const bytes = this.bytesAt(place);
    if (bytes < 0) return bytes;
    const page = pageOf(place);
    const content = this.#content[page]!;
    if (typeof content === 'number') {
      this.#content[page] = undefined;
      this.#held -= this.#spans.takenAt(page) * pageBytes;
      this.#spans.give(page);
    } else this.#giveSlot(content, place - page * pageBytes);
    this.#used -= bytes;
    this.#allocations--;
    return bytes;
  }

  /** Gives a place to another request that it has room for. */
  change(place: number, bytes: number): void {
    const before = this.bytesAt(place);
    if (before < 0 || heldBytes(before) !== heldBytes(bytes)) bug(`${bytes} bytes are no request for the place of ${before}`);
    const page = pageOf(place);
    const content = this.#content[page]!;
    if (typeof content === 'number') this.#content[page] = bytes;
    else content.change(place - page * pageBytes, bytes);
    this.#used += bytes - before;
  }

  /** Bytes that a place was taken for; -1 if nothing starts there. */
  bytesAt(place: number): number {
    if (!(place >= 0 && Number.isInteger(place))) return -1;
    const page = pageOf(place);
    const content = this.#content[page];
    if (content === undefined) return -1;
    const offset = place - page * pageBytes;
    return typeof content === 'number' ? (offset === 0 ? content : -1) : content.requestAt(offset);
  }

  #takePages(bytes: number): number | undefined {
    const pages = Math.ceil(bytes / pageBytes);
    const page = this.#spans.take(pages);
    if (page === undefined) return undefined;
    this.#content[page] = bytes;
    this.#held += pages * pageBytes;
    return page * pageBytes;
  }

  #takeSlot(bytes: number): number | undefined {
    const number = classOf(bytes);
    const open = this.#open[number]!;
    const page = open.length > 0 ? open[open.length - 1]! : this.#openPage(number);
    if (!page) return undefined;
    const slot = page.take(bytes);
    if (page.used === page.slots) this.#close(page);
    this.#held += page.slotBytes;
    return page.page * pageBytes + slot * page.slotBytes;
  }

  #openPage(number: number): SlotPage | undefined {
    const at = this.#spans.take(1);
    if (at === undefined) return undefined;
    const page = this.#spare[number]!.pop() ?? new SlotPage(number, sizeClasses[number]!);
    page.page = at;
    this.#content[at] = page;
    this.#show(page);
    return page;
  }

  #giveSlot(page: SlotPage, offset: number): void {
    if (page.used === page.slots) this.#show(page);
    page.give(offset);
    this.#held -= page.slotBytes;
    if (page.used > 0) return;
    this.#close(page);
    page.renew();
    this.#content[page.page] = undefined;
    this.#spans.give(page.page);
    this.#spare[page.class]!.push(page);
  }

  /** Adds a page to those of its class with a free slot. */
  #show(page: SlotPage): void {
    const open = this.#open[page.class]!;
    page.at = open.length;
    open.push(page);
  }

  #close(page: SlotPage): void {
    const open = this.#open[page.class]!;
    const last = open.pop() ?? bug('a page is not among those of its class');
    if (last === page) return;
    open[page.at] = last;
    last.at = page.at;
  }
}
