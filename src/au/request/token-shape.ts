// Describes the form of a value without showing the value.

const MAX_SHAPE_LENGTH = 24;

/**
 * Returns the shape of a cell, such as `Aaa-99` for Mar-29. It shows how a value is written without revealing the
 * value.
 */
export function shapeOf(cell: string): string {
  const shape = cell
    .slice(0, MAX_SHAPE_LENGTH)
    .replaceAll(/[A-Z]/g, 'A')
    .replaceAll(/[a-z]/g, 'a')
    .replaceAll(/\d/g, '9')
    .replaceAll(/[^ -~]/g, '?');
  return cell.length > MAX_SHAPE_LENGTH ? `${shape}…` : shape;
}

const MAX_TOKEN_LENGTH = 100;
/** A text with more runs of letters and digits than this is random. */
const MAX_RUNS = 3;

/** Returns the shape of a token with the lengths of its runs, such as `A{2}9{6}`, or `x{20}` for mixed letters and digits. */
export function tokenShape(token: string): string {
  const shape = token.slice(0, MAX_TOKEN_LENGTH).replaceAll(/[A-Za-z0-9]+|[^ -~]/g, (run) => {
    const signs = run.replaceAll(/[A-Z]/g, 'A').replaceAll(/[a-z]/g, 'a').replaceAll(/\d/g, '9');
    const runs = signs.match(/A+|a+|9+/g) ?? ['?'];
    return (runs.length > MAX_RUNS ? ['x'.repeat(run.length)] : runs)
      .map((one) => (one.length === 1 ? one : `${one[0]}{${one.length}}`))
      .join('');
  });
  return token.length > MAX_TOKEN_LENGTH ? `${shape}…` : shape;
}

const OTHER_DASHES = '‐‑‒–—−';
const DASH = `[-${OTHER_DASHES}]`;
const UUID = ['[0-9a-f]{8}', '[0-9a-f]{4}', '[0-9a-f]{4}', '[0-9a-f]{4}', '[0-9a-f]{12}'].join(DASH);
const OPENING = `[='"\`{(\\[<‘’‚“”„«»‹›\\s]{0,4}`;
const CLOSING = `['"\`})\\]>‘’“”«»‹›\\s]{0,4}`;
const WRAPPED = new RegExp(String.raw`^${OPENING}(?:urn:uuid:|https?://\S{1,200}/)?(${UUID})${CLOSING}$`, 'iu');
const MAX_WRAPPED_LENGTH = 300;

const UUID_LENGTH = 36;
const OTHER_DASH = new RegExp(`[${OTHER_DASHES}]`, 'u');

/**
 * Returns the UUID in a token that a program put into quotes, braces or an address, or gave other dashes; undefined for any other
 * token, a plain UUID too.
 */
export function unwrappedUuid(token: string): string | undefined {
  if (token.length > MAX_WRAPPED_LENGTH || (token.length <= UUID_LENGTH && !OTHER_DASH.test(token))) return undefined;
  return WRAPPED.exec(token)?.[1]?.replaceAll(new RegExp(DASH, 'gu'), '-');
}

/** Returns the text in a formula such as ="00123"; any other cell unchanged. */
export function withoutFormula(cell: string): string {
  return cell.startsWith('="') ? (/^="([^"]*)"$/.exec(cell)?.[1]?.trim() ?? cell) : cell;
}
