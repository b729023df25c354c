import type { TimeStyle } from '../output-format.ts';
import type { Palette, View } from './view.ts';

/** What a renderer must know beside the format. */
export interface RenderOptions<T> {
  readonly view: View<T>;
  /** The user's `--fields` list; without it a table shows the view's columns, other formats everything. */
  readonly fields?: string | undefined;
  /** How a table shows times. Default `utc`. */
  readonly time?: TimeStyle | undefined;
  /** Milliseconds since the epoch, for relative times. */
  readonly now?: (() => number) | undefined;
  /** Columns of the terminal; absent in a pipe, where nothing is cut. */
  readonly width?: number | undefined;
  /** Whether a table is a `name: value` line for each value, to be read out. Default false. */
  readonly plain?: boolean | undefined;
  /** Colours of a table. Default none. */
  readonly palette?: Palette | undefined;
  /** Whether secret addresses are shown. Default false. */
  readonly showUrls?: boolean | undefined;
  /** Whether CSV is for a spreadsheet, which would run some texts as formulas. Default false. */
  readonly excelSafe?: boolean | undefined;
  /** Removes secrets from a table's cells. What is cut or wrapped cannot be recognised any more when it is written. */
  readonly redact?: ((text: string) => string) | undefined;
}

/**
 * Turns values into the text of one format. For a list: `begin`, `rows` for each batch, `end`, written in
 * this order. For one object: `record` alone. Writing is left to the caller.
 */
export interface Renderer<T> {
  begin(): string;
  /** Asynchronous because what measures wide characters is loaded only when some are met. */
  rows(batch: readonly T[]): Promise<string>;
  /** `cut`: the list broke off, and the text has only to be one that can be parsed. */
  end(cut?: boolean): string | Promise<string>;
  record(value: T): Promise<string>;
  /** Paths of table columns that did not fit the terminal, known after the first rows. */
  readonly dropped: readonly string[];
}
