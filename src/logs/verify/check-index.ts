import type { Store } from '../../client/store/store.ts';
import type { IdKey } from '../archive/index/filter.ts';
import { SegmentIndex } from '../archive/index/segment-index.ts';
import { readIndex } from '../archive/index/store-index.ts';
import { isRawSegment, type Segment } from '../archive/records/record.ts';

/** Compares the index beside a segment with the entries, which are added in order: it must rule out none of their ids. */
export class IndexCheck {
  readonly #index: SegmentIndex | undefined;
  #column = 0;
  #entries = 0;
  #isSame: boolean;

  /** Opens the index of a segment; undefined without one, which is no problem: a search makes it. */
  static async of(store: Store, segment: Segment): Promise<IndexCheck | undefined> {
    const bytes = isRawSegment(segment) ? undefined : await readIndex(store, segment);
    return bytes && new IndexCheck(SegmentIndex.of(bytes, segment));
  }

  private constructor(index: SegmentIndex | undefined) {
    this.#index = index;
    this.#isSame = index !== undefined;
  }

  /** Adds an entry by the keys of its ids. */
  add(entity: IdKey | undefined, actor: IdKey | undefined): void {
    const index = this.#index;
    if (index === undefined) return;
    if (entity && !index.mayHold(this.#column, entity)) this.#isSame = false;
    if (actor && !index.mayHold(this.#column, actor)) this.#isSame = false;
    this.#entries += 1;
    if (this.#entries !== index.columns[this.#column]?.[1]) return;
    this.#column += 1;
    this.#entries = 0;
  }

  /** Whether the index is of this segment and rules out no entry. Valid once all entries were added. */
  isSame(): boolean {
    return this.#isSame;
  }
}
