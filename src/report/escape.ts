import { cleanText } from '../render/clean.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for any place in a page, attributes in quotes too; characters that hide or turn text are made visible. */
export function escapeHtml(text: string): string {
  return cleanText(text).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
