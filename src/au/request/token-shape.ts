// Describes the form of a value without showing the value.

const LONGEST_SHAPE = 24;

/**
 * Returns the shape of a cell, such as `Aaa-99` for Mar-29. It shows how a value is written without revealing the
 * value.
 */
export function shapeOf(cell: string): string {
  const shape = cell
    .slice(0, LONGEST_SHAPE)
    .replaceAll(/[A-Z]/g, 'A')
    .replaceAll(/[a-z]/g, 'a')
    .replaceAll(/\d/g, '9')
    .replaceAll(/[^ -~]/g, '?');
  return cell.length > LONGEST_SHAPE ? `${shape}…` : shape;
}

const LONGEST_TOKEN = 100;
/** A text with more runs of letters and digits than this is random. */
const MOST_RUNS = 3;

/** Returns the shape of a token with the lengths of its runs, such as `A{2}9{6}`, or `x{20}` for mixed letters and digits. */
export function tokenShape(token: string): string {
  const shape = token.slice(0, LONGEST_TOKEN).replaceAll(/[A-Za-z0-9]+|[^ -~]/g, (run) => {
    const signs = run.replaceAll(/[A-Z]/g, 'A').replaceAll(/[a-z]/g, 'a').replaceAll(/\d/g, '9');
    const runs = signs.match(/A+|a+|9+/g) ?? ['?'];
    return (runs.length > MOST_RUNS ? ['x'.repeat(run.length)] : runs)
      .map((one) => (one.length === 1 ? one : `${one[0]}{${one.length}}`))
      .join('');
  });
  return token.length > LONGEST_TOKEN ? `${shape}…` : shape;
}

const DASH = '[-‐‑‒–—−]';
const UUID = ['[0-9a-f]{8}', '[0-9a-f]{4}', '[0-9a-f]{4}', '[0-9a-f]{4}', '[0-9a-f]{12}'].join(DASH);
const OPENING = `[='"\`{(\\[<‘’‚“”„«»‹›\\s]{0,4}`;
const CLOSING = `['"\`})\\]>‘’“”«»‹›\\s]{0,4}`;
const WRAPPED = new RegExp(String.raw`^${OPENING}(?:urn:uuid:|https?://\S{1,200}/)?(${UUID})${CLOSING}$`, 'iu');
const LONGEST_WRAPPED = 300;

/** Returns the UUID in a token that a program put into quotes, braces or an address; undefined for any other token. */
export function unwrappedUuid(token: string): string | undefined {
  if (token.length > LONGEST_WRAPPED) return undefined;
  return WRAPPED.exec(token)?.[1]?.replaceAll(new RegExp(DASH, 'gu'), '-');
}

/** Returns the text in a formula such as ="00123"; any other cell unchanged. */
export function withoutFormula(cell: string): string {
  return cell.startsWith('="') ? (/^="([^"]*)"$/.exec(cell)?.[1]?.trim() ?? cell) : cell;
}
