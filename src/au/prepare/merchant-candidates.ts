// Finds columns of an export that look like the id of a merchant.

/** The number of filled cells that are examined in a column. */
const MAX_CELLS = 1_000;
/** The share of cells that must look like ids. */
const MIN_IDS = 0.9;
/** With fewer cells, ids of merchants may all be different. */
const FEW_CELLS = 20;

const MERCHANT = 'merchants?|händler|haendler|comercio|marchand|commer[çc]ant|esercente';
/** These are also parts of other words, such as restored or middle. */
const SHORT = 'mid|store|shop|outlet';
const OF_IDS = 'id|ids|identifier|no|nr|num|number|nummer|numero|code|key|ref|reference|account|acct|uid|uuid';
const NAME = new RegExp(`(?:${MERCHANT}|(?:^| )(?:sub)?(?:${SHORT}))(?: ?(?:${OF_IDS}))*(?: ?\\d{1,2})?$`, 'u');
/** An id, in contrast to the name of a merchant, which mostly has spaces. */
const ID = /^[\p{L}\p{N}][\p{L}\p{N}_.:/-]{0,63}$/u;

/** The columns that look like the id of a merchant, in an export without a column of a known name. */
export interface MerchantColumns {
  /** Columns with a few different ids: rows of several merchants would become rows without a merchant. */
  readonly likely: readonly number[];
  /** Columns with only one id, or with another one in most rows, such as the merchant's references of payments. */
  readonly doubtful: readonly number[];
}

/** Finds columns that look like the id of a merchant by their names and cells. */
export class MerchantCandidates {
  readonly #columns: readonly Column[];

  /** `taken` are the columns with another meaning. */
  constructor(names: readonly string[], taken: readonly number[]) {
    const places = names.flatMap((name, place) => (isNamedMerchant(name) && !taken.includes(place) ? [place] : []));
    this.#columns = places.map((place) => ({
      place,
      name: names[place] ?? '',
      filled: 0,
      ids: 0,
      different: new Set(),
      hasSeveral: false,
    }));
  }

  take(cells: readonly string[]): void {
    for (const column of this.#columns) {
      const cell = cells[column.place]?.trim() ?? '';
      // The header may be repeated among the rows.
      if (cell === '' || cell === column.name) continue;
      // An export that is sorted by merchant begins with many rows of the first one.
      column.first ??= cell;
      column.hasSeveral ||= cell !== column.first;
      if (column.filled === MAX_CELLS) continue;
      column.filled += 1;
      column.different.add(cell);
      if (ID.test(cell)) column.ids += 1;
    }
  }

  found(): MerchantColumns {
    const named = this.#columns.filter(({ filled, ids }) => filled > 0 && ids >= filled * MIN_IDS);
    return {
      likely: named.filter((column) => isLikely(column)).map(({ place }) => place),
      doubtful: named.filter((column) => !isLikely(column)).map(({ place }) => place),
    };
  }
}

interface Column {
  readonly place: number;
  readonly name: string;
  first?: string;
  filled: number;
  ids: number;
  readonly different: Set<string>;
  hasSeveral: boolean;
}

function isLikely({ hasSeveral, filled, different }: Column): boolean {
  return hasSeveral && (filled < FEW_CELLS || different.size <= filled / 2);
}

/** Tells whether a column name means the id of a merchant: "merchant no" or "store account", but not "merchant city". */
export function isNamedMerchant(name: string): boolean {
  const words = name
    .normalize('NFC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return NAME.test(words);
}
