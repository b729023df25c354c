import type { OutputFormat } from '../config/choices.ts';
import type { Renderer, RenderOptions } from './view.ts';

// Only the chosen format's code is loaded.
const MAKERS = {
  table: async () => (await import('./table.ts')).tableRenderer,
  json: async () => (await import('./formats.ts')).jsonRenderer,
  jsonl: async () => (await import('./formats.ts')).jsonLinesRenderer,
  csv: async () => (await import('./csv.ts')).csvRenderer,
  yaml: async () => (await import('./yaml.ts')).yamlRenderer,
};

/** The renderer for a format. Throws `usage` for an unknown field. */
export async function createRenderer<T>(
  format: OutputFormat,
  options: RenderOptions<T>,
): Promise<Renderer<T>> {
  const make = await MAKERS[format]();
  return make(options);
}
