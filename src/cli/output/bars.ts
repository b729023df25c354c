const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const ASCII_LEVELS = ['_', '.', ':', '-', '=', '+', '*', '#'] as const;

interface DrawOptions {
  /** Whether the terminal shows block characters; else ASCII is used. Default true. */
  readonly unicode?: boolean | undefined;
  /** Whether to draw nothing, because words beside the drawing say the same. Default false. */
  readonly plain?: boolean | undefined;
}

/** Draws a bar for `value` out of `max`, at most `width` columns wide. A value above zero is always visible. */
export function drawBar(
  value: number,
  max: number,
  width: number,
  { unicode = true, plain = false }: DrawOptions = {},
): string {
  if (plain || !(value > 0) || !(max > 0) || width < 1) return '';
  const share = Math.min(1, value / max);
  if (!unicode) return '#'.repeat(Math.max(1, Math.round(share * width)));
  const eighths = Math.max(1, Math.round(share * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

/** Draws a gauge of exactly `width` columns, filled to `share` (0 to 1). */
export function drawGauge(share: number, width: number, { unicode = true, plain = false }: DrawOptions = {}): string {
  if (plain) return '';
  const filled = Math.floor(Math.max(0, Math.min(1, share)) * width);
  const rest = width - filled;
  return unicode ? '█'.repeat(filled) + '░'.repeat(rest) : '#'.repeat(filled) + '.'.repeat(rest);
}

/** Draws one character for each value, from the lowest level (zero) to the highest (the largest value). */
export function drawSparkline(values: readonly number[], { unicode = true, plain = false }: DrawOptions = {}): string {
  if (plain) return '';
  const levels = unicode ? LEVELS : ASCII_LEVELS;
  const max = values.reduce((highest, value) => Math.max(highest, value), 0);
  // Only zero has the lowest level, so that "none" and "few" differ.
  const levelOf = (value: number): number => (value > 0 ? 1 + Math.floor((value / max) * 6.999) : 0);
  return values.map((value) => levels[levelOf(value)]).join('');
}
