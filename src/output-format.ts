/** Forms in which data is written, the one for people first. */
export const OUTPUT_FORMATS = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;

/** One of {@link OUTPUT_FORMATS}. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** How a table shows times. */
export const TIME_STYLES = ['utc', 'local', 'relative'] as const;

/** One of {@link TIME_STYLES}. */
export type TimeStyle = (typeof TIME_STYLES)[number];
